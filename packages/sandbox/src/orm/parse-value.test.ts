import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import { Float, type Json } from '../json/value.ts';

/** The value of a field of record 1 after a write, or the error of the write. */
function store(model: string, field: string, value: Json): unknown {
  const { call, readOne } = openEnvironment(18);
  const values = { [field]: value };
  try {
    call(model, 'write', [[1], values]);
  } catch (error) {
    return String(error);
  }
  const found = readOne(model, 1, [field])[field];
  return found instanceof Float ? found.value : found;
}

const nan = new Float(Number.NaN);
const infinity = new Float(Number.POSITIVE_INFINITY);

// Values as real servers of 16, 18 and 19 stored them.
describe('a value is stored as in Odoo', () => {
  test.each([
    ['2026-01-01 10:30', '2026-01-01 10:30:00'],
    ['2026-01-01 10', '2026-01-01 10:00:00'],
    ['2026-01-01 ', '2026-01-01 00:00:00'],
    ['2026-01', '2026-01-01 00:00:00'],
    ['2026', '2026-01-01 00:00:00'],
    ['', false],
    ['yesterday', "builtins.ValueError: stray % in format '%Y-%m-%'"],
    ['2026-01-01 10:00:0', "builtins.ValueError: stray % in format '%Y-%m-%d %H:%M:%'"],
    ['2026-1-1 10:00:00', 'builtins.ValueError: unconverted data remains: 00'],
    ['2026-01-01 10:00:00.5', 'builtins.ValueError: unconverted data remains: .5'],
    ['2026-02-30 00:00:00', 'builtins.ValueError: day is out of range for month'],
    ['2026-01-01 10:00:61', 'builtins.ValueError: second must be in 0..59'],
    ['26-01-01', "builtins.ValueError: time data '26-01-01' does not match format '%Y-%m-'"],
    [true, "builtins.TypeError: object of type 'bool' has no len()"],
    [[1], 'builtins.TypeError: strptime() argument 1 must be str, not list'],
  ])('time %j: %j', (value, stored) => {
    expect(store('sale.order', 'commitment_date', value)).toBe(stored);
  });

  test.each([
    ['2026-01-01T00:00:00', '2026-01-01'],
    ['2026-1-1', '2026-01-01'],
    ['x', "builtins.ValueError: time data 'x' does not match format '%Y-%m-%d'"],
    ['2026-02-30', 'builtins.ValueError: day is out of range for month'],
    [5, "builtins.TypeError: 'int' object is not subscriptable"],
  ])('day %j: %j', (value, stored) => {
    expect(store('sale.order', 'validity_date', value)).toBe(stored);
  });

  test.each([
    ['5', 5],
    [' 7 ', 7],
    ['', 0],
    [true, 1],
    [new Float(1.7), 1],
    [{ a: 1 }, 0],
    ['1.5', "builtins.ValueError: invalid literal for int() with base 10: '1.5'"],
    ['0x10', "builtins.ValueError: invalid literal for int() with base 10: '0x10'"],
    [2 ** 40, 'psycopg2.errors.NumericValueOutOfRange: integer out of range\n'],
    [nan, 'builtins.ValueError: cannot convert float NaN to integer'],
    [infinity, 'builtins.OverflowError: cannot convert float infinity to integer'],
  ])('integer %j: %j', (value, stored) => {
    expect(store('res.partner', 'color', value)).toBe(stored);
  });

  test.each([
    ['', ''],
    [nan, 'nan'],
    [5, '5'],
    [new Float(5), '5.0'],
    [{ a: 1 }, "{'a': 1}"],
    ['x\0', 'builtins.ValueError: A string literal cannot contain NUL (0x00) characters.'],
  ])('text %j: %j', (value, stored) => {
    expect(store('res.partner', 'ref', value)).toBe(stored);
  });

  test.each([
    ['x', 'builtins.ValueError: Wrong value for res.partner.category_id: x'],
    [[[9, 0]], []],
    [
      [[4, 99_999]],
      expect.stringContaining('odoo.exceptions.ValidationError: The operation cannot be completed'),
    ],
  ])('many2many %j: %j', (value, stored) => {
    expect(store('res.partner', 'category_id', value)).toEqual(stored);
  });

  test.each(['commitment_date', 'validity_date'])('what is false in Python empties %s', (field) => {
    for (const value of [0, [], {}, '']) expect(store('sale.order', field, value)).toBe(false);
  });

  test.each([
    [16, [0, 1, 0]],
    [18, [1, 1, 1]],
  ] as const)(
    '%i compares an empty text: with no text, with itself, and no text with it',
    (version, counts) => {
      const { call } = openEnvironment(version);
      call('res.partner', 'write', [[9], { ref: '', vat: false }]);
      const count = (field: string, value: Json): number =>
        call('res.partner', 'search_count', [
          [
            ['id', '=', 9],
            [field, '=', value],
          ],
        ]);
      expect([count('ref', false), count('ref', ''), count('vat', '')]).toEqual(counts);
    },
  );

  test('a float is rounded, which takes no NaN, unless it is kept as it is', () => {
    const refused = 'builtins.ValueError: cannot convert float NaN to integer';
    expect(store('crm.lead', 'expected_revenue', nan)).toBe(refused);
    expect(store('crm.team', 'invoiced_target', nan)).toBe(Number.NaN);
    expect(store('crm.team', 'invoiced_target', '1e3')).toBe(1000);
    const list = "builtins.TypeError: float() argument must be a string or a real number, not 'list'";
    expect(store('crm.team', 'invoiced_target', [1])).toBe(list);
  });
});

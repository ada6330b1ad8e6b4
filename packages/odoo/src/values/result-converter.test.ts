import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import {
  convert,
  cut,
  cutAll,
  printedResult,
  shapeOf,
  TYPES,
  token,
} from '../../../server/test/values/printed-records.ts';
import { ResultConverter } from './result-converter.ts';

describe('a result', () => {
  test.each([
    [
      'a many2one',
      '{"partner_id": [10, "Deco \\"Addict"]}',
      '{"partner_id": {"id": 10, "name": "Deco \\"Addict"}}',
    ],
    ['a many2one without a name', '{"partner_id": [10, false]}', '{"partner_id": {"id": 10, "name": null}}'],
    ['an empty many2one', '{"partner_id":false}', '{"partner_id":null}'],
    ['a reference', '{"source": "res.partner,3"}', '{"source": {"model": "res.partner", "id": 3}}'],
    ['a datetime', '{"stamp": "2026-10-21 01:31:00"}', '{"stamp": "2026-10-21T01:31:00Z"}'],
    ['an empty text', '{"name": false, "day": false}', '{"name": null, "day": null}'],
    ['a name with an escape', '{"p\\u0061rtner_id": false}', '{"p\\u0061rtner_id": null}'],
    [
      'a name with a quote',
      '{"naïve \\"é\\"": "2026-10-21 01:31:00"}',
      '{"naïve \\"é\\"": "2026-10-21T01:31:00Z"}',
    ],
    [
      'fields named like members of objects',
      '{"constructor": false, "records": [1, "a"]}',
      '{"constructor": null, "records": {"id": 1, "name": "a"}}',
    ],
  ])('has %s converted', (_, value, converted) => {
    expect(convert([`[${value}]`])).toBe(`[${converted}]`);
    expect(convert([`[${value}, ${value}]}`])).toBe(`[${converted}, ${converted}]}`);
    expect(convert([`{"length": 1, "records": [${value}]}`], 'page')).toBe(
      `{"length": 1, "records": [${converted}]}`,
    );
  });

  test.each([
    ['a boolean', '[{"active": false}]'],
    ['an unknown field', '[{"x_new": false, "x_other": [1, "a"]}]'],
    ['numbers', '[{"id": 9223372036854775808, "amount": 1.0}]'],
    ['nested values', '[{"data": {"stamp": "2026-10-21 01:31:00", "name": false}, "line_ids": [1, 2]}]'],
    ['a many2one that is an id', '[{"partner_id": 10}]'],
    ['a many2one with three elements', '[{"partner_id": [10, "a", "b"]}]'],
    ['a many2one of ids', '[{"partner_id": [10, 11]}]'],
    ['a many2one with a name of 9 KB', `[{"partner_id": [10, "${'a'.repeat(9000)}"]}]`],
    [
      'a datetime of another form',
      '[{"stamp": "2026-10-21"}, {"stamp": "2026-10-21 01:31:00.5"}, {"stamp": 5}]',
    ],
    [
      'a reference of another form',
      '[{"source": "res.partner"}, {"source": "a,"}, {"source": ",1"}, {"source": "a,01"}]',
    ],
    ['a text that looks like a member', '[{"name": "\\", \\"stamp\\": \\"2026-10-21 01:31:00"}]'],
    ['elements that are no records', '[1, "a", false, [false], null]'],
    ['no records', '[]'],
    ['a text', '"false"'],
    ['a value right at the end', '[{"name": "a"}]'],
    ['no JSON', '[{"name" false}, {"name": false}]'],
    ['a truncated record', '[{"name": "a", "name": fals'],
  ])('keeps the bytes of %s', (_, text) => {
    expect(convert([text])).toBe(text);
    expect(convert(cutAll(text))).toBe(text);
  });

  test('has the records converted that are nested in it', () => {
    const lines = shapeOf(TYPES, new Map());
    const shape = shapeOf(
      TYPES,
      new Map([
        ['line_ids', lines],
        ['partner_id', lines],
      ]),
    );
    const text =
      '[{"line_ids": [{"id": 1, "stamp": "2026-10-21 01:31:00"}, {"id": 2, "stamp": false}], "partner_id": {"id": 3, "name": false}}, {"line_ids": [4], "partner_id": false}]';
    const converted =
      '[{"line_ids": [{"id": 1, "stamp": "2026-10-21T01:31:00Z"}, {"id": 2, "stamp": null}], "partner_id": {"id": 3, "name": null}}, {"line_ids": [4], "partner_id": null}]';
    expect(convert([text], 'list', shape)).toBe(converted);
    expect(convert(cutAll(text), 'list', shape)).toBe(converted);
  });

  test('is the same however its bytes are cut, and only values of fields change', () => {
    fc.assert(
      fc.property(
        printedResult,
        fc.array(fc.nat(40), { maxLength: 30 }),
        fc.boolean(),
        (result, cuts, isPage) => {
          const wrap = (text: string) => (isPage ? `{"length": 3, "records": ${text}}}` : `${text}}`);
          const bytes = Buffer.from(wrap(result.text));
          expect(convert(cut(bytes, cuts), isPage ? 'page' : 'list')).toBe(wrap(result.converted));
        },
      ),
      { numRuns: countCases(2000) },
    );
  });

  test('of many records is the same however its bytes are cut', () => {
    fc.assert(
      fc.property(printedResult, fc.array(fc.nat(4000), { maxLength: 12 }), (result, cuts) => {
        const repeat = (text: string) =>
          `[${Array.from({ length: 60 }, () => text.slice(1, -1) || '{}').join(', ')}]`;
        expect(convert(cut(Buffer.from(repeat(result.text)), cuts)) === repeat(result.converted)).toBe(true);
      }),
      { numRuns: countCases(300) },
    );
  });

  test('of any bytes passes to its last byte', () => {
    fc.assert(
      fc.property(
        fc.array(token, { maxLength: 12 }),
        fc.array(fc.nat(5), { maxLength: 9 }),
        (tokens, cuts) => {
          const bytes = Buffer.from(tokens.join(''));
          expect(convert(cut(bytes, cuts))).toBe(convert([bytes]));
        },
      ),
      { numRuns: countCases(3000) },
    );
  });
});

test('values of any kind in fields of any type are those of a model that parses them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.constantFrom(...TYPES.keys()), anyValue, { noNullPrototype: true }), {
        maxLength: 8,
      }),
      fc.array(fc.nat(200), { maxLength: 20 }),
      fc.boolean(),
      (records, cuts, isSpaced) => {
        const text = isSpaced ? printSpaced(records) : JSON.stringify(records);
        const converted = convert(cut(Buffer.from(`${text}}`), cuts));
        expect(JSON.parse(converted.slice(0, -1))).toEqual(JSON.parse(text).map(convertParsed));
      },
    ),
    { numRuns: countCases(3000) },
  );
});

/** Any value, also one that Odoo does not return for the type of the field. */
const anyValue = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>(false, true, null, 0, -7, 1.5, '', '2026-10-21') },
  fc.constantFrom<unknown>(
    '2026-10-21 01:31:00',
    '2026-10-21 01:31:0x',
    '2026-1a-21 01:31:00',
    'a.b,3',
    'a,-0',
  ),
  fc.tuple(fc.integer(), fc.oneof(fc.string(), fc.constantFrom(false, null, 3))),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.array(fc.nat()),
  fc.jsonValue({ maxDepth: 3 }),
);

function convertParsed(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, convertOne(value, TYPES.get(name)!.type)]),
  );
}

function convertOne(value: unknown, type: string): unknown {
  if (value === false) return type === 'boolean' ? false : null;
  if (type === 'many2one' && Array.isArray(value) && value.length === 2 && isWholeNumber(value[0])) {
    const [id, name] = value;
    return typeof name === 'string' || name === false || name === null
      ? { id, name: name === false ? null : name }
      : value;
  }
  if (typeof value !== 'string') return value;
  const [, model, id] = /^([A-Za-z0-9._]+),(-?(?:0|[1-9]\d*))$/.exec(value) ?? [];
  if (type === 'reference' && model !== undefined) return { model, id: Number(id) };
  const isMoment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value);
  return type === 'datetime' && isMoment ? `${value.replace(' ', 'T')}Z` : value;
}

/** Prints JSON with a space after each colon and comma, like Python. */
function printSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}: ${printSpaced(part)}`,
  );
  return `{${members.join(', ')}}`;
}

test('a field that becomes known while its result arrives is converted', () => {
  const types = new Map();
  const shape = shapeOf(types);
  const converter = new ResultConverter(shape, 'list');
  const first = converter.push(Buffer.from('[{"x_when": "2026-10-21 01:31:00"}, '));
  expect(converter.unknown).toEqual({ model: 'x.model', name: 'x_when', types });
  shape.types = new Map([['x_when', TYPES.get('stamp')!]]);
  const learnt = converter.learn();
  const rest = converter.push(Buffer.from('{"x_when": false}]'));
  expect(converter.unknown).toBeNull();
  expect(Buffer.concat([first, learnt, rest]).toString()).toBe(
    '[{"x_when": "2026-10-21T01:31:00Z"}, {"x_when": null}]',
  );
});

test('a result is the same at every cut of a record of every type', () => {
  const record = Object.entries({
    id: '1',
    name: '"A \\"quoted\\" name of more than sixteen bytes"',
    active: 'false',
    partner_id: '[10, "Deco Addict, a name of more than sixteen bytes"]',
    line_ids: '[1, 2, 3, 4, 5, 6, 7, 8]',
    source: '"res.partner,3"',
    stamp: '"2026-10-21 01:31:00"',
    day: 'false',
    amount: '-1234567.125',
    data: '{"a": [false, "]"]}',
    res_id: '7',
    length: '0',
  })
    .map(([name, value]) => `"${name}": ${value}`)
    .join(', ');
  const bytes = Buffer.from(`[{${record}}, {${record}}, {${record}}]}`);
  const whole = convert([bytes]);
  expect(whole).toContain('"stamp": "2026-10-21T01:31:00Z"');
  for (let at = 0; at <= bytes.length; at++)
    expect(convert([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
});

test('records with many members and long names are converted', () => {
  const members = Array.from({ length: 1200 }, (_, index) => `x_${'n'.repeat(index % 80)}_${index}`);
  const types = new Map(members.map((name) => [name, TYPES.get('stamp')!]));
  const record = `{${members.map((name) => `"${name}": false`).join(', ')}}`;
  const bytes = Buffer.from(`[${record}, ${record}, ${record}]}`);
  const converted = convert([bytes], 'list', shapeOf(types));
  expect(converted).toBe(bytes.toString().replaceAll('false', 'null'));
});

describe('hostile bytes', () => {
  const bytesOf = (text: string) => [...Buffer.from(text)];
  const change = fc.record({
    at: fc.nat(),
    removed: fc.nat(3),
    added: fc.oneof(
      fc.array(fc.nat(255), { maxLength: 3 }),
      token.map(bytesOf),
      fc.constantFrom(...['\\', '"', '\\"', ' ', '!', '-', '01', '}, {', '], ['].map(bytesOf)),
    ),
  });
  const nested = new Map([
    ['line_ids', shapeOf(TYPES)],
    ['partner_id', shapeOf(TYPES)],
  ]);

  test('give the same however they are cut, also with records in records', () => {
    fc.assert(
      fc.property(
        printedResult,
        printedResult,
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(900), { maxLength: 12 }),
        fc.constantFrom(new Map(), nested),
        (outer, inner, changes, cuts, below) => {
          const record = `{"id": 7, "line_ids": ${inner.text}, "stamp": false}`;
          const bytes = bytesOf(`[${record}, ${outer.text.slice(1, -1) || '{}'}, ${record}]}`);
          for (const { at, removed, added } of changes) bytes.splice(at % bytes.length, removed, ...added);
          const whole = Buffer.from(bytes);
          const shape = shapeOf(TYPES, below);
          expect(convert(cut(whole, cuts), 'list', shape)).toBe(convert([whole], 'list', shape));
        },
      ),
      { numRuns: countCases(500) },
    );
  });
});

/** Whether JavaScript prints the value without a fraction or an exponent. */
function isWholeNumber(value: unknown): boolean {
  return typeof value === 'number' && /^-?\d+$/.test(String(value));
}

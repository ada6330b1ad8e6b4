import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printFloat, printJson } from './print-json.ts';
import { readJson } from './read-json.ts';
import type { Float } from './value.ts';

describe('printJson', () => {
  test.each([
    ['1', '1'],
    ['1.0', '1.0'],
    ['1E5', '100000.0'],
    ['1e-7', '1e-07'],
    ['0.0001', '0.0001'],
    ['0.00001', '1e-05'],
    ['1e15', '1000000000000000.0'],
    ['1e16', '1e+16'],
    ['1.5e300', '1.5e+300'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1e400', 'Infinity'],
    ['NaN', 'NaN'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['9007199254740993', '9007199254740993'],
    ['[1,"x",null]', '[1, "x", null]'],
    ['{"b":1,"a":[true,false]}', '{"b": 1, "a": [true, false]}'],
    ['{"a":1,"a":2}', '{"a": 2}'],
    ['"a\\/b\\u0041\\n\\u0001\\u007f\\u2028\\"\\\\"', '"a/bA\\n\\u0001\u007f\u2028\\"\\\\"'],
  ])('prints %s like Python', (text, printed) => {
    expect(printJson(readJson(text))).toBe(printed);
  });

  test('keeps a lone surrogate, which cannot be encoded', () => {
    const printed = printJson(readJson('"a\\ud800"'));
    expect(printed).toBe('"a\ud800"');
    expect(printed.isWellFormed()).toBe(false);
  });

  test('prints every float so that it is parsed to the same float', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = printFloat(value);
        expect(text).toMatch(/[.e]/);
        expect(Object.is((readJson(text) as Float).value, value)).toBe(true);
      }),
    );
  });

  test('prints the output of JSON.stringify as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }), (value) => {
        expect(JSON.parse(printJson(readJson(JSON.stringify(value))))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });
});

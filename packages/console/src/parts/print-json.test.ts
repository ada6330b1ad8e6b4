import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printJson } from './print-json.ts';

test('short items stay in one line', () => {
  expect(printJson([['name', '=', 'x']])).toBe('[["name", "=", "x"]]');
  expect(printJson({ a: 'x'.repeat(60), b: [1, { c: null }], d: {} })).toBe(
    `{\n  "a": "${'x'.repeat(60)}",\n  "b": [1, {"c": null}],\n  "d": {}\n}`,
  );
});

test('the text has the value', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      expect(JSON.parse(printJson(value))).toEqual(value);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from './indent-json.ts';

test('numbers and escapes stay as they are written, and short lists stay in one line', () => {
  const text = '{"a":[1.0,12345678901234567890,{"b":"x\\"{,}\\u00e9"}],"c":{},"d":[],"e":[20,"Belgium"]}';
  expect(indentJson(text)).toBe(`{
  "a": [
    1.0,
    12345678901234567890,
    {"b": "x\\"{,}\\u00e9"}
  ],
  "c": {},
  "d": [],
  "e": [20, "Belgium"]
}`);
});

test('the text has the same value', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
    }),
  );
});

import { expect, test } from 'vitest';
import { printPython, printTuple } from './print-python.ts';
import { readJson } from './read-json.ts';

test.each([
  ['["|", ["name", "=", null], true, 1.0]', "['|', ['name', '=', None], True, 1.0]"],
  ['{"a": "it\'s"}', "{'a': \"it's\"}"],
  ['"\\u0000\\u001b"', "'\\x00\\x1b'"],
  ['"both \' and \\""', "'both \\' and \"'"],
])("prints %s like Python's repr", (text, shown) => {
  expect(printPython(readJson(text))).toBe(shown);
});

test('ends a tuple of one element with a comma', () => {
  expect([printTuple([3]), printTuple(['name', '='])]).toEqual(['(3,)', "('name', '=')"]);
});

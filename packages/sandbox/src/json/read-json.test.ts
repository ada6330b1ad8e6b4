import { describe, expect, test } from 'vitest';
import { readJson } from './read-json.ts';

describe('readJson', () => {
  test.each([
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    '01',
    '1.',
    '+1',
    '"\n"',
    '"\\x"',
    '\ufeff{}',
    '1 2',
    'nul',
    '.5',
    '[1 2]',
  ])('refuses %j, like Python', (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });

  test.each([
    ['', 'Expecting value: line 1 column 1 (char 0)'],
    ['[1\n,]', 'Expecting value: line 2 column 2 (char 4)'],
    ['{"ids": [3', "Expecting ',' delimiter: line 1 column 11 (char 10)"],
    ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
    ['{a}', 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'],
    ['"ab', 'Unterminated string starting at: line 1 column 1 (char 0)'],
    ['"a\nb"', 'Invalid control character at: line 1 column 3 (char 2)'],
    ['1 2', 'Extra data: line 1 column 3 (char 2)'],
    ['"\\x"', 'Invalid \\escape: line 1 column 2 (char 1)'],
  ])('describes the error in %j like Python', (text, message) => {
    expect(() => readJson(text)).toThrow(new SyntaxError(message));
  });

  test('accepts a member named __proto__', () => {
    expect(Object.keys(readJson('{"__proto__": 1}') as object)).toEqual(['__proto__']);
  });
});

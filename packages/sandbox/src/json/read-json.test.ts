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
  ])('refuses %j, as Python does', (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });

  test('takes a member named __proto__ as any other', () => {
    expect(Object.keys(readJson('{"__proto__": 1}') as object)).toEqual(['__proto__']);
  });
});

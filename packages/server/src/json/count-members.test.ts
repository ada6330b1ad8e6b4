import { expect, test } from 'vitest';
import { countMembers, countSeparators } from './count-members.ts';

test.each([
  ['{}', 0],
  ['[1, "a:b", "\\":"]', 0],
  ['{"a": {"b:": ":"}, "c": [{"d": null}, {"d" : "\\\\"}]}', 5],
])('%s has %i members', (text, count) => {
  expect(countMembers(Buffer.from(text), 100)).toBe(count);
});

test('ends with the first member beyond the limit', () => {
  expect(countMembers(Buffer.from('{"a":1,"b":1,"c":1}'), 1)).toBe(2);
});

test('separators outside of texts are counted, up to a bound', () => {
  expect(countSeparators(Buffer.from('[1,"a,b",{"c":[2,3],"d":","}]'), 100)).toBe(4);
  expect(countSeparators(Buffer.from('[1,2,3,4,5]'), 2)).toBe(3);
});

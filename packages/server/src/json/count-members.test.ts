import { expect, test } from 'vitest';
import { type CountLimits, findExcess } from './count-members.ts';

const ANY = 1_000_000;

/** The excess of a document that is long enough to be counted. */
function find(text: string, limits: Partial<CountLimits>): string | null {
  return findExcess(Buffer.from(text.padEnd(1000)), { membersMax: ANY, valuesMax: 400, ...limits });
}

test.each([
  ['{"a":1}', 1],
  ['[{"a":1}, "a:b", "\\":"]', 1],
  ['{"a": {"b:": ":"}, "c": [{"d": null}, {"d" : "\\\\"}]}', 5],
])('%s has %i members', (text, count) => {
  expect(find(text, { membersMax: count })).toBeNull();
  expect(find(text, { membersMax: count - 1 })).toBe('members');
});

test.each([
  ['[1,"a,b",{"c":[2,3],"d":","}]', 5],
  ['[1,2,3,4,5]', 5],
  ['[[],["\\",",0]]', 3],
])('%s has %i values that a separator follows, or that are last', (text, count) => {
  expect(find(text, { valuesMax: count })).toBeNull();
  expect(find(text, { valuesMax: count - 1 })).toBe('values');
});

test('a document that is too short for its bounds is not counted', () => {
  expect(findExcess(Buffer.from('[1,2,3]'), { membersMax: 2, valuesMax: 4 })).toBeNull();
  expect(findExcess(Buffer.from('[1,2,3,4]'), { membersMax: 2, valuesMax: 4 })).toBeNull();
  expect(findExcess(Buffer.from('[1,2,3,4,5]'), { membersMax: 1, valuesMax: 4 })).toBe('values');
});

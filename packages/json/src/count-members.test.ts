import { expect, test } from 'vitest';
import { type CountLimits, findExcess } from './count-members.ts';

const ANY = 1_000_000;

/** Calls findExcess for a document that is long enough to be counted. */
function find(text: string, limits: Partial<CountLimits>): string | null {
  return findExcess(Buffer.from(text.padEnd(1000)), { membersMax: ANY, valuesMax: 400, ...limits });
}

test.each([
  ['{"a":1}', 1, 1],
  ['[{"a":1}, "a:b", "\\":"]', 1, 3],
  ['{"a": {"b:": ":"}, "c": [{"d": null}, {"d" : "\\\\"}]}', 5, 3],
  ['[1,"a,b",{"c":[2,3],"d":","}]', 2, 5],
  ['[[],["\\",",0]]', 0, 3],
])('%s has %i members and %i values', (text, members, values) => {
  expect(find(text, { membersMax: members, valuesMax: values })).toBeNull();
  if (members > 0) expect(find(text, { membersMax: members - 1 })).toBe('members');
  expect(find(text, { valuesMax: values - 1 })).toBe(values > 1 ? 'values' : null);
});

test('a document that is too short for its bounds is not counted', () => {
  expect(findExcess(Buffer.from('[1,2,3]'), { membersMax: 2, valuesMax: 4 })).toBeNull();
  expect(findExcess(Buffer.from('[1,2,3,4]'), { membersMax: 2, valuesMax: 4 })).toBeNull();
  expect(findExcess(Buffer.from('[1,2,3,4,5]'), { membersMax: 1, valuesMax: 4 })).toBe('values');
});

import { describe, expect, test } from 'vitest';
import { readDocument } from './document.ts';
import { type CountLimits, findDuplicate, findExcess, readElements, readMembers } from './members.ts';

describe('the members of an object', () => {
  test('keep their order and their duplicates', () => {
    expect(readNames('{"b":1,"a":2,"b":3}')).toEqual(['b', 'a', 'b']);
  });

  test('are found after white space, escapes and long strings', () => {
    const long = 'x'.repeat(700);
    const text = `{ "a" : "${long}\\\\\\"${long}\\\\" ,\n"\\u0062":[{"no":"}"}] , "${long}\\"":-1.5e3 }`;
    const bytes = Buffer.from(text);
    const members = readMembers(bytes, readDocument(bytes).root);
    expect(members.map(({ name }) => name)).toEqual(['a', 'b', `${long}"`]);
    expect(members.map(({ value }) => bytes.toString('utf8', value.start, value.end))).toEqual([
      `"${long}\\\\\\"${long}\\\\"`,
      '[{"no":"}"}]',
      '-1.5e3',
    ]);
  });

  test('are read up to the count that the caller accepts', () => {
    const bytes = Buffer.from('{"a":1,"b":2,"c":3}');
    const { root } = readDocument(bytes);
    expect(readMembers(bytes, root, 2).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(readMembers(bytes, root, 4)).toHaveLength(3);
  });

  test('have their own names, whatever names were read before', () => {
    const names = Array.from({ length: 5000 }, (_, index) => `m${index * 7919}`);
    for (const name of names) expect(readNames(JSON.stringify({ [name]: 1 }))).toEqual([name]);
  });

  test('end also in unchecked bytes', () => {
    for (const text of [
      '{"a',
      '{"a"',
      '{"a":',
      '{"a":"\\',
      '{"a":[',
      '{"a":1,',
      `{"a":"${'x'.repeat(400)}`,
    ]) {
      const bytes = Buffer.from(text);
      readMembers(bytes, { kind: 'object', start: 0, end: bytes.length });
    }
  });
});

describe('a duplicate', () => {
  test('is recognised by its decoded name', () => {
    expect(findDuplicateIn('{"limit":1,"a":2,"l\\u0069mit":3}')).toMatchObject({
      name: 'limit',
      nameStart: 17,
    });
  });

  test('is not reported for names that differ only in normalization form, case or a lone surrogate', () => {
    expect(findDuplicateIn('{"é":1,"e\u0301":2,"A":3,"a":4,"\\ud800":5,"\\ud801":6,"\ufffd":7}')).toBeNull();
  });

  test.each([2, 8, 9, 100])('is found among %i members, and not among different ones', (count) => {
    const members = Array.from({ length: count }, (_, index) => `"m${index}":${index}`);
    expect(findDuplicateIn(`{${members.join(',')}}`)).toBeNull();
    for (const repeated of [0, count - 2]) {
      const changed = members.with(-1, `"m${repeated}":0`);
      expect(findDuplicateIn(`{${changed.join(',')}}`)).toMatchObject({
        name: `m${repeated}`,
        nameStart: changed.slice(0, -1).join(',').length + 2,
      });
    }
  });

  test('can have the name of a member of Object.prototype', () => {
    expect(findDuplicateIn('{"__proto__":1,"constructor":2}')).toBeNull();
    expect(findDuplicateIn('{"__proto__":1,"__proto__":2}')).toMatchObject({ name: '__proto__' });
  });
});

function readNames(text: string): string[] {
  const bytes = Buffer.from(text);
  return readMembers(bytes, readDocument(bytes).root).map(({ name }) => name);
}

function findDuplicateIn(text: string) {
  const bytes = Buffer.from(text);
  return findDuplicate(readMembers(bytes, readDocument(bytes).root));
}

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

describe('the elements of an array', () => {
  test('are visited in their order', () => {
    expect(listElements(' [ 1.0 , "],[" ,[2,[3]],{"a":[4]},\ttrue,null ] ')).toEqual([
      '1.0',
      '"],["',
      '[2,[3]]',
      '{"a":[4]}',
      'true',
      'null',
    ]);
    expect(listElements('[ ]')).toEqual([]);
  });

  test('are visited until the visitor gives false', () => {
    expect(listElements('[1,2,3,4]', 2)).toEqual(['1', '2']);
  });

  test('can be a million', () => {
    const bytes = Buffer.from(`[${Array.from({ length: 1_000_000 }, (_, index) => index).join(',')}]`);
    let count = 0;
    readElements(bytes, readDocument(bytes).root, () => {
      count++;
      return undefined;
    });
    expect(count).toBe(1_000_000);
  });

  test('end also in unchecked bytes', () => {
    for (const text of ['[', '[1', '[1,', '["a', '[[', '[]]', '[,,', '[:']) {
      const bytes = Buffer.from(text);
      readElements(bytes, { kind: 'array', start: 0, end: bytes.length }, () => true);
    }
  });
});

function listElements(text: string, countMax = Infinity): string[] {
  const bytes = Buffer.from(text);
  const texts: string[] = [];
  readElements(bytes, readDocument(bytes).root, ({ start, end }) => {
    texts.push(bytes.toString('utf8', start, end));
    return texts.length < countMax;
  });
  return texts;
}

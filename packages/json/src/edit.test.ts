import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { printedObject } from '../test/printed-json.ts';
import { readDocument } from './document.ts';
import { joinParts, removeMembers, setMembers } from './edit.ts';
import { readMembers } from './members.ts';

describe('an object without some members', () => {
  test.each([
    ['{"limit":1,"a":1.0}', '{"a":1.0}'],
    ['{"a":1.0,"limit":1}', '{"a":1.0}'],
    ['{"a":1.0,"limit":1,"b":2.50}', '{"a":1.0,"b":2.50}'],
    ['{ "limit" : 1 , "a" : 1.0 , "b" : 2 }', '{ "a" : 1.0 , "b" : 2 }'],
    ['{ "a" : 1.0 , "limit" : 1 }', '{ "a" : 1.0 }'],
    ['{"limit":1,"limit":2,"a":3,"l\\u0069mit":4}', '{"a":3}'],
    ['{\n  "limit": 1\n}', '{\n  \n}'],
    ['{"limit":{"limit":1}}', '{}'],
    ['{"a":{"limit":1}}', '{"a":{"limit":1}}'],
    ['{ }', '{ }'],
  ])('%j is %j', (text, expected) => {
    expect(remove(text, new Set(['limit']))).toBe(expected);
  });

  test('keeps every byte of the members that stay, and is JSON', () => {
    fc.assert(
      fc.property(printedObject, fc.array(fc.nat(7), { maxLength: 4 }), (object, picked) => {
        const names = object.members.map(({ nameText }): string => JSON.parse(nameText));
        const removed = new Set(picked.flatMap((index) => names[index] ?? []));
        const bytes = Buffer.from(remove(object.text, removed));
        const kept = object.members.filter((_, index) => !removed.has(names[index]!));
        const found = readMembers(bytes, readDocument(bytes).root);
        expect(found.map(({ name }) => name)).toEqual(names.filter((name) => !removed.has(name)));
        for (const [index, member] of found.entries()) {
          const { nameText, value } = kept[index]!;
          const text = bytes.toString('utf8', member.nameStart, member.value.end);
          expect(text.startsWith(nameText) && text.endsWith(value.text)).toBe(true);
        }
        if (removed.size === 0) expect(bytes.toString()).toBe(object.text);
      }),
      { numRuns: countCases(2000) },
    );
  });

  test('is one range if no member was removed', () => {
    const bytes = Buffer.from(' {"a":1, "b":2} ');
    const { root } = readDocument(bytes);
    expect(removeMembers(root, readMembers(bytes, root), new Set())).toEqual([{ start: 1, end: 15 }]);
  });
});

describe('joined parts', () => {
  test('follow each other, texts as UTF-8', () => {
    const bytes = new Uint8Array(Buffer.from('[1.0,"ä"]'));
    const joined = joinParts(bytes, ['{"é":', { start: 1, end: 4 }, ',"b":', { start: 5, end: 9 }, '}']);
    expect(joined.toString()).toBe('{"é":1.0,"b":"ä"}');
    expect(joinParts(bytes, [])).toHaveLength(0);
  });
});

function remove(text: string, names: ReadonlySet<string>): string {
  const bytes = Buffer.from(text);
  const { root } = readDocument(bytes);
  return joinParts(bytes, removeMembers(root, readMembers(bytes, root), names)).toString();
}

function set(text: string, values: Record<string, string>): string {
  const bytes = Buffer.from(text);
  const object = { kind: 'object', start: 0, end: bytes.length } as const;
  const parts = setMembers(
    object,
    readMembers(bytes, object),
    new Map(Object.entries(values).map(([name, value]) => [name, [value]])),
  );
  return joinParts(bytes, parts).toString();
}

test('replaces a value and keeps every other byte', () => {
  expect(set('{ "a" : 1.0 , "b":[ 2 ] }', { a: '9' })).toBe('{ "a" : 9 , "b":[ 2 ] }');
  expect(set('{"l\\u0069mit": 1.0}', { limit: '9' })).toBe('{"l\\u0069mit": 9}');
});

test('appends new members', () => {
  expect(set('{}', { a: '1', b: '2' })).toBe('{"a":1,"b":2}');
  expect(set('{ "z": 1e5 }', { a: '1', z: '2', b: '3' })).toBe('{ "z": 2 ,"a":1,"b":3}');
});

test('creates an object if there is none', () => {
  expect(joinParts(Buffer.alloc(0), setMembers(null, [], new Map([['a', ['1']]]))).toString()).toBe(
    '{"a":1}',
  );
  expect(joinParts(Buffer.alloc(0), setMembers(null, [], new Map())).toString()).toBe('{}');
});

import { expect, test } from 'vitest';
import { joinParts } from './edit.ts';
import { readMembers } from './members.ts';
import { setMembers } from './set-members.ts';

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

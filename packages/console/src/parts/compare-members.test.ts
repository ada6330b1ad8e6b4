import { expect, test } from 'vitest';
import { compareMembers, pickChanges } from './compare-members.ts';

const BASE: { name: string; policy: { models: Record<string, string[]> }; version: number } = {
  name: 'Shop',
  policy: { models: { a: ['read'] } },
  version: 1,
};

test('a difference is what both have changed, each to something else', () => {
  const theirs = { ...BASE, name: 'Web shop', policy: { models: { b: ['read'] } }, version: 2 };
  const mine = { ...BASE, policy: { models: { c: ['read'] } } };
  expect(compareMembers(BASE, theirs, mine)).toEqual([
    { member: 'policy', theirs: { models: { b: ['read'] } }, mine: { models: { c: ['read'] } } },
  ]);
  expect(compareMembers(BASE, theirs, { ...theirs })).toEqual([]);
  expect(compareMembers(BASE, BASE, mine)).toEqual([]);
});

test('only changed members are sent, and the order of members is no change', () => {
  expect(pickChanges({ a: { x: 1, y: 2 }, b: 1, c: 1 }, { a: { y: 2, x: 1 }, b: 2, c: undefined })).toEqual({
    b: 2,
  });
});

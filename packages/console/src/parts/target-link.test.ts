import { expect, test } from 'vitest';
import { findTargetLink } from './target-link.ts';

test.each([
  ['key a1', { to: '/keys/$id', params: { id: 'a1' } }],
  ['instance a b/c', { to: '/instances/$name', params: { name: 'a b/c' } }],
  ['subscription key x', { to: '/subscriptions/$name', params: { name: 'key x' } }],
  ['approval 7', { to: '/approvals/$id', params: { id: '7' } }],
  ['subject corp/1', null],
  ['admin', null],
  ['', null],
])('%s', (target, link) => {
  expect(findTargetLink(target)).toEqual(link);
});

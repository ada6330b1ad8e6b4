import { expect, test } from 'vitest';
import { LinkedList } from './linked-list.ts';

test('any node can be removed, once, also while the list is visited', () => {
  const list = new LinkedList<number>();
  const nodes = [1, 2, 3, 4].map((item) => list.add(item));
  expect(list.remove(nodes[1]!)).toBe(true);
  expect(list.remove(nodes[1]!)).toBe(false);
  const visited: number[] = [];
  for (const node of list) {
    visited.push(node.item);
    list.remove(node);
  }
  expect(visited).toEqual([1, 3, 4]);
  expect([list.size, list.first, list.last]).toEqual([0, null, null]);
});

test('a removed node refers to no other, so that it keeps none of them in memory', () => {
  const list = new LinkedList<number>();
  const [, second] = [1, 2, 3].map((item) => list.add(item));
  list.remove(second!);
  expect(second).toEqual({ item: 2, before: null, after: null, list: null });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BucketQueue, LinkedList } from './bucket-queue.ts';

/** A simple model of the queue, by sorting. */
class SortedQueue {
  #entries: { item: number; priority: number }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): number | null {
    return this.#entries.toSorted((a, b) => a.priority - b.priority)[0]?.item ?? null;
  }

  set(item: number, priority: number): void {
    if (this.#entries.some((entry) => entry.item === item && entry.priority === priority)) return;
    this.remove(item);
    this.#entries.push({ item, priority });
  }

  remove(item: number): void {
    this.#entries = this.#entries.filter((entry) => entry.item !== item);
  }
}

test('gives the oldest item of the lowest priority, after any changes', () => {
  const priority = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -200, max: 200 }));
  const step = fc.oneof(
    fc.record({ item: fc.nat(9), priority }),
    fc.record({ item: fc.nat(9), priority: fc.constant(null) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = new BucketQueue<number>();
      const expected = new SortedQueue();
      const check = () => {
        expect(queue.size).toBe(expected.size);
        expect(queue.first).toBe(expected.first);
      };
      const remove = (item: number) => {
        queue.remove(item);
        expected.remove(item);
        check();
      };
      for (const { item, priority: given } of steps) {
        if (given === null) remove(item);
        else {
          queue.set(item, given);
          expected.set(item, given);
          check();
        }
      }
      for (let item = expected.first; item !== null; item = expected.first) remove(item);
    }),
  );
});

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

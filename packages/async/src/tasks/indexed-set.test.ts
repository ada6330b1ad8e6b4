import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IndexedSet } from './indexed-set.ts';

test('contains the same elements as a Set, after any changes', () => {
  const changes = fc.array(fc.record({ isAdded: fc.boolean(), position: fc.nat(9) }), { maxLength: 200 });
  fc.assert(
    fc.property(changes, (steps) => {
      const elements = Array.from({ length: 10 }, () => ({ index: -1 }));
      const indexed = new IndexedSet<{ index: number }>();
      const expected = new Set<{ index: number }>();
      for (const { isAdded, position } of steps) {
        const element = elements[position]!;
        const change = isAdded ? 'add' : 'delete';
        indexed[change](element);
        expected[change](element);
        expect(indexed.size).toBe(expected.size);
        expect(indexed.toArray().every((each) => expected.has(each))).toBe(true);
        for (const each of elements) expect(each.index !== -1).toBe(expected.has(each));
      }
    }),
  );
});

test('its elements can be removed while they are visited', () => {
  const indexed = new IndexedSet<{ index: number }>();
  for (let count = 0; count < 5; count++) indexed.add({ index: -1 });
  for (const element of indexed.toArray()) indexed.delete(element);
  expect(indexed.size).toBe(0);
});

test('an element of another set stays there', () => {
  const [one, other] = [new IndexedSet<{ index: number }>(), new IndexedSet<{ index: number }>()];
  const element = { index: -1 };
  one.add(element);
  other.add({ index: -1 });
  other.delete(element);
  expect([one.size, other.size]).toEqual([1, 1]);
});

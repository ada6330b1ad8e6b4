import { expect, test } from 'vitest';
import { KeyedSemaphore } from './keyed-semaphore.ts';

test('gives out so many and no more, by name', () => {
  const slots = new KeyedSemaphore();
  expect([slots.tryTake('a', 2), slots.tryTake('a', 2), slots.tryTake('a', 2)]).toEqual([true, true, false]);
  expect(slots.tryTake('b', 1)).toBe(true);
  slots.free('a');
  expect([slots.tryTake('a', 2), slots.tryTake('a', 2)]).toEqual([true, false]);
});

test('a lower number holds for the next', () => {
  const slots = new KeyedSemaphore();
  for (let slot = 0; slot < 3; slot++) slots.tryTake('a', 3);
  slots.free('a');
  expect(slots.tryTake('a', 1)).toBe(false);
  slots.free('a');
  slots.free('a');
  expect(slots.tryTake('a', 1)).toBe(true);
});

test('one that nobody took cannot be freed', () => {
  const slots = new KeyedSemaphore();
  slots.free('a');
  expect([slots.tryTake('a', 1), slots.tryTake('a', 1)]).toEqual([true, false]);
});

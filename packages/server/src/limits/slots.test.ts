import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

test('gives out so many and no more, by name', () => {
  const slots = new Slots();
  expect([slots.tryTake('a', 2), slots.tryTake('a', 2), slots.tryTake('a', 2)]).toEqual([true, true, false]);
  expect(slots.tryTake('b', 1)).toBe(true);
  slots.free('a');
  expect([slots.tryTake('a', 2), slots.tryTake('a', 2)]).toEqual([true, false]);
});

test('a lower number holds for the next', () => {
  const slots = new Slots();
  for (let slot = 0; slot < 3; slot++) slots.tryTake('a', 3);
  slots.free('a');
  expect(slots.tryTake('a', 1)).toBe(false);
  slots.free('a');
  slots.free('a');
  expect(slots.tryTake('a', 1)).toBe(true);
});

test('one that nobody took cannot be freed', () => {
  const slots = new Slots();
  slots.free('a');
  expect([slots.tryTake('a', 1), slots.tryTake('a', 1)]).toEqual([true, false]);
});

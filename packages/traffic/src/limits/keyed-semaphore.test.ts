import { expect, test } from 'vitest';
import { KeyedSemaphore } from './keyed-semaphore.ts';

test('can be held up to the maximum, by key', () => {
  const semaphore = new KeyedSemaphore();
  expect([semaphore.tryAcquire('a', 2), semaphore.tryAcquire('a', 2), semaphore.tryAcquire('a', 2)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(semaphore.tryAcquire('b', 1)).toBe(true);
  semaphore.release('a');
  expect([semaphore.tryAcquire('a', 2), semaphore.tryAcquire('a', 2)]).toEqual([true, false]);
});

test('a lower maximum applies to the next acquisition', () => {
  const semaphore = new KeyedSemaphore();
  for (let count = 0; count < 3; count++) semaphore.tryAcquire('a', 3);
  semaphore.release('a');
  expect(semaphore.tryAcquire('a', 1)).toBe(false);
  semaphore.release('a');
  semaphore.release('a');
  expect(semaphore.tryAcquire('a', 1)).toBe(true);
});

test('a release without an acquisition has no effect', () => {
  const semaphore = new KeyedSemaphore();
  semaphore.release('a');
  expect([semaphore.tryAcquire('a', 1), semaphore.tryAcquire('a', 1)]).toEqual([true, false]);
});

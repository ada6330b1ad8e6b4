import { describe, expect, test } from 'vitest';
import { GAVE_UP, SingleFlightCache } from './single-flight-cache.ts';

const never = new AbortController().signal;

function startCache(max = 10) {
  const clock = { nowMs: 1_000 };
  let asked = 0;
  const cache = new SingleFlightCache<string>(max, () => clock.nowMs);
  const answer = (value: string, ttlMs: number) => async () => {
    asked++;
    return { value, ttlMs };
  };
  return { clock, cache, answer, count: () => asked };
}

test('asks once for all who wait', async () => {
  const { cache, answer, count } = startCache();
  const values = await Promise.all(Array.from({ length: 50 }, () => cache.get('a', never, answer('x', 100))));
  expect(new Set(values)).toEqual(new Set(['x']));
  expect(count()).toBe(1);
});

test('keeps an answer for its time, and not a moment longer', async () => {
  const { cache, clock, answer, count } = startCache();
  await cache.get('a', never, answer('x', 100));
  clock.nowMs += 100;
  expect(await cache.get('a', never, answer('y', 100))).toBe('x');
  clock.nowMs += 1;
  expect(await cache.get('a', never, answer('y', 100))).toBe('y');
  expect(count()).toBe(2);
});

test('an answer that holds for no time is for those who wait only', async () => {
  const { cache, answer, count } = startCache();
  await Promise.all([cache.get('a', never, answer('x', 0)), cache.get('a', never, answer('x', 0))]);
  expect(count()).toBe(1);
  await cache.get('a', never, answer('x', 0));
  expect(count()).toBe(2);
});

test('forgets what it is told to, and the oldest beyond its size', async () => {
  const { cache } = startCache(2);
  for (const name of ['a', 'b', 'c']) cache.set(name, { value: name, ttlMs: 100 });
  expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([false, true, true]);
  cache.forget('c');
  expect(cache.has('c')).toBe(false);
});

test('bounds the weights of all answers together', () => {
  const cache = new SingleFlightCache<string>(
    10,
    () => 0,
    (value) => value.length,
  );
  for (const value of ['1234', '12345', '123', 'heavier than all']) cache.set(value, { value, ttlMs: 100 });
  expect(['1234', '12345', '123', 'heavier than all'].map((name) => cache.has(name))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

describe('one who gives up', () => {
  test('does not wait, and leaves the question to the others', async () => {
    const { cache, count } = startCache();
    const answer = Promise.withResolvers<{ value: string; ttlMs: number }>();
    const leaving = new AbortController();
    const first = cache.get('a', leaving.signal, () => answer.promise);
    const second = cache.get('a', never, () => answer.promise);
    leaving.abort();
    expect(await first).toBe(GAVE_UP);
    expect(await cache.get('a', leaving.signal, () => answer.promise)).toBe(GAVE_UP);
    answer.resolve({ value: 'x', ttlMs: 100 });
    expect(await second).toBe('x');
    expect(await cache.get('a', never, () => Promise.reject(new Error('asked again')))).toBe('x');
    expect(count()).toBe(0);
  });
});

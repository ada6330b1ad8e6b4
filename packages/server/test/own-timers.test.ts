import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers } from './own-timers.ts';
import { passTurns } from './time.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const nothing = () => {};

test('counts the timers of this test and of what it called, until they end', async () => {
  const count = countOwnTimers();
  const [first, second, third] = [setTimeout(nothing, 1), setTimeout(nothing, 2), setInterval(nothing, 3)];
  await passTurns();
  const fourth = setTimeout(nothing, 4);
  expect(count()).toBe(4);
  clearTimeout(second);
  clearInterval(third);
  vi.advanceTimersByTime(1);
  expect(count()).toBe(1);
  clearTimeout(fourth);
  clearTimeout(first);
  expect(count()).toBe(0);
});

test('does not count the timers of work that began earlier', async () => {
  const begin = Promise.withResolvers<void>();
  const earlier = begin.promise.then(() => setTimeout(nothing, 1));
  const count = countOwnTimers();
  begin.resolve();
  await earlier;
  expect(vi.getTimerCount()).toBe(1);
  expect(count()).toBe(0);
});

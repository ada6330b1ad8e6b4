import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers, recordTimers } from './own-timers.ts';
import { ENDLESS_MS, passTurns } from './time.ts';

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

test('neither counts nor runs the timers of other work', async () => {
  let ran = 0;
  const runAgain = () => {
    ran++;
    setTimeout(runAgain, 1);
  };
  // One timer is set before the counting begins, another one in work that began before it.
  setTimeout(runAgain, 1);
  const begin = Promise.withResolvers<void>();
  const earlier = begin.promise.then(() => setTimeout(runAgain, ENDLESS_MS));
  const count = countOwnTimers();
  begin.resolve();
  const timer = await earlier;
  vi.advanceTimersByTime(ENDLESS_MS);
  expect(ran).toBe(0);
  expect(count()).toBe(0);
  clearTimeout(timer);
});

test('leaves nothing behind, whichever timers are faked', () => {
  vi.useRealTimers();
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  countOwnTimers();
  vi.useRealTimers();
  expect(globalThis).toMatchObject({ setTimeout, clearTimeout, setInterval, clearInterval });
});

test('records the times of timers, and leaves nothing behind when mocks are restored later', () => {
  vi.useRealTimers();
  const real = globalThis.setTimeout;
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const timesMs = recordTimers();
  setTimeout(nothing, ENDLESS_MS);
  expect(timesMs).toEqual([ENDLESS_MS]);
  vi.useRealTimers();
  vi.restoreAllMocks();
  expect(globalThis.setTimeout).toBe(real);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { runLater } from '../../../server/test/time.ts';
import { BEHIND_BYTES_MAX, ReadingPace } from './reading-pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const RATE = 131_072;
const UNREAD_MS_MAX = (BEHIND_BYTES_MAX / RATE) * 1000;
const MEGABYTE = 1_000_000;
const always = () => true;
const never = new Promise<void>(() => {});

/**
 * A caller with this rate, seen only after each megabyte. Returns the number of megabytes read before it was too slow.
 */
async function takeMegabytes(bytesPerSecond: number, count: number, rate = RATE): Promise<number> {
  const pace = new ReadingPace(rate);
  const everyMs = (MEGABYTE / bytesPerSecond) * 1000;
  for (let taken = 0; taken < count; taken++) {
    const drained = new Promise<void>((resolve) => runLater(everyMs, resolve));
    const took = pace.waitUntilRead(MEGABYTE, drained, always);
    await vi.advanceTimersByTimeAsync(everyMs);
    if (!(await took)) return taken;
  }
  return count;
}

test('rejects a caller that reads nothing, after ten seconds at the default rate', async () => {
  const countTimers = countOwnTimers();
  const outcome = vi.fn();
  void new ReadingPace(RATE).waitUntilRead(1, never, always).then(outcome);
  await vi.advanceTimersByTimeAsync(UNREAD_MS_MAX - 1);
  expect(outcome).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome).toHaveBeenCalledWith(false);
  expect(UNREAD_MS_MAX).toBe(10_000);
  expect(countTimers()).toBe(0);
});

test.each([RATE, RATE / 8])(
  'accepts a caller at the minimum rate for any length of time: %i bytes a second',
  async (rate) => {
    expect(await takeMegabytes(rate, 100, rate)).toBe(100);
  },
);

test.each([RATE, RATE / 8])('rejects a caller at half the minimum rate: %i bytes a second', async (rate) => {
  expect(await takeMegabytes(rate / 2, 100, rate)).toBeLessThan(5);
});

test('does not allow a longer pause after fast reading', async () => {
  const pace = new ReadingPace(RATE);
  for (let piece = 0; piece < 100; piece++)
    expect(await pace.waitUntilRead(MEGABYTE, undefined, always)).toBe(true);
  const outcome = vi.fn();
  void pace.waitUntilRead(1, never, always).then(outcome);
  await vi.advanceTimersByTimeAsync(UNREAD_MS_MAX);
  expect(outcome).toHaveBeenCalledWith(false);
});

test('does not count waits that the caller does not cause', async () => {
  const drained = new Promise<void>((resolve) => runLater(10 * UNREAD_MS_MAX, resolve));
  const took = new ReadingPace(RATE).waitUntilRead(1, drained, () => false);
  await vi.advanceTimersByTimeAsync(10 * UNREAD_MS_MAX);
  expect(await took).toBe(true);
});

test('counts nothing if the minimum rate is 0', async () => {
  expect(await takeMegabytes(1000, 3, 0)).toBe(3);
});

test('leaves no timer behind if the wait fails', async () => {
  const countTimers = countOwnTimers();
  const drained = Promise.reject(new Error('broken off'));
  await expect(new ReadingPace(RATE).waitUntilRead(1, drained, always)).rejects.toThrow('broken off');
  expect(countTimers()).toBe(0);
});

test('needs no timer if the minimum rate is 0', () => {
  const countTimers = countOwnTimers();
  void new ReadingPace(0).waitUntilRead(1, never, always);
  expect(countTimers()).toBe(0);
});

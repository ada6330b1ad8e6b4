import { expect, test } from 'vitest';
import { printTime } from './print-time.ts';

test('prints each time as the platform does, in any order', () => {
  const start = Date.UTC(2026, 1, 28, 23, 59, 59, 998);
  for (const ms of [start, start, start + 1, start + 2, start, 0, start + 3_600_000, -1, 8.64e15])
    expect(printTime(ms)).toBe(new Date(ms).toISOString());
});

test('throws for what is no time, and prints the next time again', () => {
  expect(() => printTime(Number.NaN)).toThrow(RangeError);
  expect(() => printTime(9e15)).toThrow(RangeError);
  expect(printTime(1000)).toBe('1970-01-01T00:00:01.000Z');
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import { printTime, readHttpDate } from './times.ts';

afterEach(() => vi.unstubAllEnvs());

describe.each(['UTC', 'America/Santiago', 'Asia/Kathmandu'])('in the time zone %s', (zone) => {
  test.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'reads %s as RFC 9110 says',
    (text) => {
      vi.stubEnv('TZ', zone);
      expect(readHttpDate(text)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    },
  );

  test.each(['', 'tomorrow', '2026-11-27T08:00:00Z', '12'])('%j is no date', (text) => {
    vi.stubEnv('TZ', zone);
    expect(readHttpDate(text)).toBeNaN();
  });
});

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

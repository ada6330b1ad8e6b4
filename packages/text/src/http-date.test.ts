import { afterEach, describe, expect, test, vi } from 'vitest';
import { readHttpDate } from './http-date.ts';

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

import { expect, test } from 'vitest';
import { printLocalTime, readLocalTime } from './local-time.ts';

test('a time survives its input', () => {
  for (const at of ['2027-01-31T08:05:00Z', '2026-12-31T23:59:00Z']) {
    expect(readLocalTime(printLocalTime(at))).toBe(at);
  }
});

test('an empty input is no time', () => {
  expect(printLocalTime(null)).toBe('');
  expect(readLocalTime('')).toBeNull();
  expect(readLocalTime('2027-01-')).toBeNull();
});

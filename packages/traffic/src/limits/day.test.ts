import { beforeEach, expect, test } from 'vitest';
import { DayCounts } from './day.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;
let now: number;
let days: DayCounts;

beforeEach(() => {
  now = NOON;
  days = new DayCounts(() => now);
});

test('counts the calls of a key until midnight UTC', () => {
  expect(days.check('a', 3, 2)).toEqual({ ok: true, remaining: 1, resetSeconds: 43_200 });
  days.add('a', 2);
  expect(days.check('a', 3, 2)).toMatchObject({ ok: false, remaining: 1, retryAfterSeconds: 43_200 });
  expect(days.check('b', 3, 2).ok).toBe(true);
  now = NOON + DAY_MS / 2 - 1;
  expect(days.check('a', 3, 2)).toMatchObject({ ok: false, retryAfterSeconds: 1 });
  now += 1;
  expect(days.check('a', 3, 2)).toMatchObject({ ok: true, resetSeconds: 86_400 });
  expect(days.read('a')).toBe(0);
});

test('gives no retry time if so many calls are never allowed in a day', () => {
  expect(days.check('a', 3, 4)).toMatchObject({ ok: false, remaining: 3, retryAfterSeconds: null });
});

test.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])('resets the counts when the clock jumps %s to another day', (_direction, jump) => {
  days.add('a', 3);
  now += jump;
  expect(days.check('a', 3, 1)).toMatchObject({ ok: true, remaining: 2 });
});

import type { StoredSubscription } from '@erp-proxy/stores/ports';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type Attempt,
  checkAttempts,
  RETRY_DELAYS_SECONDS,
  readRetryAfterSeconds,
} from './retry-schedule.ts';
import { NEW_SUBSCRIPTION } from './subscriptions.ts';

const NOW = 1_000_000_000_000;
const DAY_MS = 86_400_000;
const CHECKING = { now: NOW, random: () => 0, secondMs: 1000 };

function subscription(changes: Partial<StoredSubscription> = {}): StoredSubscription {
  return {
    id: 's',
    name: 's',
    body: '{}',
    createdAt: 0,
    createdBy: null,
    ...NEW_SUBSCRIPTION,
    ...changes,
  };
}

function attempt(attempts: number, changes: Partial<Attempt> = {}): Attempt {
  const delivery = { seq: 1, id: 'm', record: '1', type: 't', body: '{}', attempts };
  return {
    delivery,
    isTaken: false,
    isGone: false,
    status: 500,
    failure: 'no',
    retryAfterSeconds: null,
    durationMs: 1.4,
    ...changes,
  };
}

test('retries after seconds, then after the delays of Standard Webhooks, then gives up', () => {
  const delays = Array.from({ length: 16 }, (_, index) => {
    const outcome = checkAttempts(subscription({ failures: index }), [attempt(index + 1)], CHECKING);
    const [result] = outcome.results;
    return result?.state === 'failed' ? 'failed' : ((result?.nextAt ?? 0) - NOW) / 1000;
  });
  expect(delays).toEqual([...RETRY_DELAYS_SECONDS, 'failed']);
  const standard = [1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  expect(RETRY_DELAYS_SECONDS).toEqual([5, 10, 20, 40, 80, 160, 300, 600, ...standard]);
});

test.each([1, 10, 30, 60, 300, 1200])(
  'a receiver that was away for %i seconds is tried before it is back for as long, or for five seconds',
  (awaySeconds) => {
    let now = NOW;
    for (let failures = 0; now < NOW + awaySeconds * 1000; failures++) {
      // New deliveries keep coming, so each attempt is the first one of its delivery.
      const outcome = checkAttempts(subscription({ failures }), [attempt(1)], { ...CHECKING, now });
      now = outcome.retryAt!;
    }
    expect((now - NOW) / 1000 - awaySeconds).toBeLessThanOrEqual(Math.max(5, awaySeconds));
  },
);

test('jitter makes a delay longer by a tenth at most', () => {
  const { retryAt } = checkAttempts(subscription(), [attempt(1)], { ...CHECKING, random: () => 0.999 });
  expect(retryAt).toBeGreaterThan(NOW + 5000);
  expect(retryAt).toBeLessThanOrEqual(NOW + 5500);
});

test('disables after five days, and not because a clock has jumped', () => {
  const since = NOW - 5 * DAY_MS;
  const disables = (failures: number, failingSince: number) =>
    checkAttempts(subscription({ failures, failingSince }), [attempt(3)], CHECKING).disables;
  expect(disables(20, since)).toMatch(/took nothing for five days/);
  expect(disables(20, since + 1)).toBeNull();
  expect(disables(1, since)).toBeNull();
  // The clock has jumped back since the first failure.
  expect(
    checkAttempts(subscription({ failures: 3, failingSince: NOW + DAY_MS }), [attempt(4)], CHECKING),
  ).toMatchObject({
    failingSince: NOW,
    failures: 4,
  });
});

test('one delivery that is taken ends the failures, and wakes the others after an outage', () => {
  const both = [attempt(1), attempt(2, { isTaken: true, status: 200, failure: null })];
  expect(checkAttempts(subscription({ failures: 3, failingSince: 5 }), both, CHECKING)).toMatchObject({
    failures: 0,
    failingSince: null,
    retryAt: null,
    wakesAll: true,
    deliveredAt: NOW,
  });
  expect(checkAttempts(subscription({ failures: 2 }), both, CHECKING).wakesAll).toBe(false);
});

test('410 disables at once, and gives nothing up', () => {
  const outcome = checkAttempts(subscription(), [attempt(16, { isGone: true, status: 410 })], CHECKING);
  expect(outcome.disables).toMatch(/410 Gone/);
  expect(outcome.results[0]?.state).toBe('waiting');
});

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Sun, 09 Sep 2001 01:47:00 GMT', 20],
  ['Sun, 09 Sep 2001 01:40:00 GMT', 0],
  ['Sun Sep  9 01:47:00 2001', 20],
  ['-1', null],
  ['1e9', null],
  ['tomorrow', null],
  ['9999999999999999', null],
  ['', null],
  [undefined, null],
])('reads retry-after %j', (header, seconds) => {
  vi.stubEnv('TZ', 'Asia/Kathmandu');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(readRetryAfterSeconds(header, NOW)).toBe(seconds);
});

import { KEY_LIMITS } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import type { LimitingPolicy } from './admitted.ts';
import { KeyLimits } from './key-limits.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const UNLIMITED = { ok: true, rate: null, day: null, month: null };

/** Creates limits whose clock stands still. */
function createLimits(processes?: () => number): KeyLimits {
  return new KeyLimits(
    () => 0,
    () => NOON,
    processes,
  );
}

test('a key without limits is never refused', () => {
  const limits = createLimits();
  const key = { id: 'a', policy: {} };
  for (let call = 0; call < 1000; call++) expect(limits.admit(key)).toEqual(UNLIMITED);
  expect(limits.admitMore(key, 99)).toEqual(UNLIMITED);
  expect(limits.acquireMore(key, 8)).toBe(8);
});

/** Each limit, so that it allows one call. */
const ONE_CALL: Required<LimitingPolicy> = {
  rate: { requests: 1, seconds: 60 },
  per_day: 1,
  per_month: 1,
  concurrency: 1,
};

test.each(KEY_LIMITS)('%s is counted, by one process and by each of several', (limit) => {
  for (const processes of [1, 2]) {
    const limits = createLimits(() => processes);
    const key = { id: 'a', policy: { [limit]: ONE_CALL[limit] } };
    expect(limits.admit(key).ok).toBe(true);
    expect(limits.admit(key)).toMatchObject({ ok: false, rule: limit });
  }
});

test('limits the calls that run at once, including those of a batch', () => {
  const limits = createLimits();
  const key = { id: 'a', policy: { concurrency: 3 } };
  expect(limits.admit(key).ok).toBe(true);
  expect(limits.acquireMore(key, 7)).toBe(2);
  expect(limits.admit(key)).toMatchObject({ ok: false, rule: 'concurrency', retryAfterSeconds: 1 });
  limits.release(key, 3);
  expect(limits.admit(key).ok).toBe(true);
});

test('a call that the rate refuses does not count as running', () => {
  const limits = createLimits();
  const key = { id: 'a', policy: { concurrency: 2, rate: { requests: 1, seconds: 60 } } };
  expect(limits.admit(key)).toMatchObject({ ok: true, rate: { remaining: 0, burst: 1, seconds: 60 } });
  for (let call = 0; call < 5; call++)
    expect(limits.admit(key)).toMatchObject({ ok: false, rule: 'rate', retryAfterSeconds: 60 });
  limits.release(key);
});

test('a call that the day or the rate refuses counts for neither', () => {
  const limits = createLimits();
  const key = { id: 'a', policy: { per_day: 3, rate: { requests: 2, seconds: 60 } } };
  expect(limits.admit(key)).toMatchObject({ ok: true, day: { remaining: 2, burst: 3, seconds: 86_400 } });
  expect(limits.admitMore(key, 2)).toMatchObject({ ok: false, rule: 'rate', retryAfterSeconds: null });
  expect(limits.admitMore(key, 3)).toMatchObject({ ok: false, rule: 'per_day', retryAfterSeconds: null });
  expect(limits.admit(key)).toMatchObject({ ok: true, day: { remaining: 1 }, rate: { remaining: 0 } });
  const other = { id: 'b', policy: { per_day: 1 } };
  expect(limits.admit(other).ok).toBe(true);
  expect(limits.admit(other)).toMatchObject({ ok: false, rule: 'per_day', retryAfterSeconds: 43_200 });
});

test('a call that the month refuses counts for nothing, and the month is checked before the day', () => {
  const limits = createLimits();
  const key = { id: 'a', policy: { per_month: 2, per_day: 2, rate: { requests: 9, seconds: 60 } } };
  const toEndOfMonth = 9.5 * 86_400;
  expect(limits.admit(key)).toMatchObject({
    ok: true,
    month: { remaining: 1, burst: 2, seconds: 30 * 86_400, resetSeconds: toEndOfMonth },
  });
  expect(limits.admitMore(key, 2)).toMatchObject({ ok: false, rule: 'per_month', retryAfterSeconds: null });
  expect(limits.admit(key)).toMatchObject({ ok: true, month: { remaining: 0 }, day: { remaining: 0 } });
  expect(limits.admit(key)).toEqual({
    ok: false,
    rule: 'per_month',
    retryAfterSeconds: toEndOfMonth,
    month: { remaining: 0, resetSeconds: toEndOfMonth, burst: 2, seconds: 30 * 86_400 },
    day: null,
    rate: null,
  });
});

test('calls per day and month are not divided among processes, which exchange their counts', () => {
  const limits = createLimits(() => 4);
  const key = { id: 'a', policy: { per_month: 4, per_day: 4 } };
  const left = { burst: 4, remaining: 1 };
  expect(limits.admitMore(key, 3)).toMatchObject({ ok: true, month: left, day: left });
});

test('each of several processes enforces its share, at least one call', () => {
  let processes = 4;
  const limits = createLimits(() => processes);
  const policy = { concurrency: 10, rate: { requests: 8, seconds: 60, burst: 4 } };
  const key = { id: 'a', policy };
  expect(limits.admit(key)).toMatchObject({ ok: true, rate: { burst: 1, remaining: 0 } });
  expect(limits.admit(key)).toMatchObject({ ok: false, rule: 'rate' });
  expect(limits.acquireMore(key, 10)).toBe(1);
  processes = 1;
  expect(limits.acquireMore(key, 10)).toBe(8);
  expect(limits.admit(key)).toMatchObject({ ok: false, rule: 'concurrency' });
});

test('a batch beyond the limit gets no retry time; a batch beyond the share gets one', () => {
  const limits = createLimits(() => 4);
  const key = { id: 'a', policy: { rate: { requests: 8, seconds: 60 } } };
  expect(limits.admitMore(key, 7)).toMatchObject({ ok: false, rule: 'rate', retryAfterSeconds: 5 });
  expect(limits.admitMore(key, 8)).toMatchObject({ ok: false, rule: 'rate', retryAfterSeconds: null });
});

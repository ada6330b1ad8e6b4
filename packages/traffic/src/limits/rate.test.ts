import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { type Rate, RateLimiter } from './rate.ts';

const TEN_A_MINUTE: Rate = { requests: 10, seconds: 60, burst: 10 };
let now: number;
let limiter: RateLimiter;

beforeEach(() => {
  now = 5_000_000;
  limiter = new RateLimiter(() => now);
});

test('allows the burst at once, and then one call per interval', () => {
  for (let left = 9; left >= 0; left--)
    expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: true, remaining: left });
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toEqual({
    ok: false,
    remaining: 0,
    resetSeconds: 60,
    retryAfterSeconds: 6,
  });
  now += 5_999;
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: false, retryAfterSeconds: 1 });
  now += 1;
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: true, remaining: 0 });
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: false });
});

test('allows the whole burst at once, at any time and rate', () => {
  const rates = fc.record({
    requests: fc.integer({ min: 1, max: 100 }),
    seconds: fc.integer({ min: 1, max: 100 }),
    burst: fc.integer({ min: 1, max: 100 }),
  });
  const at = fc.double({ min: 0, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(rates, at, fc.integer({ min: 1, max: 100 }), (rate, time, part) => {
      now = time;
      const tried = new RateLimiter(() => now);
      for (let left = rate.burst; left > 0; ) {
        const count = Math.min(part, left);
        left -= count;
        expect(tried.take('a', rate, count)).toMatchObject({ ok: true, remaining: left });
      }
      expect(tried.take('a', rate, 1).ok).toBe(false);
    }),
    { numRuns: countCases(100) },
  );
});

test('counts calls that were admitted elsewhere, down to an empty burst', () => {
  limiter.charge('a', TEN_A_MINUTE, 4);
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: true, remaining: 5 });
  limiter.charge('a', TEN_A_MINUTE, 100);
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: false, retryAfterSeconds: 6 });
});

test('a raised rate applies at once', () => {
  const slow = { requests: 1, seconds: 3600, burst: 1 };
  expect(limiter.take('a', slow, 1).ok).toBe(true);
  expect(limiter.take('a', TEN_A_MINUTE, 1)).toMatchObject({ ok: false, retryAfterSeconds: 6 });
});

test('limits each key separately', () => {
  const once = { requests: 1, seconds: 60, burst: 1 };
  expect(limiter.take('a', once, 1).ok).toBe(true);
  expect(limiter.take('b', once, 1).ok).toBe(true);
  expect(limiter.take('a', once, 1).ok).toBe(false);
});

test('takes all of several calls or none, and gives no retry time if so many are never allowed', () => {
  expect(limiter.take('a', TEN_A_MINUTE, 6).ok).toBe(true);
  expect(limiter.take('a', TEN_A_MINUTE, 5)).toMatchObject({ ok: false, remaining: 4, retryAfterSeconds: 6 });
  expect(limiter.take('a', TEN_A_MINUTE, 4).ok).toBe(true);
  expect(limiter.take('b', TEN_A_MINUTE, 11)).toMatchObject({ ok: false, retryAfterSeconds: null });
});

test('a share is no fuller than the burst that all processes share, and what others use is not its own use', () => {
  limiter.charge('a', TEN_A_MINUTE, 2);
  limiter.setSharedBurst('a', 42_000);
  // Three of ten calls are left in the shared burst. By its own count, this limiter would have eight.
  expect(limiter.take('a', TEN_A_MINUTE, 4).ok).toBe(false);
  limiter.charge('a', TEN_A_MINUTE, 3);
  expect(limiter.take('a', TEN_A_MINUTE, 4).ok).toBe(false);
  limiter.setSharedBurst('a', 0);
  expect(limiter.take('a', TEN_A_MINUTE, 6).ok).toBe(false);
  expect(limiter.take('a', TEN_A_MINUTE, 5).ok).toBe(true);
});

test('removes keys whose burst is full', () => {
  const rate = { requests: 1, seconds: 1, burst: 1 };
  for (let key = 0; key < 100_000; key++) {
    now += 1;
    expect(limiter.take(String(key), rate, 1).ok).toBe(true);
    limiter.setSharedBurst(String(key), 10);
  }
  expect(limiter.take('99999', rate, 1).ok).toBe(false);
  expect(limiter.size).toBeLessThan(3_000);
});

test('after any history, the calls in a span are at most the burst and what the rate adds', () => {
  const history = fc.array(fc.record({ waitMs: fc.nat(20_000), calls: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 60,
  });
  const rates = fc.record({
    requests: fc.integer({ min: 1, max: 50 }),
    seconds: fc.integer({ min: 1, max: 100 }),
    burst: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(history, rates, (steps, rate) => {
      const tried = new RateLimiter(() => now);
      const taken: { at: number; calls: number }[] = [];
      for (const { waitMs, calls } of steps) {
        now += waitMs;
        const answer = tried.take('a', rate, calls);
        if (answer.ok) taken.push({ at: now, calls });
        // A caller that waits for `retryAfterSeconds` is admitted.
        else if (answer.retryAfterSeconds !== null) {
          now += answer.retryAfterSeconds * 1000;
          expect(tried.take('a', rate, calls).ok).toBe(true);
          taken.push({ at: now, calls });
        } else expect(calls).toBeGreaterThan(rate.burst);
      }
      for (const [first, { at }] of taken.entries()) {
        let sum = 0;
        for (const later of taken.slice(first)) {
          sum += later.calls;
          const added = ((later.at - at) * rate.requests) / (rate.seconds * 1000);
          expect(sum).toBeLessThanOrEqual(rate.burst + added + 1e-3);
        }
      }
    }),
    { numRuns: countCases(100) },
  );
});

import { describe, expect, test } from 'vitest';
import { IS_LONG } from '../../../../server/test/random-cases.ts';
import { createRandom } from '../../../../server/test/seeded-random.ts';
import { AdaptiveConcurrency, type ConcurrencyBounds } from './adaptive-concurrency.ts';

/** Milliseconds that a worker needs for one call. */
type Service = (random: () => number) => number;

const STEADY: Service = (random) => 90 + 20 * random();
const LONG: Service = (random) => 10 * STEADY(random);
const EXPONENTIAL: Service = (random) => -100 * Math.log(1 - random());
/** One call in fifty is a report of five seconds. */
const WITH_REPORTS: Service = (random) => (random() < 0.02 ? 5000 : 20 + 20 * random());

interface Odoo {
  workers: (nowMs: number) => number;
  service: (nowMs: number) => Service;
  seed: number;
  durationMs: number;
}

/**
 * Simulates an unlimited number of callers of a server that handles calls in order of arrival. Returns the limit at
 * each second, and the number of completed calls.
 */
function simulate(bounds: ConcurrencyBounds, { workers, service, seed, durationMs }: Odoo) {
  const random = createRandom(seed);
  const limiter = new AdaptiveConcurrency(bounds);
  const limits: number[] = [];
  const queue: { permit: number; sentMs: number }[] = [];
  let working: { permit: number; sentMs: number; doneMs: number }[] = [];
  let running = 0;
  let latest = 0;
  let done = 0;
  let nowMs = 0;
  while (nowMs < durationMs) {
    while (running < limiter.limit) {
      queue.push({ permit: ++latest, sentMs: nowMs });
      limiter.recordRunning(++running);
    }
    while (working.length < workers(nowMs) && queue.length > 0) {
      const call = queue.shift();
      if (call !== undefined) working.push({ ...call, doneMs: nowMs + service(nowMs)(random) });
    }
    const [first, ...others] = working.toSorted((one, other) => one.doneMs - other.doneMs);
    if (first === undefined) throw new Error('no worker is busy');
    working = others;
    nowMs = first.doneMs;
    while (limits.length * 1000 < Math.min(nowMs, durationMs)) limits.push(limiter.limit);
    running--;
    done++;
    limiter.addAnswer(first.permit, latest, nowMs - first.sentMs, nowMs);
  }
  return { limits, perSecond: (done / nowMs) * 1000 };
}

const findQuantile = (values: number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

const BOUNDS: ConcurrencyBounds = { initial: 4, min: 1, max: 200 };
/** Fixed seeds, because a random simulation is sometimes an outlier. */
const SEEDS = IS_LONG ? [1, 2, 3, 4, 5] : [1, 2, 3];

describe.each([2, 8, 32])('with %i workers', (count) => {
  test.each([
    { name: 'calls of similar length', service: STEADY, meanMs: 100 },
    { name: 'calls of any length', service: EXPONENTIAL, meanMs: 100 },
    { name: 'reports of seconds among reads', service: WITH_REPORTS, meanMs: 130 },
  ])(
    'the limit settles between one and two calls per worker, and keeps the workers busy: $name',
    ({ service, meanMs }) => {
      for (const seed of SEEDS) {
        const odoo = { workers: () => count, service: () => service, seed, durationMs: 300_000 };
        const { limits, perSecond } = simulate(BOUNDS, odoo);
        const settled = limits.slice(100);
        expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(count * 0.9);
        expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(2 * count);
        expect(findQuantile(settled, 0.95), `seed ${seed}`).toBeLessThanOrEqual(2 * count + 4);
        expect(perSecond, `seed ${seed}`).toBeGreaterThan((0.8 * count * 1000) / meanMs);
      }
    },
  );
});

test('the limit falls when workers disappear, and rises when they are back', () => {
  const workers = (nowMs: number) => (nowMs > 100_000 && nowMs < 200_000 ? 4 : 16);
  for (const seed of SEEDS) {
    const { limits } = simulate(BOUNDS, { workers, service: () => STEADY, seed, durationMs: 300_000 });
    const many = [limits.slice(30, 100), limits.slice(210)];
    for (const settled of many) expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(16);
    for (const settled of many) expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(32);
    expect(findQuantile(limits.slice(130, 200), 0.5), `seed ${seed}`).toBeLessThanOrEqual(8);
  }
});

test('calls that become ten times as long, and short again, do not change the settled limit', () => {
  const service = (nowMs: number) => (nowMs > 100_000 && nowMs < 250_000 ? LONG : STEADY);
  for (const seed of SEEDS) {
    const { limits } = simulate(BOUNDS, { workers: () => 8, service, seed, durationMs: 400_000 });
    for (const settled of [limits.slice(50, 100), limits.slice(150, 250), limits.slice(300)]) {
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(8);
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(16);
    }
  }
});

/** Answers `calls` calls one after the other while `running` calls run. */
function answerMany(limiter: AdaptiveConcurrency, calls: number, running: number): void {
  for (let permit = 1; permit <= calls; permit++) {
    limiter.recordRunning(running);
    limiter.addAnswer(permit, permit, 20, permit * 20);
  }
}

test('the limit does not rise while calls do not reach it', () => {
  const limiter = new AdaptiveConcurrency({ initial: 8, min: 1, max: 100 });
  answerMany(limiter, 10_000, 7);
  expect(limiter.limit).toBeLessThanOrEqual(8);
  const used = new AdaptiveConcurrency({ initial: 8, min: 1, max: 100 });
  answerMany(used, 10_000, 100);
  expect(used.limit).toBeGreaterThan(8);
});

test('the limit is halved once for calls that ran together, and stays within its bounds', () => {
  const limiter = new AdaptiveConcurrency({ initial: 20, min: 3, max: 20 });
  for (let permit = 1; permit <= 20; permit++) limiter.halve(permit, 20);
  expect(limiter.limit).toBe(10);
  limiter.halve(21, 30);
  expect(limiter.limit).toBe(5);
  for (let permit = 31; permit <= 40; permit++) limiter.halve(permit, permit);
  expect(limiter.limit).toBe(3);
  answerMany(limiter, 100_000, 100);
  expect(limiter.limit).toBeLessThanOrEqual(20);
});

/** The limit after it has settled, if calls take `fullMs` while the limit is above 4, and `halfMs` below that. */
function settleAt(fullMs: number, halfMs: number): number {
  const limiter = new AdaptiveConcurrency({ initial: 8, min: 1, max: 64 });
  for (let permit = 1; permit <= 20_000; permit++) {
    const { limit } = limiter;
    limiter.recordRunning(limit);
    limiter.addAnswer(permit, permit, limit > 4 ? fullMs : halfMs, permit * 2);
  }
  return limiter.limit;
}

test('a few additional milliseconds, as busy processors cause them, do not count as queueing', () => {
  expect(settleAt(4, 1.4)).toBeGreaterThan(32);
  expect(settleAt(40, 14)).toBeLessThan(10);
});

import { describe, expect, test } from 'vitest';
import { AdaptiveConcurrency, type ConcurrencyBounds } from './adaptive-concurrency.ts';
import { createRandom } from './seeded-random.fixture.ts';

/** Milliseconds that a worker takes for one call. */
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

/** Callers without number on a server that takes its calls in the order of coming. The limit each second, and what was done. */
function simulate(bounds: ConcurrencyBounds, { workers, service, seed, durationMs }: Odoo) {
  const random = createRandom(seed);
  const level = new AdaptiveConcurrency(bounds);
  const limits: number[] = [];
  const queue: { turn: number; sentMs: number }[] = [];
  let working: { turn: number; sentMs: number; doneMs: number }[] = [];
  let running = 0;
  let latest = 0;
  let done = 0;
  let nowMs = 0;
  while (nowMs < durationMs) {
    while (running < level.limit) {
      queue.push({ turn: ++latest, sentMs: nowMs });
      level.begin(++running);
    }
    while (working.length < workers(nowMs) && queue.length > 0) {
      const call = queue.shift();
      if (call !== undefined) working.push({ ...call, doneMs: nowMs + service(nowMs)(random) });
    }
    const [first, ...others] = working.toSorted((one, other) => one.doneMs - other.doneMs);
    if (first === undefined) throw new Error('nobody works');
    working = others;
    nowMs = first.doneMs;
    while (limits.length * 1000 < Math.min(nowMs, durationMs)) limits.push(level.limit);
    running--;
    done++;
    level.answer(first.turn, latest, nowMs - first.sentMs, nowMs);
  }
  return { limits, perSecond: (done / nowMs) * 1000 };
}

const findQuantile = (values: number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

const BOUNDS: ConcurrencyBounds = { initial: 4, min: 1, max: 200 };
/** The same each time, since now and then a simulation of chance is an odd one. */
const SEEDS = [1, 2, 3, 4, 5];

describe.each([2, 8, 32])('before %i workers', (count) => {
  test.each([
    { name: 'all much the same', service: STEADY, meanMs: 100 },
    { name: 'of any length', service: EXPONENTIAL, meanMs: 100 },
    { name: 'reports of seconds among reads', service: WITH_REPORTS, meanMs: 130 },
  ])('settles between one and two calls a worker, and keeps them busy: $name', ({ service, meanMs }) => {
    for (const seed of SEEDS) {
      const odoo = { workers: () => count, service: () => service, seed, durationMs: 300_000 };
      const { limits, perSecond } = simulate(BOUNDS, odoo);
      const settled = limits.slice(100);
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(count * 0.9);
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(2 * count);
      expect(findQuantile(settled, 0.95), `seed ${seed}`).toBeLessThanOrEqual(2 * count + 4);
      expect(perSecond, `seed ${seed}`).toBeGreaterThan((0.8 * count * 1000) / meanMs);
    }
  });
});

test('goes down when workers vanish, and up again when they are back', () => {
  const workers = (nowMs: number) => (nowMs > 100_000 && nowMs < 200_000 ? 4 : 16);
  for (const seed of SEEDS) {
    const { limits } = simulate(BOUNDS, { workers, service: () => STEADY, seed, durationMs: 300_000 });
    const many = [limits.slice(30, 100), limits.slice(210)];
    for (const settled of many) expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(16);
    for (const settled of many) expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(32);
    expect(findQuantile(limits.slice(130, 200), 0.5), `seed ${seed}`).toBeLessThanOrEqual(8);
  }
});

test('takes calls that become ten times as long, and short again, for what they are', () => {
  const service = (nowMs: number) => (nowMs > 100_000 && nowMs < 250_000 ? LONG : STEADY);
  for (const seed of SEEDS) {
    const { limits } = simulate(BOUNDS, { workers: () => 8, service, seed, durationMs: 400_000 });
    for (const settled of [limits.slice(50, 100), limits.slice(150, 250), limits.slice(300)]) {
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeGreaterThanOrEqual(8);
      expect(findQuantile(settled, 0.5), `seed ${seed}`).toBeLessThanOrEqual(16);
    }
  }
});

/** Answers `calls` calls one after the other, each as one of `running`. */
function answerMany(level: AdaptiveConcurrency, calls: number, running: number): void {
  for (let turn = 1; turn <= calls; turn++) {
    level.begin(running);
    level.answer(turn, turn, 20, turn * 20);
  }
}

test('does not rise while nobody uses it', () => {
  const level = new AdaptiveConcurrency({ initial: 8, min: 1, max: 100 });
  answerMany(level, 10_000, 7);
  expect(level.limit).toBeLessThanOrEqual(8);
  const used = new AdaptiveConcurrency({ initial: 8, min: 1, max: 100 });
  answerMany(used, 10_000, 100);
  expect(used.limit).toBeGreaterThan(8);
});

test('halves once for the calls that ran together, and stays within its bounds', () => {
  const level = new AdaptiveConcurrency({ initial: 20, min: 3, max: 20 });
  for (let turn = 1; turn <= 20; turn++) level.halve(turn, 20);
  expect(level.limit).toBe(10);
  level.halve(21, 30);
  expect(level.limit).toBe(5);
  for (let turn = 31; turn <= 40; turn++) level.halve(turn, turn);
  expect(level.limit).toBe(3);
  answerMany(level, 100_000, 100);
  expect(level.limit).toBeLessThanOrEqual(20);
});

/** Where the level is after a while, of calls that take so long: more than half the level, or less. */
function settleAt(fullMs: number, halfMs: number): number {
  const level = new AdaptiveConcurrency({ initial: 8, min: 1, max: 64 });
  for (let turn = 1; turn <= 20_000; turn++) {
    const { limit } = level;
    level.begin(limit);
    level.answer(turn, turn, limit > 4 ? fullMs : halfMs, turn * 2);
  }
  return level.limit;
}

test('takes a few milliseconds more for no queue, which come from busy processors', () => {
  expect(settleAt(4, 1.4)).toBeGreaterThan(32);
  expect(settleAt(40, 14)).toBeLessThan(10);
});

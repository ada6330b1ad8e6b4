/** Background calls to a database: when they run, and how they affect interactive calls. */
import { expect, test, vi } from 'vitest';
import { createTestLimiters, expectPermit } from './database-limiters.fixture.ts';
import type { PermitRequest } from './database-limiters.ts';

const PAGE: Partial<PermitRequest> = { client: 'export', isBackground: true, deadlineMs: Infinity };
const EIGHT = { concurrency: { initial: 8, min: 1, max: 8 } };

/** An object that gets the outcome of a waiting call when there is one. */
function watch(outcome: ReturnType<ReturnType<typeof createTestLimiters>['acquire']>) {
  if (!(outcome instanceof Promise)) throw new Error('does not wait');
  const seen: { outcome?: Awaited<typeof outcome> } = {};
  void outcome.then((settled) => {
    seen.outcome = settled;
  });
  return seen;
}

const settle = () => new Promise(setImmediate);

test('hold at most an eighth of the concurrency limit, and at least one permit', async () => {
  const { acquire, databaseLimiters } = createTestLimiters({
    concurrency: { initial: 16, min: 1, max: 16 },
  });
  const first = expectPermit(acquire(PAGE));
  expectPermit(acquire(PAGE));
  const third = watch(acquire(PAGE));
  expect(databaseLimiters.states()[0]).toMatchObject({
    running: 2,
    waiting: 0,
    backgroundRunning: 2,
    backgroundWaiting: 1,
  });
  first.release('answered');
  await settle();
  expect(third.outcome).toHaveProperty('release');
  const single = createTestLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
  expectPermit(single.acquire(PAGE));
});

test('wait while an interactive call waits, also for those that came later', async () => {
  const { acquire } = createTestLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
  const running = expectPermit(acquire());
  const page = watch(acquire(PAGE));
  const later = watch(acquire({ client: 'b' }));
  running.release('answered');
  await settle();
  expect(later.outcome).toHaveProperty('release');
  expect(page.outcome).toBeUndefined();
  if (later.outcome !== undefined && 'release' in later.outcome) later.outcome.release('answered');
  await settle();
  expect(page.outcome).toHaveProperty('release');
});

test('wait a tenth of a second while interactive calls run, and run one at a time beside them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { acquire, clock } = createTestLimiters(EIGHT);
    const read = expectPermit(acquire());
    const pages = [watch(acquire(PAGE)), watch(acquire(PAGE))];
    clock.nowMs += 99;
    vi.advanceTimersByTime(99);
    await settle();
    expect(pages.filter(({ outcome }) => outcome)).toHaveLength(0);
    clock.nowMs += 2;
    vi.advanceTimersByTime(2);
    await settle();
    expect(pages.filter(({ outcome }) => outcome)).toHaveLength(1);
    read.release('answered');
  } finally {
    vi.useRealTimers();
  }
});

test('run at once when the last interactive call has ended', async () => {
  const { acquire } = createTestLimiters(EIGHT);
  const reads = [expectPermit(acquire()), expectPermit(acquire())];
  const page = watch(acquire(PAGE));
  reads[0]!.release('answered');
  await settle();
  expect(page.outcome).toBeUndefined();
  reads[1]!.release('answered');
  await settle();
  expect(page.outcome).toHaveProperty('release');
});

test('run one at a time after a second of waiting, however many interactive calls wait', async () => {
  const { acquire, clock, databaseLimiters } = createTestLimiters(EIGHT);
  const running = Array.from({ length: 8 }, () => expectPermit(acquire()));
  const pages = [watch(acquire(PAGE)), watch(acquire(PAGE))];
  for (let call = 0; call < 20; call++) watch(acquire());
  clock.nowMs += 999;
  running.pop()?.release('answered');
  await settle();
  expect(pages.filter(({ outcome }) => outcome)).toHaveLength(0);
  clock.nowMs += 1;
  running.pop()?.release('answered');
  running.pop()?.release('answered');
  await settle();
  expect(pages.filter(({ outcome }) => outcome)).toHaveLength(1);
  expect(databaseLimiters.states()[0]).toMatchObject({ backgroundRunning: 1, backgroundWaiting: 1 });
});

test('get room that interactive calls may not use because of their share, without any other event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { acquire, clock } = createTestLimiters(EIGHT);
    acquire({ client: 'b' });
    for (let call = 0; call < 6; call++) acquire({ client: 'a' });
    const page = watch(acquire(PAGE));
    clock.nowMs += 1000;
    vi.advanceTimersByTime(1000);
    await settle();
    expect(page.outcome).toHaveProperty('release');
  } finally {
    vi.useRealTimers();
  }
});

test('take no place of interactive calls below the bound of the operator, and no share of their clients', () => {
  const { acquire } = createTestLimiters({ concurrency: { initial: 4, min: 1, max: 8 } });
  expectPermit(acquire(PAGE));
  for (let call = 0; call < 4; call++) expectPermit(acquire({ client: 'a' }));
  watch(acquire({ client: 'a' }));
});

test('do not change the estimates of interactive calls', () => {
  const makeLimiters = () => createTestLimiters({ concurrency: { initial: 8, min: 1, max: 16 } });
  const [without, beside] = [makeLimiters(), makeLimiters()];
  for (const limiters of [without, beside]) {
    for (let call = 0; call < 20; call++) limiters.runCall('answered', 100, { deadlineMs: Infinity });
  }
  for (let page = 0; page < 100; page++) beside.runCall('answered', 20_000, PAGE);
  for (let page = 0; page < 4; page++) beside.runCall('timed_out', 20_000, PAGE);
  for (let page = 0; page < 50; page++) void beside.acquire(PAGE);
  expect(beside.databaseLimiters.states()[0]?.limit).toBe(without.databaseLimiters.states()[0]?.limit);
  const check = ({ acquire, clock, databaseLimiters }: ReturnType<typeof createTestLimiters>) => {
    const limit = databaseLimiters.states()[0]?.limit ?? 0;
    for (let call = 0; call < limit; call++) expectPermit(acquire({ deadlineMs: Infinity }));
    // In the second run, pages wait too.
    return Array.from({ length: 400 }, () => acquire({ deadlineMs: clock.nowMs + 1000 })).filter(
      (outcome) => 'refused' in outcome,
    ).length;
  };
  const refused = check(without);
  expect(refused).toBeGreaterThan(0);
  expect(check(beside)).toBe(refused);
});

test('learn how long interactive calls take, if there were any lately', () => {
  const { acquire, clock, runCall } = createTestLimiters(EIGHT);
  const read = () => {
    const page = expectPermit(acquire(PAGE));
    page.release('abandoned');
    return page.interactiveMs;
  };
  expect(read()).toBeNull();
  runCall('answered', 40);
  expect(read()).toBe(0);
  for (let call = 0; call < 20; call++) runCall('answered', 40);
  expect(read()).toBeCloseTo(40);
  clock.nowMs += 10_000;
  expect(read()).toBeNull();
});

test('a queue full of pages refuses no interactive call', () => {
  const { acquire } = createTestLimiters({ concurrency: { initial: 1, min: 1, max: 1 }, queueMax: 2 });
  expectPermit(acquire());
  watch(acquire(PAGE));
  watch(acquire(PAGE));
  expect(acquire({ ...PAGE, client: 'export' })).toMatchObject({ refused: 'queue_full' });
  watch(acquire());
  watch(acquire({ client: 'b' }));
});

test('an open circuit breaker refuses waiting background calls, too', async () => {
  const { acquire, runCall } = createTestLimiters({ concurrency: { initial: 2, min: 1, max: 2 } });
  expectPermit(acquire(PAGE));
  const page = watch(acquire(PAGE));
  for (const client of ['a', 'b', 'a', 'b', 'a']) runCall('unreachable', 0, { client });
  await settle();
  expect(page.outcome).toMatchObject({ refused: 'breaker_open' });
});

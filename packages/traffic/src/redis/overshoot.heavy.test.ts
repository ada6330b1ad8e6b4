import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause } from '../../../server/test/time.ts';
import { createWire, type Wire } from '../../../server/test/wire.ts';
import { RateLimiter } from '../limits/rate.ts';
import { type Load, type LoadResult, runLoad } from './load.fixture.ts';
import { createTestNames, type TestNames } from './redis.fixture.ts';
import { PATIENCE_MS } from './test-redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const LOAD_FILE = new URL('./load.fixture.ts', import.meta.url).pathname;
const REPLICAS = 4;
/** Time for which Redis is away, and then for which it is back. */
const TROUBLE_MS = 1_200;
/**
 * Longer time limit for an answer: on a busy machine, Redis answers late. The replicas then apply their shares, which
 * only the last test checks.
 */
const PATIENT = { answerTimeoutMs: PATIENCE_MS };
/**
 * Maximum fraction of calls that shares may add, if they are applied beside the whole rate. Three of four replicas that
 * stay away while one has Redis would add three quarters. Usually it is less than a hundredth.
 */
const SHARES_MAX = 0.25;
/** Low enough that a busy machine can also make calls at several times the rate. */
const RATE = { requests: 40, seconds: 1, burst: 20 };

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let names: TestNames;
  let wire: Wire;
  /** The load of each replica. All replicas together call at five times the rate. */
  let load: Load;

  beforeEach(async () => {
    names = createTestNames(SERVER_URL);
    wire = await createWire(SERVER_URL);
    load = {
      url: SERVER_URL,
      prefix: names.prefix,
      replicas: REPLICAS,
      rate: RATE,
      callsPerSecond: (5 * RATE.requests) / REPLICAS,
      seconds: 10,
    };
  });
  afterEach(async () => {
    await wire.close();
    await names.drop();
  });

  test('four replicas in one process admit at most 5 % more than the rate', async () => {
    const runs = Array.from({ length: REPLICAS }, () => runLoad({ ...load, ...PATIENT, seconds: 5 }));
    expectRateThroughout(await Promise.all(runs));
  });

  test('four replicas in separate processes admit at most 5 % more than the rate', async () => {
    const runs = Array.from({ length: REPLICAS }, async (): Promise<LoadResult> => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        LOAD_FILE,
        JSON.stringify({ ...load, ...PATIENT }),
      ]);
      return JSON.parse(stdout);
    });
    expectRateThroughout(await Promise.all(runs));
  });

  test('four replicas admit at most 5 % more than the rate while Redis goes away repeatedly', async () => {
    const runs = Promise.all(Array.from({ length: REPLICAS }, () => runLoad({ ...load, url: wire.url })));
    const troubles = [() => wire.cut(), () => wire.freeze(), () => wire.delay(300)];
    let isOver = false;
    const breakOften = async () => {
      for (;;) {
        await pause(TROUBLE_MS);
        if (isOver) return;
        const trouble = troubles.shift();
        if (trouble === undefined) throw new Error('no trouble is left');
        troubles.push(trouble, () => wire.restore());
        trouble();
      }
    };
    const breaking = breakOften();
    try {
      const results = await runs;
      const sharesMs = readSharesMs(results);
      expect(sharesMs).toBeLessThan(SHARES_MAX * 1000 * load.seconds);
      expectRate(results, 0.5, sharesMs);
    } finally {
      isOver = true;
      await breaking;
    }
  });
});

/**
 * Checks the rate when Redis was available to all replicas the whole time, so nothing excuses a call beyond the rate.
 */
function expectRateThroughout(results: LoadResult[]): void {
  expect(results.map(({ away }) => away)).toEqual(results.map(() => []));
  expectRate(results, 0.8);
}

/**
 * Checks the rate. `least`: minimum fraction of the calls that must be admitted, of those that one process would admit
 * of calls at the times of the answers: on a busy machine, calls arrive in heaps. `moreMs`: time added to that of the
 * load.
 */
function expectRate(results: LoadResult[], least: number, moreMs = 0): void {
  const sum = (read: (result: LoadResult) => number) =>
    results.reduce((total, each) => total + read(each), 0);
  const fromMs = Math.min(...results.map(({ startedAt }) => startedAt));
  const toMs = Math.max(...results.map(({ endedAt }) => endedAt));
  const allowed = (RATE.requests * (toMs - fromMs + moreMs)) / 1000 + RATE.burst;
  const admitted = sum((result) => result.admitted);
  expect(sum(({ calls }) => calls)).toBeGreaterThan(3 * allowed);
  expect(admitted).toBeLessThanOrEqual(1.05 * allowed);
  expect(admitted).toBeGreaterThan(least * countAdmitted(results.flatMap(({ answeredAt }) => answeredAt)));
}

/** Number of calls at these times that the rate admits. */
function countAdmitted(times: number[]): number {
  let now = 0;
  const limiter = new RateLimiter(() => now);
  let admitted = 0;
  for (const time of times.sort((one, other) => one - other)) {
    now = time;
    if (limiter.take('loaded', RATE, 1).ok) admitted++;
  }
  return admitted;
}

/**
 * Converts the shares that replicas apply while Redis is away to time: returns the milliseconds in which the whole rate
 * admits as much. These calls come in addition to the whole rate that the other replicas get from Redis. On a quiet
 * machine, all replicas notice within some milliseconds that Redis is away, or back.
 */
function readSharesMs(results: LoadResult[]): number {
  const changes = results
    .flatMap(({ away }) => away.map((at, index) => ({ at, step: index % 2 === 0 ? 1 : -1 })))
    .sort((one, other) => one.at - other.at);
  let sharesMs = 0;
  let away = 0;
  for (const [index, { at, step }] of changes.entries()) {
    away += step;
    const untilMs = changes[index + 1]?.at ?? Math.max(...results.map(({ endedAt }) => endedAt));
    if (away < results.length) sharesMs += (away / results.length) * (untilMs - at);
  }
  return sharesMs;
}

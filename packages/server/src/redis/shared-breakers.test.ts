import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFailed, test, vi } from 'vitest';
import { closeAfterTest } from '../../test/close-after-test.ts';
import { countCases } from '../../test/random-cases.ts';
import { measureMs, monotonicMs, passTurns, pause, pauseAtRandom } from '../../test/time.ts';
import {
  DatabaseLimiters,
  type Permit,
  type PermitRefusal,
  type PermitResult,
} from '../limits/database/database-limiters.ts';
import { createRandom } from '../limits/database/seeded-random.fixture.ts';
import type { RedisClient } from './client.ts';
import { SharedBreakers } from './shared-breakers.ts';
import { openTestRedis, type TestRedis, WIRE_TIMEOUT_MS } from './test-redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const DATABASE = 'https://erp.example.com prod';
/** A call without an answer for less time shows nothing. */
const LONGER_THAN_SILENCE_MS = 600;
/** A failed probe doubles the open time of a second. It is shortened by a quarter at most. */
const REOPENED_MS_MIN = 0.75 * 2_000;
const PROBE_MS = 5_000;
const POLL_INTERVAL_MS = 250;
const CALL_MS_MAX = 50;
const TROUBLE_MS_MAX = 500;

interface Replica {
  redis: RedisClient;
  databaseLimiters: DatabaseLimiters;
  breakers: SharedBreakers;
}

test('changes of others are read every 250 ms, and again if Redis counted as away meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const asked: number[] = [];
  const redis = {
    trouble: null as string | null,
    name: (...parts: string[]) => parts.join(':'),
    async run(_script: unknown, _keys: unknown, [since]: [number]) {
      asked.push(since);
      return [1000 * asked.length];
    },
  };
  closeAfterTest(new SharedBreakers({ redis: redis as unknown as RedisClient, nowMs: monotonicMs }));
  for (const trouble of [null, 'no answer', null, null]) {
    redis.trouble = trouble;
    await passTurns();
    vi.advanceTimersByTime(POLL_INTERVAL_MS);
  }
  expect(asked).toEqual([0, 1000, 0, 3000, 4000]);
});

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let testRedis: TestRedis;
  /** The first one is connected through the wire. */
  let replicas: Replica[];

  beforeEach(async () => {
    testRedis = await openTestRedis(SERVER_URL);
    replicas = [];
    for (const url of [testRedis.wire.url, SERVER_URL, SERVER_URL]) await startReplica(url);
  });
  afterEach(async () => {
    for (const { breakers } of replicas) breakers.close();
    await testRedis.close();
  });

  async function startReplica(url = SERVER_URL): Promise<Replica> {
    const redis = await testRedis.connect(url);
    const breakers = new SharedBreakers({ redis, nowMs: monotonicMs });
    const databaseLimiters = new DatabaseLimiters({
      concurrency: { initial: 8, min: 8, max: 8 },
      queueMax: 10,
      databasesMax: 10,
      nowMs: monotonicMs,
      peers: breakers,
    });
    const replica = { redis, databaseLimiters, breakers };
    replicas.push(replica);
    return replica;
  }

  const pick = (index: number) => replicas[index] as Replica;

  async function acquire(
    { databaseLimiters }: Replica,
    client = 'a',
    database = DATABASE,
  ): Promise<Permit | PermitRefusal> {
    const { signal } = new AbortController();
    return databaseLimiters.acquire({
      database,
      client,
      deadlineMs: monotonicMs() + 60_000,
      signal,
      bound: null,
    });
  }

  /** Returns whether it got a permit. */
  async function runCall(
    replica: Replica,
    result: PermitResult,
    client = 'a',
    database = DATABASE,
  ): Promise<boolean> {
    const outcome = await acquire(replica, client, database);
    if ('release' in outcome) outcome.release(result);
    return 'release' in outcome;
  }

  const readState = ({ databaseLimiters }: Replica) => databaseLimiters.states()[0]?.breaker;
  const readStates = () => replicas.map(readState);

  /** Opens the breaker on the replica for all clients. */
  async function open(replica: Replica): Promise<void> {
    for (const client of ['a', 'a', 'a', 'a', 'b'])
      expect(await runCall(replica, 'unreachable', client)).toBe(true);
  }

  const countKnowing = () => replicas.filter(({ breakers }) => breakers.find(DATABASE) !== null).length;

  /** Opens the breaker on the first replica, and waits until all know. */
  async function openEverywhere(): Promise<void> {
    await open(pick(0));
    await expect.poll(countKnowing).toBe(3);
  }

  /** Calls the replicas in turn until one sends a probe. Returns the probe's permit and the index of the replica. */
  async function awaitProbe(askers = replicas): Promise<{ probe: Permit; by: number }> {
    for (;;) {
      for (const [by, replica] of askers.entries()) {
        const outcome = await acquire(replica);
        if ('release' in outcome) return { probe: outcome, by };
      }
      await pause();
    }
  }

  test('a breaker that opens is open for all replicas, also those that have never called the database', async () => {
    await runCall(pick(1), 'abandoned');
    await open(pick(0));
    await expect.poll(() => readState(pick(1))).not.toBe('closed');
    await expect.poll(() => pick(2).breakers.find(DATABASE)).not.toBeNull();
    const refusal = await acquire(pick(2), 'c');
    // On a busy machine a second may have passed. Then this call was the probe.
    if ('refused' in refusal)
      expect(refusal).toMatchObject({ refused: 'breaker_open', retryAfterSeconds: 1 });
    const late = await startReplica();
    await expect.poll(() => late.breakers.find(DATABASE)).not.toBeNull();
  });

  test('a breaker that calls with short time limits open is open for all replicas', async () => {
    const permits = await Promise.all(['a', 'b', 'a', 'b', 'a'].map((client) => acquire(pick(0), client)));
    await pause(LONGER_THAN_SILENCE_MS);
    for (const permit of permits) if ('release' in permit) permit.release('caller_left');
    expect(readState(pick(0))).not.toBe('closed');
    await expect.poll(countKnowing).toBe(3);
  });

  test('one of all replicas probes, and its answer closes the breaker for all', async () => {
    await openEverywhere();
    const { probe } = await awaitProbe();
    const all = await Promise.all(
      replicas.flatMap((each) => ['a', 'b', 'c'].map((name) => acquire(each, name))),
    );
    expect(all).toEqual(all.map(() => expect.objectContaining({ refused: 'breaker_open' })));
    probe.release('answered');
    await expect.poll(readStates).toEqual(['closed', 'closed', 'closed']);
    for (const replica of replicas) expect(await runCall(replica, 'answered')).toBe(true);
  });

  test('a failed probe doubles the open time for all', async () => {
    await openEverywhere();
    const { probe } = await awaitProbe();
    const reopenedMs = await measureMs(async () => {
      probe.release('unreachable');
      (await awaitProbe()).probe.release('unreachable');
    });
    expect(reopenedMs).toBeGreaterThanOrEqual(REOPENED_MS_MIN - 1);
    await expect
      .poll(() => replicas.map(({ breakers }) => breakers.find(DATABASE)?.openMs))
      .toEqual([4000, 4000, 4000]);
  });

  test('after a probe that showed nothing, another client probes first, on all replicas', async () => {
    await openEverywhere();
    const { probe, by } = await awaitProbe();
    probe.release('abandoned');
    const other = pick((by + 1) % 3);
    await expect.poll(() => other.breakers.find(DATABASE)?.lastProber).toBe('a');
    if (monotonicMs() < (other.breakers.find(DATABASE)?.othersUntilMs ?? 0))
      expect(await acquire(other, 'a')).toMatchObject({ refused: 'breaker_open' });
    await expect.poll(() => runCall(other, 'answered', 'b')).toBe(true);
  });

  test('if the probing replica crashes, another probes after five seconds', async () => {
    await openEverywhere();
    const waitedMs = await measureMs(async () => {
      await awaitProbe([pick(0)]);
      testRedis.wire.cut();
      await awaitProbe([pick(1), pick(2)]);
    });
    expect(waitedMs).toBeGreaterThanOrEqual(PROBE_MS - 1);
  });

  test('failures that only one client has seen cause refusals only for that client, on all replicas', async () => {
    for (let call = 0; call < 5; call++) await runCall(pick(0), 'unreachable', 'x');
    await expect.poll(() => pick(1).breakers.find(DATABASE)?.witness).toBe('x');
    const other = await acquire(pick(1), 'y');
    expect(other).toHaveProperty('release');
    if ('release' in other) other.release('answered');
    await expect.poll(() => readState(pick(0))).toBe('closed');
  });

  test('failures that two clients have seen on different replicas cause refusals for all clients', async () => {
    await Promise.all(
      ['x', 'y'].map(async (client, index) => {
        for (let call = 0; call < 5; call++) await runCall(pick(index), 'unreachable', client);
      }),
    );
    await expect
      .poll(() => replicas.map(({ breakers }) => breakers.find(DATABASE)?.witness))
      .toEqual([null, null, null]);
  });

  test('a replica that was answered meanwhile makes the others close the breaker again', async () => {
    const failing = await acquire(pick(0), 'b');
    // The precision of shared times depends on the response time of Redis.
    await pause(WIRE_TIMEOUT_MS);
    for (let call = 0; call < 20; call++) expect(await runCall(pick(1), 'answered', 'c')).toBe(true);
    for (let call = 0; call < 4; call++) await runCall(pick(0), 'unreachable', 'a');
    if ('release' in failing) failing.release('unreachable');
    expect(readState(pick(0))).not.toBe('closed');
    await expect.poll(() => readState(pick(0))).toBe('closed');
    expect(readState(pick(1))).toBe('closed');
  });

  test('calls to a database that answers do not query Redis, and no call waits for a Redis that is away', async () => {
    await runCall(pick(0), 'answered');
    testRedis.wire.freeze();
    for (let call = 0; call < 4; call++) expect(await runCall(pick(0), 'unreachable')).toBe(true);
    expect(await runCall(pick(0), 'answered')).toBe(true);
    await expect.poll(() => pick(0).redis.trouble).not.toBeNull();
    await open(pick(0));
    expect(await runCall(pick(0), 'unreachable')).toBe(false);
    // The replica probes at once, without a grant.
    const { databaseLimiters } = pick(0);
    await expect.poll(() => readState(pick(0))).toBe('half_open');
    const { signal } = new AbortController();
    const probe = databaseLimiters.acquire({
      database: DATABASE,
      client: 'a',
      deadlineMs: monotonicMs() + 60_000,
      signal,
      bound: null,
    });
    expect(probe).toHaveProperty('release');
    expect(await runCall(pick(1), 'answered')).toBe(true);
  });

  test('a probe is sent if Redis does not answer in time', async () => {
    await openEverywhere();
    await expect.poll(() => readState(pick(0))).toBe('half_open');
    testRedis.wire.freeze();
    expect(await runCall(pick(0), 'answered')).toBe(true);
    expect(readState(pick(0))).toBe('closed');
    // The others learn of the answer once Redis is back: the replica contradicts the opening that it reads there.
    testRedis.wire.mend();
    await expect.poll(() => pick(1).breakers.find(DATABASE)).toBeNull();
  });

  test('if Redis loses its data, replicas keep their state, and still only one probes', async () => {
    await Promise.all(replicas.map((each) => runCall(each, 'abandoned')));
    await openEverywhere();
    await expect.poll(readStates).not.toContain('closed');
    await testRedis.lose();
    expect(readStates()).not.toContain('closed');
    const { probe } = await awaitProbe();
    const all = await Promise.all(replicas.map((each) => acquire(each, 'b')));
    expect(all).toEqual(all.map(() => expect.objectContaining({ refused: 'breaker_open' })));
    probe.release('answered');
    await expect.poll(readStates).toEqual(['closed', 'closed', 'closed']);
  });

  test('after random results and failures, all replicas call again soon once the server answers', async () => {
    const seed = Date.now() % 1e6;
    onTestFailed(() => console.error(`seed ${seed}`));
    const random = createRandom(seed);
    const choose = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
    let isOver = false;
    const callAtRandom = async (replica: Replica) => {
      while (!isOver) {
        const outcome = await acquire(replica, choose(['a', 'b']));
        await pauseAtRandom(random, CALL_MS_MAX);
        if ('release' in outcome)
          outcome.release(
            choose(['unreachable', 'unreachable', 'timed_out', 'abandoned', 'overloaded', 'answered']),
          );
      }
    };
    const breakAtRandom = async () => {
      for (let trouble = 0; trouble < countCases(20); trouble++) {
        await pauseAtRandom(random, TROUBLE_MS_MAX);
        choose([
          testRedis.wire.cut,
          testRedis.wire.freeze,
          testRedis.wire.mend,
          testRedis.wire.mend,
          () => testRedis.wire.delay(1.5 * WIRE_TIMEOUT_MS),
          () => testRedis.lose(),
        ])();
      }
      isOver = true;
    };
    await Promise.all([breakAtRandom(), ...[...replicas, ...replicas].map(callAtRandom)]);
    testRedis.wire.mend();
    const serve = async (replica: Replica) => {
      let served = 0;
      while (served < 20) {
        served = (await runCall(replica, 'answered', choose(['a', 'b']))) ? served + 1 : 0;
        await pause();
      }
    };
    await Promise.all(replicas.map(serve));
    await expect.poll(() => replicas.map(({ redis }) => redis.trouble)).toEqual([null, null, null]);
    await Promise.all(replicas.map(serve));
    expect(replicas.map(({ databaseLimiters }) => databaseLimiters.states()[0])).toEqual(
      Array(3).fill(expect.objectContaining({ breaker: 'closed', running: 0, waiting: 0 })),
    );
  });

  test.each([
    ['of another type', async (redis: Redis, name: string) => redis.set(name, 'text')],
    [
      'texts in place of times',
      async (redis: Redis, name: string) => redis.hset(name, { since: 'x', until: '{}' }),
    ],
    ['invalid times', async (redis: Redis, name: string) => redis.hset(name, { since: 'nan', until: 'inf' })],
    [
      'times in the far future',
      async (redis: Redis, name: string) =>
        redis.hset(name, {
          since: 1,
          until: 1e300,
          open_ms: 1e300,
          probe_until: 1e300,
          witness: 'x'.repeat(1e6),
        }),
    ],
    [
      'an answer in the future',
      async (redis: Redis, name: string) => redis.hset(name, { answered_at: 1e300 }),
    ],
  ])('values of other programs are ignored: %s', async (_what, poison) => {
    const redis = new Redis(SERVER_URL);
    try {
      const [record, changes] = ['breaker', 'breakers'].map((kind) => pick(0).redis.name(kind)) as [
        string,
        string,
      ];
      await poison(redis, `${record}:${DATABASE}`);
      await redis.zadd(changes, Date.now() + 1000, DATABASE, Date.now() + 1000, 'x'.repeat(1e6));
      for (const each of replicas) expect(await runCall(each, 'answered')).toBe(true);
      await open(pick(0));
      await expect.poll(countKnowing).toBe(3);
      await redis.del(changes);
      await poison(redis, changes);
      await redis.del(`${record}:${DATABASE}`);
      await poison(redis, `${record}:${DATABASE}`);
      (await awaitProbe()).probe.release('answered');
      await expect.poll(() => readState(pick(0))).toBe('closed');
      expect(replicas.map(({ redis: { trouble } }) => trouble)).toEqual([null, null, null]);
    } finally {
      redis.disconnect();
    }
  });

  test('the number of stored databases and the length of their names are bounded', async () => {
    const redis = new Redis(SERVER_URL);
    try {
      const opening = {
        witness: null,
        sinceMs: monotonicMs(),
        openMs: 1000,
        untilMs: monotonicMs() + 1000,
        probeUntilMs: 0,
        lastProber: null,
        othersUntilMs: 0,
      };
      const { breakers } = pick(1);
      for (let name = 0; name < 1100; name++) breakers.publishOpened(`database ${name}`, opening, false);
      const long = 'x'.repeat(600);
      breakers.publishOpened(long, opening, false);
      expect(breakers.requestProbe(long, opening)).toBe(true);
      await expect.poll(() => pick(2).breakers.find('database 1099')).not.toBeNull();
      expect(await redis.zcard(pick(0).redis.name('breakers'))).toBe(1000);
      const countRecords = (name: string) => redis.exists(pick(0).redis.name('breaker', name));
      expect(await Promise.all(['database 99', 'database 100', long].map(countRecords))).toEqual([0, 1, 0]);
      expect(await redis.pttl(pick(0).redis.name('breaker', 'database 100'))).toBeGreaterThan(0);
    } finally {
      redis.disconnect();
    }
  });
});

import type { KeyLimit } from '@erp-proxy/contract';
import type { CallCountStore } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { monotonicMs, pause } from '../../../server/test/time.ts';
import { KeyLimits, type LimitedKey } from '../limits/key-limits.ts';
import { PERIODS, PeriodCounts } from '../limits/periods.ts';
import type { RedisClient } from './client.ts';
import { SharedKeyLimits } from './shared-key-limits.ts';
import { openTestRedis, type TestRedis, WIRE_TIMEOUT_MS } from './test-redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const NEVER_FULL = { requests: 1, seconds: 100_000, burst: 20 };
/** Leases end after five seconds, and are renewed each second. */
const LONGER_THAN_LEASE_MS = 6_500;

interface Replica {
  redis: RedisClient;
  limits: SharedKeyLimits;
  periods: PeriodCounts;
}

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let testRedis: TestRedis;
  let replicas: Replica[];
  /** The store that all replicas share. */
  let callCounts: CallCountStore;

  beforeEach(async () => {
    testRedis = await openTestRedis(SERVER_URL);
    replicas = [];
    callCounts = openMemoryStore().callCounts;
  });
  afterEach(async () => {
    await testRedis.close();
  });

  /** Starts a replica. Resolves when all replicas know of each other. */
  async function startReplica(url = SERVER_URL): Promise<Replica> {
    const redis = await testRedis.connect(url);
    const periods = new PeriodCounts({ clock: Date.now, store: callCounts });
    const replica = {
      redis,
      periods,
      limits: new SharedKeyLimits({ redis, nowMs: monotonicMs, clock: Date.now, periods }),
    };
    replicas.push(replica);
    await expect
      .poll(() => replicas.map((each) => each.redis.replicas))
      .toEqual(replicas.map(() => replicas.length));
    return replica;
  }

  test('decides like the limits of one process', async () => {
    const { limits } = await startReplica();
    const policies = fc.record(
      {
        concurrency: fc.integer({ min: 1, max: 5 }),
        per_day: fc.integer({ min: 1, max: 30 }),
        per_month: fc.integer({ min: 1, max: 30 }),
        rate: fc.record({
          requests: fc.integer({ min: 1, max: 20 }),
          // The rate is so slow that the duration of the test does not matter.
          seconds: fc.constant(10_000_000),
          burst: fc.integer({ min: 1, max: 20 }),
        }),
      } satisfies Record<KeyLimit, fc.Arbitrary<unknown>>,
      { requiredKeys: [] },
    );
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom('admit', 'admitMore', 'acquireMore', 'release'),
        count: fc.integer({ min: 1, max: 8 }),
        /** Whether the next step is in the same turn of the event loop. */
        isFollowed: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(policies, steps, async (policy, history) => {
        const key: LimitedKey = { id: `key-${run++}`, policy };
        const alone = new KeyLimits(monotonicMs, Date.now);
        let running = 0;
        let pending: Promise<void>[] = [];
        const endTurn = async () => {
          await Promise.all(pending);
          pending = [];
        };
        for (const { kind, count, isFollowed } of history) {
          if (kind === 'release') {
            // Only calls whose admission is known can end.
            await endTurn();
            const ended = Math.min(running, count);
            running -= ended;
            alone.release(key, ended);
            limits.release(key, ended);
          } else if (kind === 'acquireMore') {
            const taken = alone.acquireMore(key, count);
            pending.push(expect(limits.acquireMore(key, count)).resolves.toBe(taken));
            running += taken;
          } else {
            const asked = kind === 'admit' ? alone.admit(key) : alone.admitMore(key, count);
            const answer = kind === 'admit' ? limits.admit(key) : limits.admitMore(key, count);
            pending.push(answer.then((shared) => expect(roundTimes(shared)).toEqual(roundTimes(asked))));
            if (kind === 'admit' && asked.ok) running++;
          }
          if (!isFollowed) await endTurn();
        }
        await endTurn();
      }),
      { numRuns: countCases(60) },
    );
  });

  test('a policy that changes during a turn applies to the requests after the change', async () => {
    const { limits } = await startReplica();
    const admitWith = (per_day: number) => limits.admitMore({ id: 'a', policy: { per_day } }, 1);
    const answers = await Promise.all([admitWith(1), admitWith(1), admitWith(3), admitWith(2)]);
    expect(answers).toMatchObject([
      { ok: true, day: { remaining: 0 } },
      { ok: false, day: { remaining: 0 } },
      { ok: true, day: { remaining: 1 } },
      { ok: false, day: { remaining: 0 } },
    ]);
  });

  test('a call under a policy without concurrency ends no call of the same client', async () => {
    const bounded = { id: 'a', policy: { concurrency: 2 } };
    const other = { id: 'a', policy: { per_day: 10 } };
    const { limits } = await startReplica();
    for (const key of [bounded, bounded, other]) expect(await limits.admit(key)).toMatchObject({ ok: true });
    limits.release(other);
    expect(await limits.admit(bounded)).toMatchObject({ ok: false, rule: 'concurrency' });
    limits.release(bounded);
    expect(await limits.admit(bounded)).toMatchObject({ ok: true });
  });

  test('more requests than one script takes are admitted exactly up to the limit', async () => {
    const key = { id: 'a', policy: { rate: { ...NEVER_FULL, burst: 250 }, concurrency: 240, per_day: 245 } };
    const { limits } = await startReplica();
    const admitAll = async () => {
      const answers = await Promise.all(Array.from({ length: 300 }, () => limits.admit(key)));
      return answers.filter(({ ok }) => ok).length;
    };
    expect(await admitAll()).toBe(240);
    limits.release(key, 240);
    expect(await admitAll()).toBe(5);
  });

  test('limits the running calls of all replicas together; leases of a crashed replica expire', async () => {
    const key = { id: 'a', policy: { concurrency: 3 } };
    const dying = await startReplica(testRedis.wire.url);
    const living = await startReplica();
    expect(await dying.limits.acquireMore(key, 2)).toBe(2);
    expect(await living.limits.admit(key)).toMatchObject({ ok: true });
    expect(await living.limits.admit(key)).toMatchObject({ ok: false, rule: 'concurrency' });
    living.limits.release(key);
    expect(await living.limits.acquireMore(key, 9)).toBe(1);
    testRedis.wire.cut();
    await expect.poll(() => living.limits.acquireMore(key, 9)).toBe(2);
    expect(await living.limits.admit(key)).toMatchObject({ ok: false, rule: 'concurrency' });
  });

  test('a call that runs longer than a lease keeps counting as running', async () => {
    const key = { id: 'a', policy: { concurrency: 1 } };
    const { limits } = await startReplica();
    expect((await limits.admit(key)).ok).toBe(true);
    await pause(LONGER_THAN_LEASE_MS);
    expect((await limits.admit(key)).ok).toBe(false);
    limits.release(key);
    expect((await limits.admit(key)).ok).toBe(true);
  });

  test('a renewal does not bring an ended lease back where Redis has lost its scripts', async () => {
    const key = { id: 'a', policy: { concurrency: 1 } };
    const other = { id: 'b', policy: { concurrency: 1 } };
    const { limits, redis } = await startReplica();
    const inspector = new Redis(SERVER_URL);
    onTestFinished(() => inspector.disconnect());
    let heartbeats = 0;
    let endsCall = false;
    // Called after the renewal of the same heartbeat.
    redis.onHeartbeat(() => {
      heartbeats++;
      if (!endsCall) return;
      endsCall = false;
      limits.release(key);
    });
    expect((await limits.admit(key)).ok).toBe(true);
    const before = heartbeats;
    await expect.poll(() => heartbeats).toBeGreaterThan(before);
    await inspector.script('FLUSH');
    // Redis has the script of admissions again, but not that of renewals.
    expect((await limits.admit(other)).ok).toBe(true);
    endsCall = true;
    await expect.poll(() => endsCall).toBe(false);
    // This operation comes after the renewal, even if the renewal was sent again.
    await limits.admit(other);
    expect(await limits.admit(key)).toMatchObject({ ok: true });
  });

  describe.each(PERIODS)('$limit', ({ limit, name }) => {
    test('is counted for all replicas, exactly up to the limit', async () => {
      const key = { id: 'a', policy: { [limit]: 50 } };
      const both = [await startReplica(), await startReplica()];
      for (const { limits } of both) await limits.prepare(key);
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => both.map(({ limits }) => limits.admit(key))).flat(),
      );
      expect(answers.filter(({ ok }) => ok)).toHaveLength(50);
      expect(await both[0]?.limits.admit(key)).toMatchObject({ ok: false, rule: limit });
    });

    test('is counted on after a restart of a replica', async () => {
      const key = { id: 'a', policy: { [limit]: 5 } };
      const first = await startReplica();
      expect((await first.limits.admitMore(key, 3)).ok).toBe(true);
      await first.redis.close();
      replicas.length = 0;
      const { limits } = await startReplica();
      expect(await limits.admitMore(key, 3)).toMatchObject({
        ok: false,
        rule: limit,
        [name]: { remaining: 2 },
      });
      expect(await limits.admitMore(key, 2)).toMatchObject({ ok: true, [name]: { remaining: 0 } });
    });

    test('is counted as before when Redis loses its data, also the calls of earlier processes', async () => {
      const key = { id: 'a', policy: { [limit]: 10 } };
      const first = await startReplica();
      await first.limits.prepare(key);
      expect((await first.limits.admitMore(key, 4)).ok).toBe(true);
      await first.periods.close();
      await first.redis.close();
      replicas.length = 0;
      await testRedis.lose();
      const second = await startReplica();
      await second.limits.prepare(key);
      expect(await second.limits.admitMore(key, 3)).toMatchObject({ ok: true, [name]: { remaining: 3 } });
      await testRedis.lose();
      expect(await second.limits.admitMore(key, 1)).toMatchObject({ ok: true, [name]: { remaining: 2 } });
    });

    test('counts calls that were admitted while Redis was away afterwards, for every replica', async () => {
      const key = { id: 'a', policy: { [limit]: 20 } };
      const [hurt, well] = [await startReplica(testRedis.wire.url), await startReplica()];
      for (const { limits } of [hurt, well]) {
        await limits.prepare(key);
        expect((await limits.admitMore(key, 2)).ok).toBe(true);
      }
      for (const { periods } of [hurt, well]) await periods.flush();
      testRedis.wire.cut();
      await expect.poll(() => hurt.redis.trouble).not.toBeNull();
      // The replica knows the calls of the other one up to that one's last write to the store.
      for (let call = 0; call < 6; call++) expect((await hurt.limits.admitMore(key, 1)).ok).toBe(true);
      await hurt.periods.flush();
      testRedis.wire.restore();
      await expect.poll(() => hurt.redis.trouble).toBeNull();
      expect(await hurt.limits.admitMore(key, 1)).toMatchObject({ ok: true, [name]: { remaining: 9 } });
      expect(await well.limits.admitMore(key, 1)).toMatchObject({ ok: true, [name]: { remaining: 8 } });
    });
  });

  test('when Redis loses its data, running calls are counted as before', async () => {
    const key = { id: 'a', policy: { concurrency: 4 } };
    const [first, second] = [await startReplica(), await startReplica()];
    for (const { limits } of [first, second]) expect((await limits.admit(key)).ok).toBe(true);
    // Each replica renews its leases with its next heartbeat.
    await testRedis.lose();
    await expect.poll(() => acquireAndRelease(first, key, 4)).toBe(2);
  });

  test.each([
    ['admitted', 19],
    ['refused', 20],
  ])(
    'a replica that is cut off grants nothing of a burst that others have used: its last call was %s',
    async (_outcome, used) => {
      const key = { id: 'a', policy: { rate: NEVER_FULL } };
      const [hurt, well] = [await startReplica(testRedis.wire.url), await startReplica()];
      expect((await well.limits.admitMore(key, used)).ok).toBe(true);
      expect((await hurt.limits.admitMore(key, 1)).ok).toBe(used < 20);
      testRedis.wire.cut();
      await expect.poll(() => hurt.redis.trouble).not.toBeNull();
      expect((await hurt.limits.admitMore(key, 1)).ok).toBe(false);
    },
  );

  test.each([
    ['is cut off', 0, () => testRedis.wire.cut()],
    ['freezes', 1, () => testRedis.wire.freeze()],
    ['answers too late', 1, () => testRedis.wire.delay(2 * WIRE_TIMEOUT_MS)],
  ])(
    'when Redis %s, each replica enforces its share at once, and reports its calls afterwards',
    async (_what, twice, harm) => {
      const key = { id: 'a', policy: { rate: NEVER_FULL, concurrency: 8 } };
      const [hurt, well] = [await startReplica(testRedis.wire.url), await startReplica()];
      for (const { limits } of [hurt, well]) expect((await limits.admitMore(key, 2)).ok).toBe(true);
      harm();
      // The share is 10 calls, of which 2 are taken.
      let admitted = 0;
      for (let call = 0; call < 20; call++) if ((await hurt.limits.admitMore(key, 1)).ok) admitted++;
      expect(admitted).toBe(8);
      expect(hurt.redis.trouble).not.toBeNull();
      expect(await hurt.limits.acquireMore(key, 8)).toBe(4);
      // No call waits for a Redis that is known to be away: the result precedes the next turn of the event loop.
      const nextTurn = new Promise((resolve) => setImmediate(resolve, 'later'));
      expect(await Promise.race([hurt.limits.admit(key), nextTurn])).toMatchObject({ ok: false });

      testRedis.wire.restore();
      await expect.poll(() => hurt.redis.trouble).toBeNull();
      // 20 calls less 2, 2 and 8. The call whose answer from Redis was lost may count twice in the rate, if Redis
      // received it.
      expect(await hurt.limits.admitMore(key, 1)).toMatchObject({
        ok: true,
        rate: { remaining: 7 - twice },
      });
      expect(await well.limits.admitMore(key, 1)).toMatchObject({
        ok: true,
        rate: { remaining: 6 - twice },
      });
      expect(await acquireAndRelease(well, key, 8)).toBe(4);
    },
  );

  test('a running call can be released after Redis came back, or went away, since its admission', async () => {
    const key = { id: 'a', policy: { concurrency: 2 } };
    const { limits, redis } = await startReplica(testRedis.wire.url);
    expect((await limits.admit(key)).ok).toBe(true);
    testRedis.wire.cut();
    await expect.poll(() => redis.trouble).not.toBeNull();
    expect((await limits.admit(key)).ok).toBe(true);
    expect((await limits.admit(key)).ok).toBe(false);
    limits.release(key);
    expect((await limits.admit(key)).ok).toBe(true);
    testRedis.wire.restore();
    await expect.poll(() => redis.trouble).toBeNull();
    expect((await limits.admit(key)).ok).toBe(false);
    limits.release(key, 2);
    expect(await limits.acquireMore(key, 9)).toBe(2);
  });

  test('after a lowered rate or a clock set back, a key waits no longer than the time of its burst', async () => {
    const { limits } = await startReplica();
    expect((await limits.admitMore({ id: 'a', policy: { rate: NEVER_FULL } }, 20)).ok).toBe(true);
    const key = { id: 'a', policy: { rate: { requests: 10, seconds: 10 } } };
    expect(await limits.admit(key)).toMatchObject({ ok: false, retryAfterSeconds: 1 });
  });
});

/** Replaces numbers of seconds, which differ between two answers. */
function roundTimes(admitted: object): unknown {
  return JSON.parse(
    JSON.stringify(admitted, (name, value) => (/Seconds$/.test(name) && value !== null ? 1 : value)),
  );
}

async function acquireAndRelease({ limits }: Replica, key: LimitedKey, count: number): Promise<number> {
  const taken = await limits.acquireMore(key, count);
  limits.release(key, taken);
  return taken;
}

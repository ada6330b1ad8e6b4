import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { monotonicMs } from '../../../server/test/time.ts';
import { createAnswerSeal } from '../idempotency/answer-seal.ts';
import { RedisAnswers } from './answers.ts';
import { RedisClient, type RedisRefusal } from './client.ts';
import { createRedisIdempotency } from './idempotency.ts';
import { createTestNames, type TestNames } from './redis.fixture.ts';
import { SharedKeyLimits } from './shared-key-limits.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const policy = { rate: { requests: 1, seconds: 100_000, burst: 10 }, concurrency: 2 };
const CLAIM = { client: 'c', fingerprint: 'f', attempt: 'one', runsForMs: 60_000, expiresInMs: 120_000 };

/** Names in Redis with a value of another type, as another program or an operator may leave them. */
describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let names: TestNames;
  let inspector: Redis;
  let redis: RedisClient;
  let troubles: (string | null)[];
  let refusals: RedisRefusal[];

  beforeEach(async () => {
    names = createTestNames(SERVER_URL);
    inspector = new Redis(SERVER_URL);
    troubles = [];
    refusals = [];
    await open();
  });
  afterEach(async () => {
    await redis.close();
    inspector.disconnect();
    await names.drop();
  });

  async function open(): Promise<void> {
    redis = new RedisClient({
      url: SERVER_URL,
      prefix: names.prefix,
      answerTimeoutMs: 2_500,
      onTrouble: (trouble) => troubles.push(trouble),
      onRefusal: (refusal) => refusals.push(refusal),
    });
    await redis.start();
  }

  /** Sets the name to a value of a type that none of the scripts uses. */
  const spoil = (...parts: string[]) => inspector.lpush(redis.name(...parts), 'of another type');
  const createLimits = () => new SharedKeyLimits({ redis, nowMs: monotonicMs, clock: Date.now });

  test('the limits of that key are enforced in this process; those of other keys are still shared', async () => {
    const [one, other] = [createLimits(), createLimits()];
    await spoil('rate', 'a');
    for (let count = 0; count < 3; count++)
      expect(await one.admitMore({ id: 'a', policy }, 2)).toMatchObject({ ok: true });
    expect(await one.admitMore({ id: 'b', policy }, 2)).toMatchObject({ ok: true, rate: { remaining: 8 } });
    expect(await other.admitMore({ id: 'b', policy }, 2)).toMatchObject({ ok: true, rate: { remaining: 6 } });
    // This process has counted 6 of 10 calls.
    expect(await one.admitMore({ id: 'a', policy }, 5)).toMatchObject({ ok: false });
    expect(redis.trouble).toBeNull();
    expect(troubles).toEqual([null]);
    expect(refusals).toEqual([
      {
        said: expect.stringContaining('WRONGTYPE'),
        names: ['rate', 'running'].map((kind) => redis.name(kind, 'a')),
      },
    ]);
  });

  test('once the value is gone, the limits of that key are shared again, with calls admitted meanwhile', async () => {
    const limits = createLimits();
    await spoil('rate', 'a');
    expect(await limits.admitMore({ id: 'a', policy }, 3)).toMatchObject({ ok: true });
    await inspector.del(redis.name('rate', 'a'));
    expect(await limits.admitMore({ id: 'a', policy }, 1)).toMatchObject({
      ok: true,
      rate: { remaining: 6 },
    });
  });

  test('the concurrency of a key is counted in this process if its leases cannot be stored', async () => {
    const limits = createLimits();
    await spoil('running', 'a');
    expect(await limits.admit({ id: 'a', policy })).toMatchObject({ ok: true });
    expect(await limits.acquireMore({ id: 'a', policy }, 2)).toBe(1);
    limits.release({ id: 'a', policy }, 2);
    expect(await limits.admit({ id: 'a', policy })).toMatchObject({ ok: true });
    limits.release({ id: 'a', policy });
    expect(redis.trouble).toBeNull();
  });

  test('that idempotency key cannot be claimed; others can', async () => {
    const store = createRedisIdempotency(redis);
    await spoil('idempotency', 'a');
    await expect(store.claim({ ...CLAIM, id: 'a' })).rejects.toThrow('WRONGTYPE');
    expect(await store.claim({ ...CLAIM, id: 'b' })).toBeNull();
    expect(redis.trouble).toBeNull();
  });

  test('kept answers are not found, and once the value is gone, none from before a write is returned', async () => {
    const secret = randomBytes(32);
    const options = { redis, secret, seal: createAnswerSeal(secret), bytesMax: 10_000 };
    const answers = new RedisAnswers(options);
    const scope = { name: 'one', database: 'prod', model: 'res.partner' };
    const { mark } = await answers.find(scope, 60_000);
    answers.keep(scope, { askedMs: 0, writes: 0, mark }, 60_000, Buffer.from('[1]'));
    await expect.poll(async () => (await answers.find(scope, 60_000)).kept).not.toBeNull();
    await inspector.rename(redis.name('marks'), redis.name('aside'));
    await spoil('marks');
    expect(await answers.find(scope, 60_000)).toEqual({ kept: null, mark: null });
    await answers.drop('prod', 'res.partner');
    // The marks from before the write exist again, and must not be used.
    await inspector.rename(redis.name('aside'), redis.name('marks'));
    expect((await answers.find(scope, 60_000)).kept).toBeNull();
    expect(redis.trouble).toBeNull();
  });

  test('replicas are counted even if their name had another type when the process started', async () => {
    await redis.close();
    await spoil('replicas');
    troubles = [];
    await open();
    expect(redis.trouble).toBeNull();
    expect(redis.replicas).toBe(1);
    expect(troubles).toEqual([null]);
  });
});

import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  describeIdempotency,
  describeSharedIdempotency,
} from '../../../server/test/stores/idempotency-suite.ts';
import { createIdempotency, type Idempotency } from '../idempotency/idempotency.ts';
import { RedisAwayError, type RedisClient } from './client.ts';
import { createRedisIdempotency } from './idempotency.ts';
import { openTestRedis, PATIENCE_MS, type TestRedis } from './test-redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const CLAIM = {
  id: 'a',
  client: 'c',
  fingerprint: 'f',
  attempt: 'one',
  runsForMs: 60_000,
  expiresInMs: 120_000,
};
const CALL = { clientId: 'c', index: 0, operation: 'execute', bytes: new Uint8Array() };
const RUN = { runsForMs: 60_000, isReadOnly: false };

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let testRedis: TestRedis;
  /** Connected to the server through `wire`. */
  let one: RedisClient;
  let two: RedisClient;

  beforeEach(async () => {
    testRedis = await openTestRedis(SERVER_URL);
    [one, two] = await Promise.all([testRedis.connect(testRedis.wire.url, PATIENCE_MS), testRedis.connect()]);
  });
  afterEach(async () => {
    await testRedis.close();
  });

  /** Opens idempotency keys whose claims go through the wire. */
  function open(): Idempotency {
    const idempotency = createIdempotency({
      store: createRedisIdempotency(one),
      secret: new Uint8Array(32),
      keptForMs: 60_000,
      answerBytesMax: 1000,
      clientBounds: { keysMax: 10, answerBytesMax: 1000 },
      nowMs: () => 1,
      onError: () => {},
    });
    onTestFinished(() => idempotency.close());
    return idempotency;
  }

  describeIdempotency(() => createRedisIdempotency(one));
  describeSharedIdempotency(() => [createRedisIdempotency(one), createRedisIdempotency(two)]);

  test('accepts no claim while Redis is away, and has its claims when it is back', async () => {
    const store = createRedisIdempotency(one);
    expect(await store.claim(CLAIM)).toBeNull();
    testRedis.wire.cut();
    await expect(store.claim({ ...CLAIM, id: 'b' })).rejects.toThrow(RedisAwayError);
    await expect(store.find('a')).rejects.toThrow(RedisAwayError);
    testRedis.wire.restore();
    await expect.poll(() => one.trouble).toBeNull();
    expect(await store.claim({ ...CLAIM, attempt: 'two' })).toMatchObject({ state: 'running' });
    expect(await store.claim({ ...CLAIM, id: 'b' })).toBeNull();
  });

  test('releases claims whose answer was lost, once Redis answers again', async () => {
    const idempotency = open();
    const claim = (key: string) => idempotency.begin({ ...CALL, key }).claim(RUN);
    expect(await claim('a')).toBeNull();
    testRedis.wire.freeze();
    await expect(claim('b')).rejects.toThrow(RedisAwayError);
    testRedis.wire.restore();
    // When Redis is back, it has run the delayed operations.
    await expect.poll(() => one.trouble).toBeNull();
    const other = createRedisIdempotency(two);
    await expect.poll(() => other.measure('c')).toEqual({ keys: 1, answerBytes: 0 });
    expect(await claim('b')).toBeNull();
    expect(await claim('a')).toEqual({ kind: 'running' });
  });

  test('a release that Redis always refuses does not keep later claims from being released', async () => {
    const inspector = new Redis(SERVER_URL);
    onTestFinished(() => inspector.disconnect());
    const idempotency = open();
    const first = idempotency.begin({ ...CALL, key: 'a' });
    expect(await first.claim(RUN)).toBeNull();
    const [row = ''] = await inspector.keys(`${one.name('idempotency')}:*`);
    await inspector.set(row, 'of another program');
    await first.finish('not_run');
    testRedis.wire.freeze();
    await expect(idempotency.begin({ ...CALL, key: 'b' }).claim(RUN)).rejects.toThrow(RedisAwayError);
    testRedis.wire.restore();
    await expect.poll(() => one.trouble).toBeNull();
    const other = createRedisIdempotency(two);
    // The claim of `a` stays counted.
    await expect.poll(() => other.measure('c')).toEqual({ keys: 1, answerBytes: 0 });
    expect(await idempotency.begin({ ...CALL, key: 'b' }).claim(RUN)).toBeNull();
  });

  test('ignores counts of past hours, and values that it has not written', async () => {
    const store = createRedisIdempotency(one);
    await store.claim(CLAIM);
    const counts = ['1:keys', 7, '1:bytes', 7000, 'x', 7, '99999999:x', 7];
    await two.run('HSET', two.name('idempotency-use', 'c'), ...counts);
    expect(await store.measure('c')).toEqual({ keys: 1, answerBytes: 0 });
  });

  test('after a loss of data an id can be claimed again, and the first attempt cannot end the second', async () => {
    const store = createRedisIdempotency(one);
    expect(await store.claim(CLAIM)).toBeNull();
    await testRedis.lose();
    expect(await store.claim({ ...CLAIM, attempt: 'two' })).toBeNull();
    await store.complete('a', 'one', new Uint8Array(1), 1000);
    expect(await store.find('a')).toMatchObject({ state: 'running' });
  });
});

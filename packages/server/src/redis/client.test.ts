import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisClient } from './client.ts';
import { createTestNames, type TestNames } from './redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const HOUR_MS = 3_600_000;

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let names: TestNames;
  let inspector: Redis;
  let replicas: RedisClient[];

  beforeEach(() => {
    names = createTestNames(SERVER_URL);
    inspector = new Redis(SERVER_URL);
    replicas = [];
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.close();
    inspector.disconnect();
    await names.drop();
  });

  async function open(): Promise<RedisClient> {
    const replica = new RedisClient({ url: SERVER_URL, prefix: names.prefix, answerTimeoutMs: 2500 });
    replicas.push(replica);
    await replica.start();
    return replica;
  }

  test('counts no replica that died before the clock of Redis was set back, and all that run', async () => {
    const one = await open();
    const [seconds = 0] = await inspector.time();
    const ahead = seconds * 1000 + HOUR_MS;
    await inspector.zadd(one.name('replicas'), ahead, 'dead', ahead, one.replicaId);
    const other = await open();
    await expect.poll(() => other.replicas).toBe(2);
    await expect.poll(() => one.replicas).toBe(2);
  });
});

import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisClient, readRedisAddress } from './client.ts';
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

test('parses the address, and its label has no credentials', () => {
  expect(readRedisAddress('redis://127.0.0.1')).toEqual({
    label: 'redis 127.0.0.1:6379/0',
    host: '127.0.0.1',
    port: 6379,
    db: 0,
  });
  expect(readRedisAddress('rediss://ep:p%40ss@[::1]:6380/3')).toEqual({
    label: 'redis [::1]:6380/3',
    host: '::1',
    port: 6380,
    db: 3,
    username: 'ep',
    password: 'p@ss',
    tls: {},
  });
});

test('accepts the schemes of Valkey', () => {
  expect(readRedisAddress('valkey://:secret@cache')).toMatchObject({ host: 'cache', password: 'secret' });
  expect(readRedisAddress('valkeys://cache')).toMatchObject({ host: 'cache', tls: {} });
});

test.each([
  ['', /is not an address/],
  ['cache:6379', /is not an address/],
  ['http://:secret@cache', /is not an address/],
  ['redis://', /names no host/],
  ['redis://:secret@cache/main', /not a number/],
  ['redis://:secret@cache?family=6', /behind a \?/],
  ['redis://:sec%ret@cache', /password in redis.url/],
])('refuses %s, and does not repeat the password', (text, message) => {
  expect(() => readRedisAddress(text)).toThrow(RangeError);
  expect(() => readRedisAddress(text)).toThrow(message);
  expect(() => readRedisAddress(text)).not.toThrow(/sec.?ret/);
});

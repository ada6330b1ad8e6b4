/** Idempotency keys in Redis, `idempotency.store: redis`: what a caller meets while it is slow, broken or has forgotten. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type App, createApp } from '../../src/app/app.ts';
import { startTestServer, type TestServer } from '../../src/redis/redis.fixture.ts';
import { createWire, type Wire } from '../../src/redis/wire.fixture.ts';
import { makeSettings, PROGRAM_VERSION, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { POLL } from '../poll.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';

const HAS_SERVER = spawnSync('redis-server', ['--version']).status === 0;
const REFUSED = {
  status: 503,
  headers: { 'retry-after': '5' },
  json: { error: { code: -32013, data: { outcome: 'not_sent', retryable: true } } },
};

type Act = () => unknown;

/** Skipped where there is no redis-server to start. */
describe.skipIf(!HAS_SERVER)('on a Redis of its own', () => {
  let redis: TestServer;
  let wire: Wire;
  let upstream: ScriptedUpstream;
  let proxy: RunningProxy;
  /** Done before Odoo answers. */
  let meanwhile: () => Promise<unknown>;

  beforeEach(async () => {
    meanwhile = async () => {};
    redis = await startTestServer();
    wire = await createWire(redis.url);
    upstream = await startUpstream(async (socket, _, index) => {
      await meanwhile();
      answerLikeOdoo(socket, printResult(`${index + 1}`));
    });
    proxy = await startProxy({
      allow: [upstream.url],
      settings: { 'redis.url': wire.url, 'idempotency.store': 'redis' },
    });
  });
  afterEach(async () => {
    await proxy.close();
    await upstream.close();
    await wire.close();
    await redis.kill();
  });

  const create = () => makeCall(upstream.url, { action: 'create', params: [{ name: 'a' }] });
  const send = (key: string) => proxy.call(create(), { 'idempotency-key': key });
  const isAway = async () => {
    const answer = await fetch(`${proxy.url}/readyz`);
    return ((await answer.json()) as { checks: { redis: string } }).checks.redis !== 'ok';
  };

  test('the same call under the same key gets the first answer again, and Redis cannot read it', async () => {
    let first = await send('order 17');
    // On a busy machine the Redis that has just started may be slow once; what is refused then is not run.
    while (first.status === 503) first = await send('order 17');
    const again = await send('order 17');
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(Buffer.compare(again.body, first.body)).toBe(0);
    expect(upstream.requests).toHaveLength(1);
    const [name = ''] = (await redis.command('KEYS', '*:idempotency:*')) as string[];
    const row = JSON.stringify([name, await redis.command('HGETALL', name)]);
    expect(row).toContain('fingerprint');
    expect(row).not.toMatch(/order 17|jsonrpc|result/);
  });

  test.each<[string, Act, Act]>([
    ['is away', () => wire.cut(), () => wire.mend()],
    ['says nothing', () => wire.freeze(), () => wire.mend()],
    ['answers after 300 ms', () => wire.delay(300), () => wire.mend()],
    [
      'is full',
      () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'only reads after a failover',
      () => redis.command('REPLICAOF', '127.0.0.1', '1'),
      () => redis.command('REPLICAOF', 'NO', 'ONE'),
    ],
  ])(
    'a call under a key is not sent while Redis %s, others are, and then it is run once',
    async (_, harm, mend) => {
      await harm();
      for (let time = 0; time < 3; time++) expect(await send('a')).toMatchObject(REFUSED);
      expect(upstream.requests).toHaveLength(0);
      expect((await proxy.call(create())).status, 'without a key').toBe(200);
      await mend();
      await expect.poll(isAway, POLL).toBe(false);
      // What Redis may have claimed without saying so is taken back.
      await expect.poll(async () => (await send('a')).json.result, POLL).toBe(2);
      expect((await send('a')).headers['idempotency-replayed']).toBe('true');
      expect(upstream.requests).toHaveLength(2);
    },
  );

  test.each<[string, Act, Act]>([
    ['goes away', () => wire.cut(), () => wire.mend()],
    ['begins to answer after 300 ms', () => wire.delay(300), () => wire.mend()],
    [
      'becomes full',
      () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
  ])('a caller has its answer although Redis %s, and nothing is run twice', async (_, harm, mend) => {
    meanwhile = async () => harm();
    const first = await proxy.call(create(), { 'idempotency-key': 'a', 'x-request-timeout': '1' });
    expect(first).toMatchObject({ status: 200, json: { result: 1 } });
    await mend();
    await expect.poll(isAway, POLL).toBe(false);
    // A slow Redis may have kept it after all.
    await expect
      .poll(async () => {
        const { json } = await send('a');
        return json.error?.code ?? json.result;
      }, POLL)
      .toSatisfy((known) => known === -32015 || known === 1);
    expect(upstream.requests).toHaveLength(1);
  });

  test('a Redis that loses its data while a call runs: its caller has the answer, and a retry is run again', async () => {
    meanwhile = () => redis.command('FLUSHALL');
    expect((await send('a')).json.result).toBe(1);
    meanwhile = async () => {};
    // Nobody knows of the first attempt any more: docs/idempotency.md says which settings of Redis prevent it.
    expect((await send('a')).json.result).toBe(2);
    expect((await send('a')).headers['idempotency-replayed']).toBe('true');
  });

  test('the log says at the start what Redis may lose by its settings', async () => {
    const warnings = () => proxy.log.filter(({ msg }) => msg === 'redis can lose idempotency keys');
    await expect
      .poll(warnings, POLL)
      .toMatchObject([{ level: 'warn', losses: [expect.stringMatching(/appendonly is off/)] }]);
  });

  test('a Redis user of its own needs no more than docs/replicas.md says', async () => {
    const page = readFileSync(new URL('../../../../docs/replicas.md', import.meta.url), 'utf8');
    const [, names = '', commands = ''] = /needs `(\S+)` and the commands `([^`]+)`/.exec(page) ?? [];
    const rights = commands.split(/\s+/).map((command) => `+${command}`);
    await redis.command('ACL', 'SETUSER', 'limited', 'on', '>word', names, '-@all', ...rights);
    const limited = await startProxy({
      allow: [upstream.url],
      settings: { 'redis.url': redis.url.replace('//', '//limited:word@'), 'idempotency.store': 'redis' },
    });
    try {
      const call = (key: string) => limited.call(create(), { 'idempotency-key': key });
      expect((await call('a')).status).toBe(200);
      expect((await call('a')).headers['idempotency-replayed']).toBe('true');
      meanwhile = async () => upstream.sockets.forEach((socket) => void socket.destroy());
      expect((await call('b')).status).toBe(502);
      expect((await call('b')).json.error.code).toBe(-32015);
      expect(limited.log.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await limited.close();
    }
  });

  test('the bound of keys holds in Redis', async () => {
    const bounded = await startProxy({
      allow: [upstream.url],
      settings: { 'redis.url': wire.url, 'idempotency.store': 'redis', 'idempotency.clientKeysMax': '2' },
    });
    try {
      const statuses = [];
      for (const key of ['a', 'b', 'c', 'a'])
        statuses.push((await bounded.call(create(), { 'idempotency-key': key })).status);
      expect(statuses).toEqual([200, 200, 429, 200]);
    } finally {
      await bounded.close();
    }
  });
});

describe('settings that do not go together are refused at the start', () => {
  const start = async (settings: Record<string, string>): Promise<App> =>
    createApp({
      version: PROGRAM_VERSION,
      settings: makeSettings({ 'store.url': 'memory:', 'idempotency.store': 'redis', ...settings }),
    });

  test.each([
    [{}, /idempotency\.store is redis, and redis\.url is empty/],
    [
      { 'redis.url': 'redis://127.0.0.1:1', 'idempotency.answerBytesMax': '2MiB' },
      /idempotency\.answerBytesMax is more than 1MiB/,
    ],
  ])('%j', async (settings, says) => {
    await expect(start(settings)).rejects.toThrow(says);
  });
});

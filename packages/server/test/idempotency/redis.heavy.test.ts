/** Tests idempotency keys in Redis (`idempotency.store: redis`) while Redis is slow, broken or has lost its data. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { startTestServer, type TestServer } from '@erp-proxy/traffic/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type App, createApp } from '../../src/app/app.ts';
import { makeSettings, PROGRAM_VERSION, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { createWire, type Wire } from '../wire.ts';

const HAS_SERVER = spawnSync('redis-server', ['--version']).status === 0;
const REFUSED = {
  status: 503,
  headers: { 'retry-after': '5' },
  json: { error: { code: -32013, data: { outcome: 'not_sent', retryable: true } } },
};

type Run = () => unknown;
type ProxyAnswer = Awaited<ReturnType<RunningProxy['call']>>;

/** Skipped if there is no redis-server to start. */
describe.skipIf(!HAS_SERVER)('on a separate Redis', () => {
  let redis: TestServer;
  let wire: Wire;
  let upstream: ScriptedUpstream;
  let proxy: RunningProxy;
  /** Runs before Odoo answers. */
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

  test('a retry gets the first answer, and the answer cannot be read in Redis', async () => {
    const first = await repeatRefused(() => send('order 17'));
    const again = await repeatRefused(() => send('order 17'));
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(Buffer.compare(again.body, first.body)).toBe(0);
    expect(upstream.requests).toHaveLength(1);
    const [name = ''] = (await redis.command('KEYS', '*:idempotency:*')) as string[];
    const row = JSON.stringify([name, await redis.command('HGETALL', name)]);
    expect(row).toContain('fingerprint');
    expect(row).not.toMatch(/order 17|jsonrpc|result/);
  });

  test.each<[string, Run, Run]>([
    ['is away', () => wire.cut(), () => wire.restore()],
    ['does not answer', () => wire.freeze(), () => wire.restore()],
    ['answers after 300 ms', () => wire.delay(300), () => wire.restore()],
    [
      'is full',
      () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'is read-only after a failover',
      () => redis.command('REPLICAOF', '127.0.0.1', '1'),
      () => redis.command('REPLICAOF', 'NO', 'ONE'),
    ],
  ])(
    'a call with a key is not sent while Redis %s, other calls are, and then it runs once',
    async (_, harm, restore) => {
      await harm();
      for (let time = 0; time < 3; time++) expect(await send('a')).toMatchObject(REFUSED);
      expect(upstream.requests).toHaveLength(0);
      expect((await proxy.call(create())).status, 'without a key').toBe(200);
      await restore();
      await expect.poll(isAway).toBe(false);
      // The proxy releases claims that Redis stored although it could not answer.
      await expect.poll(async () => (await send('a')).json.result).toBe(2);
      const again = await repeatRefused(() => send('a'));
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(upstream.requests).toHaveLength(2);
    },
  );

  test.each<[string, Run, Run]>([
    ['goes away', () => wire.cut(), () => wire.restore()],
    ['begins to answer after 300 ms', () => wire.delay(300), () => wire.restore()],
    [
      'becomes full',
      () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
  ])('a caller gets its answer although Redis %s, and nothing runs twice', async (_, harm, restore) => {
    meanwhile = async () => harm();
    const headers = { 'idempotency-key': 'a', 'x-request-timeout': '3' };
    const first = await repeatRefused(() => proxy.call(create(), headers));
    expect(first).toMatchObject({ status: 200, json: { result: 1 } });
    await restore();
    await expect.poll(isAway).toBe(false);
    // A slow Redis may still have stored the answer.
    await expect
      .poll(async () => {
        const { json } = await send('a');
        return json.error?.code ?? json.result;
      })
      .toSatisfy((known) => known === -32015 || known === 1);
    expect(upstream.requests).toHaveLength(1);
  });

  test('if Redis loses its data during a call, the caller gets its answer, and a retry runs again', async () => {
    meanwhile = () => redis.command('FLUSHALL');
    expect((await repeatRefused(() => send('a'))).json.result).toBe(1);
    meanwhile = async () => {};
    // The first attempt is forgotten. docs/idempotency.md has the settings of Redis that prevent this.
    expect((await repeatRefused(() => send('a'))).json.result).toBe(2);
    expect((await repeatRefused(() => send('a'))).headers['idempotency-replayed']).toBe('true');
  });

  test('the log has a warning at the start about settings of Redis that can lose data', async () => {
    const warnings = () => proxy.log.filter(({ msg }) => msg === 'redis can lose idempotency keys');
    await expect
      .poll(warnings)
      .toMatchObject([{ level: 'warn', losses: [expect.stringMatching(/appendonly is off/)] }]);
  });

  test('a Redis user needs only the commands in docs/replicas.md', async () => {
    const page = readFileSync(new URL('../../../../docs/replicas.md', import.meta.url), 'utf8');
    const [, names = '', commands = ''] = /needs `(\S+)` and the commands `([^`]+)`/.exec(page) ?? [];
    const rights = commands.split(/\s+/).map((command) => `+${command}`);
    await redis.command('ACL', 'SETUSER', 'limited', 'on', '>word', names, '-@all', ...rights);
    const limited = await startProxy({
      allow: [upstream.url],
      settings: { 'redis.url': redis.url.replace('//', '//limited:word@'), 'idempotency.store': 'redis' },
    });
    try {
      const call = (key: string) => repeatRefused(() => limited.call(create(), { 'idempotency-key': key }));
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

  test('the bound of keys is enforced in Redis', async () => {
    const bounded = await startProxy({
      allow: [upstream.url],
      settings: { 'redis.url': wire.url, 'idempotency.store': 'redis', 'idempotency.clientKeysMax': '2' },
    });
    try {
      const statuses = [];
      for (const key of ['a', 'b', 'c', 'a'])
        statuses.push((await repeatRefused(() => bounded.call(create(), { 'idempotency-key': key }))).status);
      expect(statuses).toEqual([200, 200, 429, 200]);
    } finally {
      await bounded.close();
    }
  });
});

/**
 * Repeats a call that is refused because Redis is slow on a busy machine. A refused call was not sent, so that the
 * promises of a test apply to the attempt that is not refused.
 */
async function repeatRefused(call: () => Promise<ProxyAnswer>): Promise<ProxyAnswer> {
  for (let times = 1; ; times++) {
    const answer = await call();
    if (answer.status !== 503 || times === 50) return answer;
    await pause();
  }
}

describe('a start refuses inconsistent settings', () => {
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

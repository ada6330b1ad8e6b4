import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisAnswers } from '@erp-proxy/traffic/redis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { measureMs } from '../time.ts';
import { watchConnections } from '../watch-requests.ts';
import { createWire, type Wire } from '../wire.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
/** The same time as in redis/client.ts. */
const ANSWER_TIMEOUT_MS = 100;
const MINUTE = { 'cache-control': 'max-age=60' };

test('cache.store: redis without a redis.url is refused with an explanation', async () => {
  await expect(startProxy({ settings: { 'cache.store': 'redis' } })).rejects.toThrow(
    'cache.store is redis, and redis.url is empty: set it, or cache.store to memory.',
  );
});

describe.skipIf(SERVER_URL === '')('two proxies that keep answers in the Redis of TEST_REDIS_URL', () => {
  let folder: string;
  let wire: Wire;
  let upstream: ScriptedUpstream;
  let one: RunningProxy;
  let two: RunningProxy;
  /** All proxies that were started, to be closed before their folder is removed. */
  let started: RunningProxy[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    started = [];
    wire = await createWire(SERVER_URL);
    upstream = await startUpstream((socket, _request, index) =>
      answerLikeOdoo(socket, printResult(String(index))),
    );
    [one, two] = [await start(), await start()];
    // On a busy machine, Redis can answer too late at the start. When Redis is back, all kept answers are dropped
    // again, so the test waits for the drop.
    for (const proxy of [one, two])
      await expect.poll(() => readState(proxy)).not.toBe('redis for kept answers is away');
  });
  afterEach(async () => {
    await Promise.all(started.map((proxy) => proxy.close()));
    await upstream.close();
    await wire.close();
    rmSync(folder, { recursive: true });
  });

  const start = async (redisUrl = wire.url) => {
    const proxy = await startProxy({
      allow: [upstream.url],
      settings: { 'store.url': `sqlite:${folder}/store.db`, 'redis.url': redisUrl, 'cache.store': 'redis' },
    });
    started.push(proxy);
    return proxy;
  };
  const read = (changes = {}) => makeCall(upstream.url, { action: 'search_read', ...changes });
  const write = (changes = {}) => read({ action: 'write', params: [[1], {}], ...changes });
  const ask = async (proxy: RunningProxy, headers: Record<string, string> = MINUTE, changes = {}) =>
    (await proxy.call(read(changes), headers)).json.result;
  /**
   * Waits until the proxy has kept an answer to the read, and returns the answer. Redis may answer too late on a busy
   * machine, so more than one call may be sent to Odoo.
   */
  const keep = async (proxy: RunningProxy) => {
    let result = await ask(proxy);
    const isKept = async () => {
      const before = result;
      result = await ask(proxy);
      return result === before;
    };
    await expect.poll(isKept).toBe(true);
    return result;
  };
  /** The last log message of the proxy about its connection for kept answers. */
  const readState = (proxy: RunningProxy) =>
    proxy.log.filter(({ msg }) => String(msg).startsWith('redis for kept answers')).at(-1)?.['msg'];
  const isBack = (proxy: RunningProxy) => readState(proxy) === 'redis for kept answers answers';

  test('return answers that the other one keeps, with their age', async () => {
    const result = await keep(one);
    const sent = upstream.requests.length;
    const kept = await two.call(read({ id: 'mine' }), MINUTE);
    expect([kept.json.id, kept.json.result, kept.headers['age']]).toEqual([
      'mine',
      result,
      expect.stringMatching(/^\d$/),
    ]);
    expect(upstream.requests).toHaveLength(sent);
    expect(await ask(two, {})).toBe(sent);
    const another = { url: upstream.url, db: 'prod', user_id: 2, api_key: 'another-key-0123456789' };
    expect(await ask(two, MINUTE, { erp_instance: another })).toBe(sent + 1);
    expect(await ask(two, MINUTE, { keyword: { context: { allowed_company_ids: [2] } } })).toBe(sent + 2);
  });

  test.each([
    ['a write', {}],
    ['a method that may write to any model', { action: 'action_confirm', model_id: 'sale.order' }],
  ])('drop answers that the other one keeps after %s', async (_what, changes) => {
    const before = await keep(one);
    expect((await two.call(write(changes))).status).toBe(200);
    expect(await ask(one)).toBeGreaterThan(before);
  });

  test('keep answers of other models', async () => {
    const isStillKept = async () => {
      const before = await keep(one);
      await two.call(write({ model_id: 'sale.order' }));
      return (await ask(one)) === before;
    };
    // A Redis that answers too late is a call to Odoo; an answer that is dropped is one every time.
    await expect.poll(isStillKept).toBe(true);
  });

  test('call Odoo while Redis is away, and return no earlier answer when it is back', async () => {
    const before = await keep(one);
    wire.cut();
    expect(await ask(one)).toBeGreaterThan(before);
    expect((await one.call(write())).status).toBe(200);
    const last = await ask(two);
    wire.restore();
    await expect.poll(() => isBack(one)).toBe(true);
    await expect.poll(() => isBack(two)).toBe(true);
    expect(await ask(two)).toBeGreaterThan(last);
    expect((await send(`${one.url}/readyz`)).status).toBe(200);
  });

  test('return no answer from before a write by a process that had lost Redis, and was restarted', async () => {
    const reader = await start(SERVER_URL);
    const before = await keep(reader);
    wire.cut();
    expect((await two.call(write())).status).toBe(200);
    expect(await ask(reader)).toBe(before);
    await two.close();
    two = await start(SERVER_URL);
    expect(await ask(reader)).toBeGreaterThan(before);
  });

  test('wait only 100 ms for a slow Redis', async () => {
    await keep(one);
    const sent = upstream.requests.length;
    wire.freeze();
    // Redis never answers this question.
    const waitedMs = await measureMs(async () => expect(await ask(one)).toBe(sent));
    expect(waitedMs).toBeGreaterThanOrEqual(ANSWER_TIMEOUT_MS - 1);
    expect(await ask(one)).toBe(sent + 1);
  });

  test('a call whose caller leaves during the query of Redis is not sent', async () => {
    await keep(one);
    const sent = upstream.requests.length;
    wire.freeze();
    const watched = watchConnections(one.url);
    const { find } = RedisAnswers.prototype;
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const spy = vi.spyOn(RedisAnswers.prototype, 'find').mockImplementation(async function (
      this: RedisAnswers,
      ...given
    ) {
      asked.resolve();
      await left.promise;
      return find.apply(this, given);
    });
    onTestFinished(() => spy.mockRestore());
    const request = httpRequest(`${one.url}/api/erp/execute`, {
      method: 'POST',
      agent: false,
      headers: { 'x-proxy-api': one.key, 'content-type': 'application/json', ...MINUTE },
    });
    request.on('error', () => {});
    request.end(JSON.stringify(read({ params: [[7]] })));
    await asked.promise;
    request.destroy();
    await expect.poll(() => watched.closed).toBe(1);
    left.resolve();
    await expect.poll(() => one.log.some(({ outcome }) => outcome === 'caller_left')).toBe(true);
    expect(upstream.requests).toHaveLength(sent);
    await expect.poll(() => one.app.databaseLimiters.states()[0]?.running).toBe(0);
  });
});

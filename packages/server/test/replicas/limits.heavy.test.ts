import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { createWire, type Wire } from '../wire.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const POLICY = { origins: ['*'], models: { '*': ['*'] }, rate: { requests: 4, seconds: 3600 } };

describe.skipIf(SERVER_URL === '')('two proxies with one store and the Redis of TEST_REDIS_URL', () => {
  let folder: string;
  let wire: Wire;
  let proxies: RunningProxy[];
  let key: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
    wire = await createWire(SERVER_URL);
    const settings = { 'store.url': `sqlite:${folder}/store.db`, 'redis.url': wire.url };
    proxies = [await startProxy({ settings }), await startProxy({ settings })];
    ({ key } = await proxies[0]!.app.keys.create({ name: 'limited', policy: POLICY }));
  });
  afterEach(async () => {
    for (const proxy of proxies) await proxy.close();
    await wire.close();
    rmSync(folder, { recursive: true });
  });

  const countTimesAway = (among: RunningProxy[]) =>
    among.flatMap(({ log }) => log.filter(({ msg }) => msg === 'redis is away')).length;
  /** Makes six calls with a new key. */
  const countTogether = async () => {
    const readBoth = () => Promise.all(proxies.map((proxy) => readReadiness(proxy)));
    const ready = { checks: { redis: 'ok' } };
    await expect.poll(readBoth).toMatchObject([ready, ready]);
    const before = countTimesAway(proxies);
    ({ key } = await proxies[0]!.app.keys.create({ name: 'limited', policy: POLICY }));
    const statuses = [];
    for (let round = 0; round < 3; round++) statuses.push(...(await callEach()).map(({ status }) => status));
    return { statuses, wasAway: countTimesAway(proxies) > before };
  };
  /** The body is invalid, and is refused after the limits were checked, so that the calls reach no upstream. */
  const callEach = () => Promise.all(proxies.map((proxy) => proxy.post('{}', { 'x-proxy-api': key })));
  const readReadiness = async (proxy = proxies[0]!) => {
    const { status, body } = await send(`${proxy.url}/readyz`);
    return { code: status, ...JSON.parse(body.toString()) };
  };
  const readMetrics = async () => `${(await send(`${proxies[0]!.url}/metrics`)).body}`;

  test('count the calls of a key together', async () => {
    // On a busy machine, Redis may take longer than 100 ms. Then each proxy counts alone, as in the next test.
    let attempt = await countTogether();
    for (let retries = 0; attempt.wasAway && retries < 10; retries++) attempt = await countTogether();
    expect(attempt).toEqual({ wasAway: false, statuses: [400, 400, 400, 400, 429, 429] });
  });

  test('work without Redis, and report it', async () => {
    // On a busy machine, Redis may take longer than 100 ms, so that it counts as away for a moment.
    await expect.poll(() => readReadiness()).toMatchObject({ code: 200, checks: { redis: 'ok' } });
    await expect.poll(readMetrics).toContain('erp_proxy_redis_up 1');
    const timesAway = countTimesAway(proxies.slice(0, 1));
    wire.cut();
    await expect
      .poll(() => readReadiness())
      .toMatchObject({
        code: 200,
        status: 'degraded',
        checks: { redis: 'Redis is away; each process keeps its share of the limits' },
      });
    expect(await readMetrics()).toContain('erp_proxy_redis_up 0');
    // Each proxy allows its share of 4 calls. The log contains the reason.
    expect((await callEach()).map(({ status }) => status)).toEqual([400, 400]);
    expect(countTimesAway(proxies.slice(0, 1))).toBe(timesAway + 1);
    wire.restore();
    await expect.poll(() => readReadiness()).toMatchObject({ checks: { redis: 'ok' } });
  });
});

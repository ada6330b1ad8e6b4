/** Tests `GET /metrics`: its series, and that callers can neither add series nor read secrets there. */
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { measureMs, runLater } from '../time.ts';
import { UPSTREAM_KEY, waitFor } from './expectations.ts';

let sandbox: Sandbox;
let upstream: ScriptedUpstream;
let proxy: ErpProxy;
let release: () => void = () => {};
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

async function start(script: Parameters<typeof startUpstream>[0]): Promise<void> {
  upstream = closeAfterTest(await startUpstream(script));
  proxy = closeAfterTest(
    await startProxy({
      allow: [upstream.url, sandbox.url],
      // Allows many new credentials at once.
      settings: { 'upstream.timeoutMs': '300000', 'upstream.refusedCredentialsTtlMs': '0' },
    }),
  );
}

const readMetrics = async () => (await send(`${proxy.url}/metrics`)).body.toString();

/** The value of one series; undefined if there is none. */
async function readSeries(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  for (const line of (await readMetrics()).split('\n')) {
    const [, found, text = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found !== name) continue;
    const has = Object.fromEntries(
      [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, given]) => [key, given]),
    );
    if (Object.entries(labels).every(([key, wanted]) => has[key] === wanted)) return Number(value);
  }
  return undefined;
}

const sandboxCall = (changes: Record<string, unknown>) => ({
  action: 'read',
  model_id: 'res.partner',
  params: [[1]],
  erp_instance: { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: sandbox.users.admin.apiKey },
  ...changes,
});

test('counts calls by class, outcome and upstream, and refused requests', async () => {
  await start(() => {});
  await proxy.post(sandboxCall({}));
  await proxy.post(sandboxCall({ action: 'write', params: [[1], { no_such: 1 }] }));
  await proxy.post(sandboxCall({ action: 'my_method' }));
  await proxy.post([sandboxCall({}), sandboxCall({ action: 'search', params: [[]] })]);
  await proxy.post(sandboxCall({ action: '_private' }));
  await proxy.post('not JSON');
  await proxy.post('{}', { 'x-proxy-api': 'bad' });
  const calls = 'erp_proxy_calls_total';
  await waitFor(
    async () => (await readSeries(calls, { class: 'read', outcome: 'ok', upstream: sandbox.url })) === 3,
  );
  expect(await readSeries(calls, { class: 'write', outcome: 'query_invalid', upstream: sandbox.url })).toBe(
    1,
  );
  expect(
    await readSeries(calls, { class: 'other', outcome: 'method_not_found', upstream: sandbox.url }),
  ).toBe(1);
  expect(await readSeries(calls, { class: 'none', outcome: 'action_invalid', upstream: 'none' })).toBe(1);
  expect(await readSeries('erp_proxy_refused_requests_total', { outcome: 'parse_error' })).toBe(1);
  expect(await readSeries('erp_proxy_refused_requests_total', { outcome: 'unauthorized' })).toBe(1);
  expect(await readSeries('erp_proxy_faults_total')).toBe(0);
  expect(await readSeries('erp_proxy_upstream_duration_seconds_count', { class: 'read' })).toBe(3);
  expect(await readSeries('erp_proxy_proxy_duration_seconds_count', { class: 'read' })).toBe(3);
});

/** Longer than all other parts of the call take on a machine that is not busy. */
const UPSTREAM_MS = 200;

test("separates the time of Odoo from the proxy's", async () => {
  await start((socket) => runLater(UPSTREAM_MS, () => answerLikeOdoo(socket, printResult('true'))));
  const tookMs = await measureMs(async () => {
    await proxy.post(makeCall(upstream.url));
    await waitFor(async () => (await readSeries('erp_proxy_upstream_duration_seconds_count')) === 1);
  });
  const upstreamSeconds = (await readSeries('erp_proxy_upstream_duration_seconds_sum')) as number;
  const proxySeconds = (await readSeries('erp_proxy_proxy_duration_seconds_sum')) as number;
  expect(upstreamSeconds * 1000).toBeGreaterThanOrEqual(UPSTREAM_MS - 1);
  // No time is counted twice.
  expect((upstreamSeconds + proxySeconds) * 1000).toBeLessThan(tookMs + 1);
});

test('counts calls in flight, and returns to zero', async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await start(async (socket) => {
    await released;
    answerLikeOdoo(socket, printResult('true'));
  });
  // The first calls with the same new credentials wait for one another, so each call has its own credentials.
  const calls = Array.from({ length: 7 }, (_, index) =>
    proxy.post(
      makeCall(upstream.url, {
        erp_instance: { url: upstream.url, db: 'prod', user_id: index + 1, api_key: 'k' },
      }),
    ),
  );
  await waitFor(() => upstream.requests.length === 7);
  expect(await readSeries('erp_proxy_requests_in_flight')).toBe(7);
  release();
  await Promise.all(calls);
  await proxy.post('not JSON');
  await proxy.post('{}', { 'x-proxy-api': 'bad' });
  await waitFor(async () => (await readSeries('erp_proxy_requests_in_flight')) === 0);
});

test('keeps the name of an upstream that has answered before when it stops answering', async () => {
  let isDown = false;
  await start((socket) => {
    if (isDown) socket.resetAndDestroy();
    else answerLikeOdoo(socket, printResult('true'));
  });
  await proxy.post(makeCall(upstream.url));
  isDown = true;
  await proxy.post(makeCall(upstream.url, { action: 'write' }));
  const labels = { outcome: 'upstream_unreachable', upstream: upstream.url };
  await waitFor(async () => (await readSeries('erp_proxy_calls_total', labels)) === 1);
});

test('shows the running and waiting calls of a database that has never answered successfully', async () => {
  await start(() => {});
  const labels = { upstream: upstream.url, db: 'prod' };
  const calls = Array.from({ length: 9 }, (_, index) =>
    proxy.post(
      makeCall(upstream.url, {
        erp_instance: { url: upstream.url, db: 'prod', user_id: index + 1, api_key: 'k' },
      }),
    ),
  );
  await waitFor(async () => (await readSeries('erp_proxy_upstream_running', labels)) === 8);
  expect(await readSeries('erp_proxy_upstream_waiting', labels)).toBe(1);
  await proxy.close();
  await Promise.allSettled(calls);
});

test('shows an open circuit breaker for a database that has refused every connection', async () => {
  const gone = await startUpstream(() => {});
  await gone.close();
  proxy = closeAfterTest(await startProxy({ allow: [gone.url] }));
  await expect
    .poll(async () => {
      await proxy.post(makeCall(gone.url));
      return readSeries('erp_proxy_upstream_breaker_open', { upstream: gone.url, db: 'prod' });
    })
    .toBe(1);
});

test('counts calls that name one server in two ways as calls to one database', async () => {
  upstream = closeAfterTest(await startUpstream((socket) => answerLikeOdoo(socket, printResult('true'))));
  const named = upstream.url.replace('127.0.0.1', 'localhost');
  proxy = closeAfterTest(await startProxy({ allow: [upstream.url, named] }));
  await proxy.post(makeCall(upstream.url));
  await proxy.post(
    makeCall(named, { erp_instance: { url: named, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY } }),
  );
  const lines = (await readMetrics())
    .split('\n')
    .filter((line) => line.startsWith('erp_proxy_upstream_limit{'));
  expect(lines).toEqual([`erp_proxy_upstream_limit{upstream="${upstream.url}",db="prod"} 8`]);
});

test('does not grow with addresses, methods, models or databases that callers invent', async () => {
  await start((socket) => answerLikeOdoo(socket, '<h1>404</h1>', '404 Not Found'));
  await proxy.post(sandboxCall({}));
  const countLines = async () =>
    (await readMetrics()).split('\n').filter((line) => line.startsWith('erp_proxy_')).length;
  const makeUp = (from: number) =>
    Array.from({ length: 100 }, (_, index) => {
      const name = `made_up_${from + index}`;
      const erp_instance = { url: `${upstream.url}/${name}`, db: name, user_id: index + 1, api_key: name };
      return makeCall(upstream.url, { action: name, model_id: name, erp_instance });
    });
  for (let from = 0; from < 500; from += 100) expect((await proxy.post(makeUp(from))).status).toBe(200);
  await waitFor(() => proxy.log.length === 501);
  expect(await countLines()).toBeLessThan(200);
  // Real upstreams have labels, even if invented upstreams were called first.
  const before = await readSeries('erp_proxy_calls_total', { outcome: 'ok', upstream: sandbox.url });
  expect(before).toBe(1);
  expect((await readMetrics()).includes('made_up')).toBe(false);
});

test('contains no secrets', async () => {
  await start((socket) => answerLikeOdoo(socket, printResult('true')));
  await proxy.post(makeCall(upstream.url));
  const metrics = await waitFor(async () => {
    const text = await readMetrics();
    return text.includes(upstream.url) && text;
  });
  expect(metrics).not.toContain(UPSTREAM_KEY);
  expect(metrics).not.toContain(proxy.key);
  expect(metrics).not.toContain(proxy.key.split('_')[1]);
});

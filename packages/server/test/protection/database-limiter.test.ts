/**
 * Tests the database limiter over HTTP: permits shared between keys, a bounded queue, and a breaker. Its rules have
 * unit tests.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { expectError, printCall, printInstance } from '../execute/expectations.ts';
import { type HttpAnswer, startProxy } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerTrue, type Script, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';
import { makeKeyHeaders, readState } from './word-odoo.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(script: Script, settings: Record<string, string> = {}): Promise<Pair> {
  const pair = await startPair(script, { settings });
  open.push(pair);
  return pair;
}

const printOne = ({ url }: { url: string }, db = 'prod') =>
  printCall('', { erp_instance: printInstance(url, { db: JSON.stringify(db) }) });

/** Holds back answers. `release` sends the oldest. */
function holdAnswers(): { script: Script; release(): void; seen: string[] } {
  const held: (() => void)[] = [];
  const seen: string[] = [];
  return {
    seen,
    script(socket, request, index) {
      seen.push(request.body.toString());
      held.push(() => void answerTrue(socket, request, index));
    },
    release: () => held.shift()?.(),
  };
}

const FIXED_AT_ONE = { 'upstream.concurrency': '1', 'upstream.refusedCredentialsTtlMs': '0' };

/** The answer to a call that was refused before it was sent. */
const NOT_SENT = {
  status: 503,
  code: -32013,
  type: 'overloaded',
  id: 1,
  retryable: true,
  outcome: 'not_sent',
} as const;

describe('permits', () => {
  test('are shared between keys: one call does not wait for all calls of another key', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const [greedy, modest] = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
    const print = (id: string) =>
      printCall('', { id, params: `[[${id}]]`, erp_instance: printInstance(upstream.url) });
    const calls = Array.from({ length: 20 }, (_, index) => proxy.call(print(String(100 + index)), greedy));
    await expect.poll(() => readState(proxy)?.waiting).toBe(19);
    const one = proxy.call(print('7'), modest);
    await expect.poll(() => readState(proxy)?.waiting).toBe(20);
    let answered = 0;
    const all = [...calls, one].map((call) => call.then(() => answered++));
    for (let count = 1; count <= 21; count++) {
      await expect.poll(() => worker.seen.length).toBe(count);
      worker.release();
      await expect.poll(() => answered).toBe(count);
    }
    await Promise.all(all);
    const position = worker.seen.findIndex((body) => body.includes('[[7]]'));
    expect(position).toBeLessThanOrEqual(2);
  });

  test('are refused when the queue is full, with a time to retry', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, { ...FIXED_AT_ONE, 'upstream.queue': '1' });
    const headers = await makeKeyHeaders(proxy);
    const running = proxy.call(printOne(upstream), headers);
    const waiting = proxy.call(printOne(upstream), headers);
    await expect.poll(() => readState(proxy)?.waiting).toBe(1);
    const refused = await proxy.post(printOne(upstream), headers);
    expectError(refused, {
      ...NOT_SENT,
      says: /Too many calls wait for this Odoo database already. Send the call again in 1 s/,
    });
    expect(refused.headers['retry-after']).toBe('1');
    for (const call of [running, waiting]) {
      worker.release();
      await expect.poll(() => worker.seen.length).toBe(2);
      worker.release();
      expect((await call).status).toBe(200);
    }
  });

  test('of one database do not affect another', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(
      (socket, request, index) =>
        request.body.includes('"hung"')
          ? worker.script(socket, request, index)
          : answerTrue(socket, request, index),
      FIXED_AT_ONE,
    );
    const headers = await makeKeyHeaders(proxy);
    const hung = Array.from({ length: 50 }, () => proxy.call(printOne(upstream, 'hung'), headers));
    await expect.poll(() => readState(proxy)?.waiting).toBe(49);
    for (let call = 0; call < 20; call++)
      expect((await proxy.call(printOne(upstream), headers)).status).toBe(200);
    expect(worker.seen).toHaveLength(1);
    for (let call = 1; call <= 50; call++) {
      worker.release();
      if (call < 50) await expect.poll(() => worker.seen.length).toBe(call + 1);
    }
    await Promise.all(hung);
  });

  test('are not used up by calls that are cancelled while they wait', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const headers = await makeKeyHeaders(proxy);
    const running = proxy.call(printOne(upstream), headers);
    await expect.poll(() => worker.seen.length).toBe(1);
    const leaving = new AbortController();
    const left = fetch(`${proxy.url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: printOne(upstream),
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => readState(proxy)?.waiting).toBe(1);
    leaving.abort();
    expect(await left).toBe('left');
    await expect.poll(() => readState(proxy)?.waiting).toBe(0);
    worker.release();
    expect((await running).status).toBe(200);
    await expect.poll(() => readState(proxy)?.running).toBe(0);
  });
});

describe('a call whose time limit ends while it waits', () => {
  /** Both the limiter and the call have a timer, and either may fire first. */
  const SAYS = /^The time limit of the call passed|to end within its time limit/;

  test('is refused with outcome not_sent and a time to retry', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const headers = await makeKeyHeaders(proxy);
    const running = proxy.call(printOne(upstream), headers);
    await expect.poll(() => worker.seen.length).toBe(1);
    const refused = await proxy.post(printOne(upstream), { ...headers, 'x-request-timeout': '1' });
    expectError(refused, { ...NOT_SENT, says: SAYS });
    expect(refused.headers['retry-after']).toBe('1');
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: 1, waiting: 0 }]);
    worker.release();
    expect((await running).status).toBe(200);
    expect(worker.seen).toHaveLength(1);
  });

  test.each([
    ['with another caller that waits longer', ['1', '9']],
    ['as the last of its callers', ['1', '2']],
  ])('is refused likewise if it shares a read, %s', async (_name, timeouts) => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const { 'cache-control': _, ...headers } = await makeKeyHeaders(proxy);
    const running = proxy.call(printOne(upstream), { ...headers, 'cache-control': 'no-cache' });
    await expect.poll(() => worker.seen.length).toBe(1);
    const reads = timeouts.map((seconds) =>
      proxy.post(printOne(upstream), { ...headers, 'x-request-timeout': seconds }),
    );
    for (const [index, seconds] of timeouts.entries())
      if (seconds !== '9') expectError((await reads[index]) as HttpAnswer, { ...NOT_SENT, says: SAYS });
    worker.release();
    expect((await running).status).toBe(200);
    if (!timeouts.includes('9')) return;
    await expect.poll(() => worker.seen.length).toBe(2);
    worker.release();
    expect((await reads[1])?.status).toBe(200);
  });

  test('is refused likewise as a call of a batch that has not begun, also with an idempotency key', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, { ...FIXED_AT_ONE, 'batch.concurrency': '1' });
    const calls = [1, 2, 3].map((id) =>
      printCall('', { id: String(id), action: '"create"', erp_instance: printInstance(upstream.url) }),
    );
    const { json } = await proxy.call(`[${calls.join()}]`, {
      'x-request-timeout': '1',
      'idempotency-key': 'a-key-of-a-batch',
    });
    const describe = ({ error }: { error: { data: { type: string; outcome: string } } }) =>
      `${error.data.type} ${error.data.outcome}`;
    expect(json.map(describe)).toEqual([
      'upstream_timeout unknown',
      'overloaded not_sent',
      'overloaded not_sent',
    ]);
    expect(worker.seen).toHaveLength(1);
  });
});

describe('the breaker', () => {
  test.each(['jsonrpc', 'auto'])(
    'opens after failures, refuses calls at once, sends one probe and closes after its answer: %s',
    async (protocol) => {
      let nowMs = 1_000_000;
      const { proxy } = await startDown(() => nowMs, { 'upstream.protocol': protocol });
      const [one, other] = [await makeKeyHeaders(proxy), await makeKeyHeaders(proxy)];
      const call = (headers: Record<string, string>) => proxy.call(printOne({ url: proxy.target }), headers);
      for (let attempt = 0; attempt < 6; attempt++) {
        for (const headers of [one, other])
          expect((await call(headers)).json.error.data.type).toMatch(/^(upstream_unreachable|overloaded)$/);
      }
      const refused = await proxy.post(printOne({ url: proxy.target }), one);
      expectError(refused, {
        ...NOT_SENT,
        says: /has not answered lately/,
      });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'open', running: 0 }]);
      await proxy.restore();
      nowMs += 60_000;
      expect((await call(one)).json).toMatchObject({ result: true });
      expect((await call(other)).json).toMatchObject({ result: true });
      expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'closed' }]);
    },
  );

  test('does not open because of errors that Odoo reports', async () => {
    const { upstream, proxy } = await start((socket) => {
      const body =
        '{"jsonrpc":"2.0","id":1,"error":{"code":200,"message":"Odoo Server Error","data":{"name":"odoo.exceptions.UserError","message":"no","arguments":["no"]}}}';
      socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const headers = await makeKeyHeaders(proxy);
    for (let call = 0; call < 20; call++)
      expect((await proxy.call(printOne(upstream), headers)).json.error.data.type).toBe('user_error');
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'closed' }]);
  });

  /** Starts a proxy, and an address at which no server listens until `restore`. */
  async function startDown(nowMs: () => number, settings: Record<string, string>) {
    const placeholder = await startUpstream(answerTrue);
    const { port } = new URL(placeholder.url);
    await placeholder.close();
    const target = `http://127.0.0.1:${port}`;
    const proxy = await startProxy({ allow: [target], nowMs, settings });
    open.push(proxy);
    let restored: ScriptedUpstream | null = null;
    const restore = async () => {
      restored = await startUpstream(answerTrue, Number(port));
      open.push(restored);
    };
    return { proxy: Object.assign(proxy, { target, restore }) };
  }
});

test('shows the state of each database to administrators and in the metrics', async () => {
  const token = 'a-token-of-an-administrator-0123456789';
  const { upstream, proxy } = await start(answerTrue, { 'admin.token': token });
  await proxy.call(printOne(upstream));
  const status = await fetch(`${proxy.url}/admin/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await status.json()).toMatchObject({
    upstreams: [
      {
        database: `${upstream.url} prod`,
        limit: 8,
        breaker: 'closed',
        retry_after_seconds: 0,
        version: null,
        protocol: null,
        answer_ms: null,
      },
    ],
  });
  const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
  expect(metrics).toContain(`erp_proxy_upstream_limit{upstream="${upstream.url}",db="prod"} 8`);
  expect(metrics).toContain(`erp_proxy_upstream_breaker_open{upstream="${upstream.url}",db="prod"} 0`);
});

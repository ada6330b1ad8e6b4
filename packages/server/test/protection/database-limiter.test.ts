/** What stands before each Odoo database: turns by key, a bounded queue, and a breaker. The rules have their own tests. */
import { afterEach, describe, expect, test } from 'vitest';
import { expectError, printCall, printInstance } from '../execute/expectations.ts';
import { type Proxy as ErpProxy, type HttpAnswer, startProxy } from '../harness.ts';
import { answerTrue, type Script, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(script: Script, settings: Record<string, string> = {}) {
  const upstream = await startUpstream(script);
  open.push(upstream);
  const proxy = await startProxy({ allow: [upstream.url, 'http://127.0.0.1:1'], settings });
  open.push(proxy);
  return { upstream, proxy };
}

const printOne = ({ url }: { url: string }, db = 'prod') =>
  printCall('', { erp_instance: printInstance(url, { db: JSON.stringify(db) }) });

/** Headers of a key, whose calls are each one of its own. */
async function makeKey(proxy: ErpProxy): Promise<Record<string, string>> {
  return { 'x-proxy-api': (await proxy.app.keys.create({ name: 'app' })).key, 'cache-control': 'no-cache' };
}

/** One worker that answers what it is told to, in the order of coming. */
function holdAnswers(): { script: Script; letGo(): void; seen: string[] } {
  const held: (() => void)[] = [];
  const seen: string[] = [];
  return {
    seen,
    script(socket, request, index) {
      seen.push(request.body.toString());
      held.push(() => void answerTrue(socket, request, index));
    },
    letGo: () => held.shift()?.(),
  };
}

const PATIENT = { timeout: 10_000, interval: 5 };
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

describe('turns', () => {
  test('are taken by key: who has one call is not behind all calls of another', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const [greedy, modest] = [await makeKey(proxy), await makeKey(proxy)];
    const print = (id: string) =>
      printCall('', { id, params: `[[${id}]]`, erp_instance: printInstance(upstream.url) });
    const calls = Array.from({ length: 20 }, (_, index) => proxy.call(print(String(100 + index)), greedy));
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(19);
    const one = proxy.call(print('7'), modest);
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(20);
    let answered = 0;
    const all = [...calls, one].map((call) => call.then(() => answered++));
    for (let turn = 1; turn <= 21; turn++) {
      await expect.poll(() => worker.seen.length, PATIENT).toBe(turn);
      worker.letGo();
      await expect.poll(() => answered, PATIENT).toBe(turn);
    }
    await Promise.all(all);
    const place = worker.seen.findIndex((body) => body.includes('[[7]]'));
    expect(place).toBeLessThanOrEqual(2);
  });

  test('are refused beyond the queue, with when to come again', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, { ...FIXED_AT_ONE, 'upstream.queue': '1' });
    const headers = await makeKey(proxy);
    const running = proxy.call(printOne(upstream), headers);
    const waiting = proxy.call(printOne(upstream), headers);
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(1);
    const refused = await proxy.post(printOne(upstream), headers);
    expectError(refused, {
      ...NOT_SENT,
      says: /Too many calls wait for this Odoo database already. Send the call again in 1 s/,
    });
    expect(refused.headers['retry-after']).toBe('1');
    for (const call of [running, waiting]) {
      worker.letGo();
      await expect.poll(() => worker.seen.length, PATIENT).toBe(2);
      worker.letGo();
      expect((await call).status).toBe(200);
    }
  });

  test('of one database are nothing to another', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(
      (socket, request, index) =>
        request.body.includes('"hung"')
          ? worker.script(socket, request, index)
          : answerTrue(socket, request, index),
      FIXED_AT_ONE,
    );
    const headers = await makeKey(proxy);
    const hung = Array.from({ length: 50 }, () => proxy.call(printOne(upstream, 'hung'), headers));
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(49);
    for (let call = 0; call < 20; call++)
      expect((await proxy.call(printOne(upstream), headers)).status).toBe(200);
    expect(worker.seen).toHaveLength(1);
    for (let call = 1; call <= 50; call++) {
      worker.letGo();
      if (call < 50) await expect.poll(() => worker.seen.length, PATIENT).toBe(call + 1);
    }
    await Promise.all(hung);
  });

  test('are given back by calls that leave while they wait', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const headers = await makeKey(proxy);
    const running = proxy.call(printOne(upstream), headers);
    await expect.poll(() => worker.seen.length, PATIENT).toBe(1);
    const leaving = new AbortController();
    const left = fetch(`${proxy.url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: printOne(upstream),
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(1);
    leaving.abort();
    expect(await left).toBe('left');
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting, PATIENT).toBe(0);
    worker.letGo();
    expect((await running).status).toBe(200);
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.running, PATIENT).toBe(0);
  });
});

describe('a call whose time ends while it waits', () => {
  /** The gate and the call have a timer each; either may be first. */
  const SAYS = /^The time of the call ended before|would not be done in its time/;

  test('is refused as one that was not sent, with when to come again', async () => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const headers = await makeKey(proxy);
    const running = proxy.call(printOne(upstream), headers);
    await expect.poll(() => worker.seen.length, PATIENT).toBe(1);
    const refused = await proxy.post(printOne(upstream), { ...headers, 'x-request-timeout': '1' });
    expectError(refused, { ...NOT_SENT, says: SAYS });
    expect(refused.headers['retry-after']).toBe('1');
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: 1, waiting: 0 }]);
    worker.letGo();
    expect((await running).status).toBe(200);
    expect(worker.seen).toHaveLength(1);
  });

  test.each([
    ['beside one that waits longer', ['1', '9']],
    ['as the last of those that share it', ['1', '2']],
  ])('is so where it shares a read, %s', async (_name, timeouts) => {
    const worker = holdAnswers();
    const { upstream, proxy } = await start(worker.script, FIXED_AT_ONE);
    const { 'cache-control': _, ...headers } = await makeKey(proxy);
    const running = proxy.call(printOne(upstream), { ...headers, 'cache-control': 'no-cache' });
    await expect.poll(() => worker.seen.length, PATIENT).toBe(1);
    const reads = timeouts.map((seconds) =>
      proxy.post(printOne(upstream), { ...headers, 'x-request-timeout': seconds }),
    );
    for (const [index, seconds] of timeouts.entries())
      if (seconds !== '9') expectError((await reads[index]) as HttpAnswer, { ...NOT_SENT, says: SAYS });
    worker.letGo();
    expect((await running).status).toBe(200);
    if (!timeouts.includes('9')) return;
    await expect.poll(() => worker.seen.length, PATIENT).toBe(2);
    worker.letGo();
    expect((await reads[1])?.status).toBe(200);
  });

  test('is so for the calls of a batch that had not begun, with an idempotency key too', async () => {
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
  const DOWN = 'http://127.0.0.1:1';

  test('opens after failures, refuses at once, tries again by one call and closes when that is answered', async () => {
    let nowMs = 1_000_000;
    const { proxy } = await startDown(() => nowMs);
    const [one, other] = [await makeKey(proxy), await makeKey(proxy)];
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
    await proxy.mend();
    nowMs += 60_000;
    expect((await call(one)).json).toMatchObject({ result: true });
    expect((await call(other)).json).toMatchObject({ result: true });
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'closed' }]);
  });

  test('does not open by what Odoo itself says', async () => {
    const { upstream, proxy } = await start((socket) => {
      const body =
        '{"jsonrpc":"2.0","id":1,"error":{"code":200,"message":"Odoo Server Error","data":{"name":"odoo.exceptions.UserError","message":"no","arguments":["no"]}}}';
      socket.end(`HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const headers = await makeKey(proxy);
    for (let call = 0; call < 20; call++)
      expect((await proxy.call(printOne(upstream), headers)).json.error.data.type).toBe('user_error');
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'closed' }]);
  });

  /** A proxy, and an address where nobody listens until it is mended. */
  async function startDown(nowMs: () => number) {
    const placeholder = await startUpstream(answerTrue);
    const { port } = new URL(placeholder.url);
    await placeholder.close();
    const target = `http://127.0.0.1:${port}`;
    const proxy = await startProxy({ allow: [target, DOWN], nowMs });
    open.push(proxy);
    let mended: ScriptedUpstream | null = null;
    const mend = async () => {
      mended = await startUpstream(answerTrue, Number(port));
      open.push(mended);
    };
    return { proxy: Object.assign(proxy, { target, mend }) };
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
    upstreams: [{ database: `${upstream.url} prod`, limit: 8, breaker: 'closed', retry_after_seconds: 0 }],
  });
  const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
  expect(metrics).toContain(`erp_proxy_upstream_limit{upstream="${upstream.url}",db="prod"} 8`);
  expect(metrics).toContain(`erp_proxy_upstream_breaker_open{upstream="${upstream.url}",db="prod"} 0`);
});

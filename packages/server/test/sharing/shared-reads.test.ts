/** Tests shared reads over HTTP: the number of calls that reach Odoo, and the answer to each caller. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Policy } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import {
  answerLikeOdoo,
  answerTrue,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { ENDLESS_MS, expectToStay, measureMs, passTurns, pause } from '../time.ts';

let upstream: ScriptedUpstream;
let proxy: ErpProxy;
let now = 1000;

async function start(script: Script, settings: Record<string, string> = {}) {
  upstream = closeAfterTest(await startUpstream(script));
  proxy = closeAfterTest(await startProxy({ allow: [upstream.url], settings }));
}

const read = (changes = {}) => makeCall(upstream.url, { action: 'search_read', params: [[]], ...changes });
const asked = (count: number) => expect.poll(() => upstream.requests.length).toBe(count);
/** Checks that no more than this number of calls reaches Odoo. */
const staysAsked = (count: number) => expectToStay(() => upstream.requests.length, count);
/** Waits until this number of calls has reached the proxy. */
const arrived = (count: number) =>
  expect
    .poll(async () => {
      const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
      return Number(/^erp_proxy_requests_in_flight (\d+)$/m.exec(metrics)?.[1]);
    })
    .toBe(count);
/** Waits until this number of equal calls has reached the proxy and joined the first of them. */
async function joined(count: number): Promise<void> {
  await arrived(count);
  await passTurns(10);
}
const states = () => proxy.app.databaseLimiters.states()[0];

async function makeKey(changes: Partial<Policy> | null): Promise<Record<string, string>> {
  const policy = changes === null ? null : { origins: ['*'], models: { 'res.partner': ['*'] }, ...changes };
  return { 'x-proxy-api': (await proxy.app.keys.create({ name: 'app', policy })).key };
}

/** Adds an instance with the server and credentials of `read`, and a trust of its own. */
const addInstance = (changes = {}) =>
  proxy.app.instances.add({
    name: 'prod',
    url: upstream.url,
    db: 'prod',
    user_id: 2,
    api_key: 'upstream-key-0123456789',
    allow_private: true,
    ...changes,
  });

/** The reads of the test, without the requests by which the proxy asks for the expiry of an instance's key. */
const countReads = () => upstream.requests.filter(({ body }) => body.includes('res.partner')).length;

/** Holds back answers. `answer` sends the answers to all requests so far, in their order. */
function holdAnswers() {
  const held: Socket[] = [];
  return {
    script: ((socket) => void held.push(socket)) satisfies Script,
    answer(result: string) {
      for (const socket of held.splice(0)) answerLikeOdoo(socket, printResult(result));
    },
  };
}

/** Answers the first call at once: until Odoo has accepted credentials once, calls with them wait for each other. */
function firstThen(script: Script): Script {
  return (socket, request, index) =>
    index === 0 ? answerTrue(socket, request, index) : script(socket, request, index);
}

/** Starts a caller that can leave, on a connection of its own. */
function startCaller(body: object) {
  const request = httpRequest(`${proxy.url}/api/erp/execute`, {
    method: 'POST',
    agent: false,
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json' },
  });
  request.on('error', () => {});
  request.end(JSON.stringify(body));
  return request;
}

describe('identical reads in flight', () => {
  test('become one call, and each caller gets the result with its own id', async () => {
    const worker = holdAnswers();
    await start(worker.script);
    const calls = Array.from({ length: 20 }, (_, id) => proxy.call(read({ id })));
    await asked(1);
    await arrived(20);
    await staysAsked(1);
    worker.answer('[1, 2]');
    const answers = await Promise.all(calls);
    expect(answers.map(({ json }) => [json.id, json.result])).toEqual(
      Array.from({ length: 20 }, (_, id) => [id, [1, 2]]),
    );
    expect(upstream.requests).toHaveLength(1);
    expect(answers.every(({ headers }) => headers['age'] === undefined)).toBe(true);
    const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
    expect(metrics).toContain('erp_proxy_shared_reads_total{source="flight"} 19');
  });

  test('are not shared if the caller sends no-cache', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    await proxy.call(read());
    const calls = [1, 2, 3].map((id) => proxy.call(read({ id }), { 'cache-control': 'no-cache' }));
    await asked(4);
    worker.answer('true');
    await Promise.all(calls);
  });

  test('are not shared with an idempotency key, in a batch, or if they write', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    await proxy.call(read());
    const write = read({ action: 'write', params: [[1], {}] });
    const calls = [
      proxy.call(read()),
      proxy.call(read(), { 'idempotency-key': 'one' }),
      proxy.call([read(), read()]),
      proxy.call(write),
      proxy.call(write),
    ];
    await asked(7);
    worker.answer('true');
    await Promise.all(calls);
  });

  test('are not shared across credentials, databases or instances', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    const instance = { url: upstream.url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' };
    await proxy.call(read());
    const calls = [
      {},
      { user_id: 3 },
      { api_key: 'upstream-key-9876543210' },
      { db: 'test' },
      { url: `${upstream.url}/odoo` },
    ].map((changes) => proxy.call(read({ erp_instance: { ...instance, ...changes } })));
    await asked(6);
    worker.answer('true');
    await Promise.all(calls);
  });

  test('are not shared by a stored instance and a call with the same credentials', async () => {
    const worker = holdAnswers();
    await start(worker.script, { 'vault.masterKey': randomBytes(32).toString('base64') });
    await addInstance();
    const calls = [{}, { erp_instance: { name: 'prod' } }].map((changes) => proxy.call(read(changes)));
    await expect.poll(countReads).toBe(2);
    worker.answer('true');
    await Promise.all(calls);
  });

  test('are shared by keys with equal effective policies, and not by keys whose policies set other companies', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    await proxy.call(read());
    const keys = await Promise.all([
      makeKey({ companies: [1] }),
      makeKey({ companies: [2] }),
      makeKey({ companies: [2], read_only: true }),
      makeKey({ companies: [1], limit_max: 5 }),
    ]);
    const calls = keys.map((headers) => proxy.call(read(), headers));
    await asked(4);
    await arrived(4);
    await staysAsked(4);
    worker.answer('true');
    for (const { json } of await Promise.all(calls)) expect(json.result).toBe(true);
    const companies = upstream.requests
      .slice(1)
      .map(({ body }) => /company_ids": ?(\S+?\])/.exec(String(body))?.[1]);
    expect(companies.sort()).toEqual(['[1]', '[1]', '[2]']);
  });

  test('are shared with a caller that gives the context that the policy of another key sets, and with no other', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    await proxy.call(read());
    const [french, german] = await Promise.all(
      ['fr_FR', 'de_DE'].map((lang) => makeKey({ context: { lang } })),
    );
    const given = read({ keyword: { context: { lang: 'de_DE' } } });
    const calls = [
      proxy.call(read(), french),
      proxy.call(read(), german),
      proxy.call(given, french),
      proxy.call(given, german),
    ];
    await asked(3);
    await arrived(4);
    await staysAsked(3);
    worker.answer('true');
    for (const { json } of await Promise.all(calls)) expect(json.result).toBe(true);
  });

  test('are not shared with a key that may not make the call', async () => {
    const worker = holdAnswers();
    await start(worker.script);
    const call = proxy.call(read());
    await asked(1);
    const refused = await proxy.call(read(), await makeKey({ models: { 'sale.order': ['*'] } }));
    expect(refused.json.error.code).toBe(-32010);
    worker.answer('true');
    expect((await call).json.result).toBe(true);
  });

  test('are not shared across a write between them', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script));
    await proxy.call(read());
    const before = proxy.call(read());
    await asked(2);
    const write = proxy.call(read({ action: 'write', params: [[1], {}] }));
    await asked(3);
    const after = proxy.call(read());
    await asked(4);
    worker.answer('true');
    await Promise.all([before, write, after]);
  });

  test('pass large results on byte for byte', async () => {
    const big = JSON.stringify(Array.from({ length: 600_000 }, (_, n) => n));
    const all = Promise.withResolvers<void>();
    await start(async (socket) => {
      await all.promise;
      const body = Buffer.from(printResult(big));
      socket.write(
        `HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\nContent-Type: application/json\r\n\r\n`,
      );
      for (let at = 0; at < body.length; at += 100_000)
        if (!socket.write(body.subarray(at, at + 100_000))) await once(socket, 'drain');
      socket.end();
    });
    const calls = [2, 3, 4].map((id) => proxy.post(read({ id })));
    await joined(3);
    all.resolve();
    for (const [index, { body }] of (await Promise.all(calls)).entries())
      expect(body.toString()).toBe(`{"jsonrpc":"2.0","id":${index + 2},"result":${big}}`);
    expect(upstream.requests).toHaveLength(1);
    await expect.poll(() => states()?.running).toBe(0);
  });
});

describe('each member', () => {
  test('has a time limit of its own: a member with a short one gives up alone', async () => {
    const worker = holdAnswers();
    await start(worker.script);
    const impatient = proxy.call(read({ id: 1 }), { 'x-request-timeout': '1' });
    await asked(1);
    const patient = proxy.call(read({ id: 2 }));
    expect((await impatient).json.error).toMatchObject({ code: -32003, data: { retryable: true } });
    expect(upstream.sockets.size).toBe(1);
    worker.answer('[7]');
    expect((await patient).json.result).toEqual([7]);
    expect(upstream.requests).toHaveLength(1);
  });

  test('can leave without effect on the others; the last one ends the call', async () => {
    await start(() => {});
    const one = proxy.call(read({ id: 1 }), { 'x-request-timeout': '1' });
    const two = proxy.call(read({ id: 2 }), { 'x-request-timeout': '2' });
    expect((await one).json.error.code).toBe(-32003);
    expect(upstream.sockets.size).toBe(1);
    expect(states()?.running).toBe(1);
    expect((await two).json.error).toMatchObject({ code: -32003, data: { outcome: 'unknown' } });
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await expect.poll(() => states()?.running).toBe(0);
  });

  test('has the time limit of the instance from its own start', async () => {
    const LIMIT_MS = 1000;
    /**
     * Time between the starts of the call and of the read that joins it: long enough to tell their time limits apart.
     */
    const BETWEEN_MS = LIMIT_MS / 5;
    await start(() => {}, { 'vault.masterKey': randomBytes(32).toString('base64') });
    await addInstance({ timeout_ms: LIMIT_MS });
    const named = read({ erp_instance: { name: 'prod' } });
    const ended: string[] = [];
    const expectTimeout = async (name: string) => {
      expect((await proxy.call(named)).json.error.code).toBe(-32003);
      ended.push(name);
    };
    const first = expectTimeout('first');
    await expect.poll(countReads).toBe(1);
    await pause(BETWEEN_MS);
    const tookMs = await measureMs(() => expectTimeout('second'));
    await first;
    expect(ended).toEqual(['first', 'second']);
    expect(tookMs).toBeGreaterThanOrEqual(LIMIT_MS - 1);
    expect(countReads()).toBe(1);
  });

  test('that leaves first does not release the permit, and the others get the whole answer', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script), { 'upstream.concurrency': '1' });
    await proxy.call(read());
    const first = startCaller(read());
    await asked(2);
    const second = proxy.call(read({ id: 2 }));
    const other = proxy.call(read({ id: 3, params: [[9]] }));
    await expect.poll(() => states()?.waiting).toBe(1);
    first.destroy();
    await expect.poll(() => proxy.log.some(({ outcome }) => outcome === 'caller_left')).toBe(true);
    expect(states()).toMatchObject({ running: 1, waiting: 1 });
    expect(upstream.requests).toHaveLength(2);
    worker.answer('"all of it"');
    expect((await second).json.result).toBe('all of it');
    await asked(3);
    worker.answer('true');
    expect((await other).json.result).toBe(true);
    await expect.poll(() => states()?.running).toBe(0);
  });

  test('with more time keeps a call in the queue after the first one has given up', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script), { 'upstream.concurrency': '1' });
    await proxy.call(read());
    const running = proxy.call(read({ params: [[9]] }));
    await asked(2);
    const short = proxy.call(read({ id: 1 }), { 'x-request-timeout': '1' });
    const long = proxy.call(read({ id: 2 }), { 'x-request-timeout': '200' });
    expect((await short).json.error).toMatchObject({ code: -32013, data: { outcome: 'not_sent' } });
    worker.answer('true');
    await running;
    await asked(3);
    worker.answer('"late"');
    expect((await long).json.result).toBe('late');
  });

  test('is joined by other keys also if all have waited for the same types of fields', async () => {
    const [types, worker] = [holdAnswers(), holdAnswers()];
    await start((socket, request, index) => {
      if (request.body.includes('fields_get')) types.script(socket);
      else firstThen(worker.script)(socket, request, index);
    });
    await proxy.call(makeCall(upstream.url, { model_id: 'x.y' }));
    const keys = await Promise.all(
      [1, 2, 3].map(() => makeKey({ fields: { 'res.partner': { deny: ['secret'] } } })),
    );
    const calls = keys.map((headers) =>
      proxy.call(read({ params: [[], ['name']], keyword: { order: 'id' } }), headers),
    );
    await asked(2);
    await joined(3);
    types.answer('{"id": {"type": "integer"}, "name": {"type": "char"}, "secret": {"type": "char"}}');
    await asked(3);
    await staysAsked(3);
    worker.answer('[]');
    for (const { json } of await Promise.all(calls)) expect(json.result).toEqual([]);
  });

  test('does not wait in the queue of another key', async () => {
    const worker = holdAnswers();
    await start(firstThen(worker.script), { 'upstream.concurrency': '1' });
    await proxy.call(read());
    const [greedy, modest] = [await makeKey(null), await makeKey(null)];
    const ask = (number: number, headers: Record<string, string>) =>
      proxy.call(read({ params: [[number]] }), headers);
    const calls = [10, 11, 12, 13].map((number) => ask(number, greedy));
    await expect.poll(() => states()?.waiting).toBe(3);
    calls.push(ask(13, modest));
    await expect.poll(() => states()?.waiting).toBe(4);
    for (const sent of [2, 3, 4, 5, 6]) {
      await asked(sent);
      worker.answer('true');
    }
    for (const { json } of await Promise.all(calls)) expect(json.result).toBe(true);
    expect(upstream.requests.findIndex(({ body }) => body.includes('[13]'))).toBeLessThanOrEqual(3);
  });

  test('that reads slowly delays the others for no longer than their patience', async () => {
    const chunk = Buffer.alloc(64 * 1024, 0x31);
    const pieces = 200;
    const all = Promise.withResolvers<void>();
    const sendSlowly: Script = async (socket) => {
      const [head, tail] = [Buffer.from('{"jsonrpc": "2.0", "id": 1, "result": "'), Buffer.from('"}')];
      const length = head.length + pieces * chunk.length + tail.length;
      socket.on('error', () => {});
      socket.write(`HTTP/1.0 200 OK\r\nContent-Length: ${length}\r\nContent-Type: application/json\r\n\r\n`);
      await all.promise;
      socket.write(head);
      for (let index = 0; index < pieces && !socket.destroyed; index++)
        if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      socket.end(tail);
    };
    // The time limit is so long that a call which waits for the slow one until then fails the test.
    await start(sendSlowly, { 'upstream.timeoutMs': String(ENDLESS_MS / 2) });
    const slow = startCaller(read({ id: 1 }));
    slow.on('response', (response) => {
      response.on('error', () => {});
      response.pause();
    });
    await asked(1);
    const call = proxy.call(read({ id: 2 }));
    await joined(2);
    all.resolve();
    const fast = await call;
    expect(fast.json.result).toHaveLength(pieces * chunk.length);
    expect(upstream.requests).toHaveLength(1);
    await expect.poll(() => states()?.running).toBe(0);
    slow.destroy();
  });

  test('is broken off if the upstream breaks off', async () => {
    const all = Promise.withResolvers<void>();
    await start(async (socket) => {
      await all.promise;
      socket.write('HTTP/1.0 200 OK\r\nContent-Length: 900000\r\nContent-Type: application/json\r\n\r\n');
      socket.write(`{"jsonrpc": "2.0", "id": 1, "result": "${'x'.repeat(300_000)}`);
      await pause();
      await passTurns(10);
      socket.destroy();
    });
    const settled = Promise.allSettled([1, 2, 3].map((id) => proxy.post(read({ id }))));
    await joined(3);
    all.resolve();
    const calls = await settled;
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(upstream.requests).toHaveLength(1);
    await expect.poll(() => states()?.running).toBe(0);
  });

  test('gets a fault of Odoo, or an error of the proxy, with its own id', async () => {
    const error =
      '{"code": 200, "message": "Odoo Server Error", "data": {"name": "odoo.exceptions.UserError", "message": "No", "arguments": ["No"]}}';
    const all = Promise.withResolvers<void>();
    await start(async (socket) => {
      await all.promise;
      answerLikeOdoo(socket, `{"jsonrpc": "2.0", "id": 1, "error": ${error}}`);
    });
    const calls = [1, 2].map((id) => proxy.call(read({ id })));
    await joined(2);
    all.resolve();
    const answers = await Promise.all(calls);
    expect(answers.map(({ json }) => [json.id, json.error.data.name])).toEqual([
      [1, 'odoo.exceptions.UserError'],
      [2, 'odoo.exceptions.UserError'],
    ]);
    expect(upstream.requests).toHaveLength(1);
    await expect.poll(() => states()?.running).toBe(0);
  });
});

describe('kept answers', () => {
  const count: Script = (socket, _request, index) => answerLikeOdoo(socket, printResult(String(index)));
  const MINUTE = { 'cache-control': 'max-age=60' };

  async function startCounting(settings: Record<string, string> = {}) {
    now = 1000;
    upstream = closeAfterTest(await startUpstream(count));
    proxy = closeAfterTest(await startProxy({ allow: [upstream.url], settings, nowMs: () => now }));
  }

  const ask = async (headers: Record<string, string> = MINUTE, changes = {}) =>
    (await proxy.call(read(changes), headers)).json.result;

  test('are served up to the age that the caller accepts, with their age', async () => {
    await startCounting();
    expect(await ask()).toBe(0);
    now += 12_900;
    const kept = await proxy.call(read({ id: 'mine' }), MINUTE);
    expect([kept.json.id, kept.json.result, kept.headers['age']]).toEqual(['mine', 0, '12']);
    expect(await ask({ 'cache-control': 'max-age=12' })).toBe(1);
    now += 60_001;
    const fresh = await proxy.call(read(), MINUTE);
    expect([fresh.json.result, fresh.headers['age']]).toEqual([2, undefined]);
    const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
    expect(metrics).toContain('erp_proxy_shared_reads_total{source="cache"} 1');
  });

  test('are served only on request: not without the header, with no-cache, or in a batch', async () => {
    await startCounting();
    expect(await ask()).toBe(0);
    expect(await ask({})).toBe(1);
    expect(await ask({ 'cache-control': 'no-cache, max-age=60' })).toBe(2);
    const batch = await proxy.call([read()], MINUTE);
    expect([batch.json[0].result, batch.headers['age']]).toEqual([3, undefined]);
    expect(await ask()).toBe(0);
  });

  test('are served to keys without a policy, or with cache: true in it', async () => {
    await startCounting();
    expect(await ask()).toBe(0);
    const [without, refused, allowed] = await Promise.all([
      makeKey({}),
      makeKey({ cache: false }),
      makeKey({ cache: true }),
    ]);
    expect(await ask({ ...without, ...MINUTE })).toBe(1);
    expect(await ask({ ...refused, ...MINUTE })).toBe(2);
    expect(await ask({ ...allowed, ...MINUTE })).toBe(0);
  });

  test('are dropped by a write to their model, or a write that may change any model', async () => {
    await startCounting();
    const values = [];
    values.push(await ask(), await ask());
    await proxy.call(read({ action: 'write', params: [[1], {}] }));
    values.push(await ask(), await ask());
    await proxy.call(read({ action: 'write', model_id: 'sale.order', params: [[1], {}] }));
    values.push(await ask());
    await proxy.call(read({ action: 'action_confirm', model_id: 'sale.order', params: [[1]] }));
    values.push(await ask());
    await proxy.call([read({ action: 'unlink', params: [[1]] })]);
    values.push(await ask());
    expect(values).toEqual([0, 0, 2, 2, 2, 5, 7]);
  });

  test.each(['res.users', 'res.groups', 'ir.rule', 'ir.model.access'])(
    'are dropped by a write to access rights, whatever their model: %s',
    async (model_id) => {
      await startCounting();
      const values = [await ask(), await ask()];
      await proxy.call(read({ action: 'write', model_id, params: [[1], {}] }));
      values.push(await ask());
      expect(values).toEqual([0, 0, 2]);
    },
  );

  test('are dropped by a write of a stored instance, or over a route of /json/2', async () => {
    await startCounting({ 'vault.masterKey': randomBytes(32).toString('base64') });
    await addInstance();
    const values = [await ask(), await ask()];
    await ask({}, { action: 'write', params: [[1], {}], erp_instance: { name: 'prod' } });
    values.push(await ask());
    await send(`${proxy.url}/v2/odoo/execute`, {
      method: 'POST',
      headers: { 'x-api-key': proxy.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        id: '1',
        model_id: 'res.partner',
        method: 'write',
        kwargs: { ids: [1], vals: {} },
        odoo_instance: { url: upstream.url, db: 'prod', api_key: 'upstream-key-0123456789' },
      }),
    });
    values.push(await ask());
    const writes = upstream.requests.flatMap(({ body, head }, index) =>
      /"write"|\/write HTTP/.test(`${head}${body}`) ? [index] : [],
    );
    const [first, again, ...after] = values;
    expect(again).toBe(first);
    expect(after).toEqual(writes.map((index) => index + 1));
  });

  test('are not served to a key that was revoked meanwhile', async () => {
    await startCounting();
    const key = await makeKey({ cache: true });
    expect([await ask(), await ask({ ...key, ...MINUTE })]).toEqual([0, 0]);
    const id = /^ep_([^_]+)_/.exec(String(key['x-proxy-api']))?.[1] ?? '';
    await proxy.app.keys.revoke(id);
    expect((await proxy.call(read(), { ...key, ...MINUTE })).json.error.code).toBe(-32000);
  });

  test('differ for policies that set another limit, other companies or another context', async () => {
    await startCounting();
    const keys = await Promise.all([
      makeKey({ cache: true, limit_max: 1 }),
      makeKey({ cache: true, companies: [1] }),
      makeKey({ cache: true, companies: [2] }),
      makeKey({ cache: true, context: { lang: 'fr_FR' } }),
      makeKey({ cache: true, context: { lang: 'fr_FR', tz: 'Europe/Paris' } }),
    ]);
    const values = [await ask()];
    for (const key of [...keys, ...keys]) values.push(await ask({ ...key, ...MINUTE }));
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  });

  test.each([
    ['max-age=1000000000', [0, 0]],
    ['max-age="5"', [0, 0]],
    ['max-age=-1', [0, 1]],
    ['max-age=1e9', [0, 1]],
    [`${'x,'.repeat(5000)}max-age=60`, [0, 0]],
    [
      ['max-age=60', 'max-age=30'],
      [0, 0],
    ],
    [
      ['max-age=60', 'no-cache'],
      [0, 1],
    ],
  ])('%# are requested by any valid form of cache-control', async (value, expected) => {
    await startCounting();
    // Node sends one header for each item of a list.
    const headers = { 'cache-control': value } as Record<string, string>;
    expect([await ask(headers), await ask(headers)]).toEqual(expected);
  });

  test('are never kept if cache.bytesMax is 0', async () => {
    await startCounting({ 'cache.bytesMax': '0' });
    expect([await ask(), await ask()]).toEqual([0, 1]);
  });
});

test('a web page can send cache-control and read age', async () => {
  await start(answerTrue);
  const origin = 'https://shop.example';
  const preflight = await send(`${proxy.url}/api/erp/execute`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers['access-control-allow-headers']).toMatch(/\bcache-control\b/);
  const answer = await proxy.call(read(), { origin });
  expect(answer.headers['access-control-expose-headers']).toMatch(/\bage\b/);
});

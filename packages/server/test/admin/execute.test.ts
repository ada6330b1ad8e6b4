/** Calls of an administrator: `POST /admin/v1/execute`. */
import { request as httpRequest } from 'node:http';
import type { Policy } from '@erp-proxy/contract';
import { TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, startUpstream } from '../scripted-upstream.ts';
import { measureMs, pause } from '../time.ts';
import { type Json, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

/** Longer than all other parts of a call take. */
const QUEUED_MS = 50;
const OWN = { url: '', db: 'prod', user_id: 2, api_key: 'odoo-secret-1' };

async function start(answer = 'true') {
  const upstream = closeAfterTest(
    await startUpstream((socket) =>
      answerLikeOdoo(socket, `{"jsonrpc": "2.0", "id": 1, "result": ${answer}}`),
    ),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url], settings: SETTINGS }));
  const instance = JSON.stringify({ ...OWN, url: upstream.url });
  const printCall = (members = '') =>
    `{"id":7,"model_id":"res.partner","action":"read","params":[[1]],"erp_instance":${instance}${members}}`;
  const execute = (body: string, headers: Record<string, string> = {}) => execAt(proxy.url, body, headers);
  const makeKey = async (more: Partial<Policy> = {}) => {
    const policy: Policy = { origins: [upstream.url], models: { 'res.partner': ['read'] }, ...more };
    const { record } = await proxy.app.keys.create({ name: 'shop', policy });
    return record.id;
  };
  const listCalls = async (): Promise<Json[]> => {
    await proxy.app.audit.flush();
    const { items } = await proxy.app.audit.search({ kind: 'call' });
    return items;
  };
  return { upstream, proxy, printCall, execute, makeKey, listCalls };
}

async function execAt(url: string, body: string, headers: Record<string, string> = {}) {
  const answer = await send(`${url}/admin/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const json: Json = JSON.parse(answer.body.toString());
  return { ...answer, json };
}

test('answers as the execute route does, with the bytes that Odoo sent and the times of the call', async () => {
  const { upstream, execute, printCall } = await start('[{"id": 1, "amount": 1.10}]');
  const answer = await execute(`{"call": ${printCall(',"keyword":{"fields":["amount"], "x":1.0}')}}`);
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":7,"result":[{"id": 1, "amount": 1.10}]}');
  expect(answer.headers['server-timing']).toMatch(/^upstream;dur=[\d.]+;desc="jsonrpc", proxy;dur=[\d.]+$/);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['x-request-id']).toMatch(/^[\w-]+$/);
  // The values kept their bytes.
  expect(upstream.requests[0]?.body.toString()).toContain('"x":1.0');
});

test('tells how long a call waited for the database, apart from the times of Odoo and the proxy', async () => {
  const held: (() => void)[] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket) => {
      held.push(() => answerLikeOdoo(socket, '{"jsonrpc":"2.0","id":1,"result":true}'));
    }),
  );
  const proxy = closeAfterTest(
    await startProxy({ allow: [upstream.url], settings: { ...SETTINGS, 'upstream.concurrency': '1' } }),
  );
  const body = JSON.stringify({
    call: {
      model_id: 'res.partner',
      action: 'write',
      params: [[1], {}],
      erp_instance: { ...OWN, url: upstream.url },
    },
  });
  const first = execAt(proxy.url, body);
  await expect.poll(() => held.length).toBe(1);
  let timings: unknown;
  const totalMs = await measureMs(async () => {
    const second = execAt(proxy.url, body);
    await expect.poll(() => proxy.app.databaseLimiters.states()[0]?.waiting).toBe(1);
    await pause(QUEUED_MS);
    held[0]?.();
    expect((await first).headers['server-timing']).not.toContain('queue');
    await expect.poll(() => held.length).toBe(2);
    held[1]?.();
    timings = (await second).headers['server-timing'];
  });
  const timing = /^queue;dur=([\d.]+), upstream;dur=([\d.]+);desc="jsonrpc", proxy;dur=([\d.]+)$/;
  const [queueMs = 0, odooMs = 0, proxyMs = 0] = timing.exec(String(timings))?.slice(1).map(Number) ?? [];
  expect(queueMs).toBeGreaterThanOrEqual(QUEUED_MS - 1);
  // No time is counted twice.
  expect(queueMs + odooMs + proxyMs).toBeLessThanOrEqual(totalMs + 1);
});

test('the audit and the log name the administrator, and say that the console made the call', async () => {
  const { proxy, execute, printCall, makeKey, listCalls } = await start();
  const id = await makeKey();
  await execute(`{"call":${printCall()}}`);
  await execute(`{"call":${printCall()},"key_id":"${id}"}`, { 'x-request-id': 'r-2' });
  await expect.poll(listCalls).toHaveLength(2);
  const [asKey, asProxy] = await listCalls();
  const common = { via: 'console', actor: TOKEN_ACTOR, address: '127.0.0.1', outcome: 'ok', action: 'read' };
  expect(asKey).toMatchObject({ ...common, key_id: id, request_id: 'r-2', batch_index: null });
  expect(asProxy).toMatchObject({ ...common, key_id: 'proxy' });
  expect(proxy.log).toContainEqual(
    expect.objectContaining({ msg: 'call', via: 'console', actor: TOKEN_ACTOR, keyId: id }),
  );
});

test('as a key, its policy and its limits hold, but not the place of its caller', async () => {
  const { upstream, execute, printCall, makeKey, listCalls } = await start();
  const elsewhere: Partial<Policy> = { cidrs: ['192.0.2.0/24'], cors_origins: ['https://shop.example'] };
  const id = await makeKey({ ...elsewhere, rate: { requests: 2, seconds: 3600 } });
  const own = { origin: 'https://console.example' };
  const denied = await execute(`{"key_id":"${id}","call":${printCall().replace('"read"', '"unlink"')}}`, own);
  expect(denied.status).toBe(403);
  expect(denied.json).toMatchObject({ id: 7, error: { data: { type: 'policy_denied' } } });
  expect(denied.json.error.data.rule).toBe('models["res.partner"]');
  expect(denied.headers['access-control-allow-origin']).toBeUndefined();
  expect((await execute(`{"key_id":"${id}","call":${printCall()}}`, own)).status).toBe(200);
  const limited = await execute(`{"key_id":"${id}","call":${printCall()}}`, own);
  expect(limited.status).toBe(429);
  expect(limited.json.error.data).toMatchObject({ type: 'rate_limited', rule: 'rate' });
  expect(upstream.requests).toHaveLength(1);
  await expect.poll(listCalls).toHaveLength(2);
  expect((await listCalls())[1]).toMatchObject({ outcome: 'policy_denied', actor: TOKEN_ACTOR });
});

test('as no key, the rules of egress hold all the same', async () => {
  const { upstream, execute, printCall } = await start();
  const call = printCall().replace(upstream.url, 'http://169.254.169.254');
  const answer = await execute(`{"call":${call}}`);
  expect(answer.status).toBe(403);
  expect(answer.json.error.data.type).toBe('egress_denied');
});

test('a key that does not work makes no call', async () => {
  const { proxy, upstream, execute, printCall, makeKey } = await start();
  const id = await makeKey();
  await proxy.app.keys.revoke(id);
  const asked = [id, 'nobody'].map((key) => execute(`{"key_id":"${key}","call":${printCall()}}`));
  const [revoked, unknown] = await Promise.all(asked);
  expect(revoked).toMatchObject({ status: 409, json: { detail: expect.stringMatching(/is revoked/) } });
  expect(unknown).toMatchObject({ status: 404, json: { detail: expect.stringMatching(/no key "nobody"/) } });
  expect(upstream.requests).toHaveLength(0);
});

test.each([
  ['no call', '{}', { path: 'call', message: 'is missing' }],
  ['an unknown member', '{"call":{},"keyid":"x"}', { path: 'keyid', message: /did you mean `key_id`/ }],
  ['other values', '{"call":{},"values":"raw"}', { path: 'values', message: /must be "normalized"/ }],
  ['a member twice', '{"call":{},"call":{}}', { path: 'call', message: /occurs twice/ }],
])('refuses %s with a problem', async (_what, body, fault) => {
  const { execute } = await start();
  const { status, headers, json } = await execute(body);
  expect(status).toBe(400);
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  const message = fault.message instanceof RegExp ? expect.stringMatching(fault.message) : fault.message;
  expect(json.faults).toEqual([{ ...fault, message }]);
});

test.each([
  ['a batch', '[{}]', 'invalid_request'],
  ['no object', '7', 'invalid_request'],
  ['a faulty call', '{"model_id":"res.partner"}', 'invalid_request'],
])('answers %s as the execute route answers errors', async (_what, call, type) => {
  const { execute } = await start();
  const { status, json } = await execute(`{"call":${call}}`);
  expect([status, json.error.data.type]).toEqual([400, type]);
});

test('a retry with the same idempotency key gets the first answer', async () => {
  const { upstream, execute, printCall } = await start('5');
  const body = `{"call":${printCall().replace('"read"', '"create"').replace('[[1]]', '[{}]')}}`;
  const headers = { 'idempotency-key': 'k1' };
  await execute(body, headers);
  const again = await execute(body, headers);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.json).toEqual({ jsonrpc: '2.0', id: 7, result: 5 });
  expect(upstream.requests).toHaveLength(1);
});

test('a session makes calls only from pages of the proxy itself', async () => {
  const { proxy, upstream, execute, printCall } = await start();
  const login = await send(`${proxy.url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: TOKEN }),
  });
  const cookie = String(login.headers['set-cookie']?.[0]?.split(';')[0]);
  const ask = (site: string) =>
    send(`${proxy.url}/admin/v1/execute`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': site, 'content-type': 'application/json' },
      body: `{"call":${printCall()}}`,
    });
  expect((await ask('cross-site')).status).toBe(403);
  expect((await execute('{}', { authorization: 'Bearer x' })).status).toBe(401);
  expect(upstream.requests).toHaveLength(0);
  expect((await ask('same-origin')).status).toBe(200);
});

test('a request that its administrator aborts ends the call', async () => {
  const upstream = closeAfterTest(await startUpstream(() => {}));
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url], settings: SETTINGS }));
  const call = {
    model_id: 'res.partner',
    action: 'read',
    params: [[1]],
    erp_instance: { ...OWN, url: upstream.url },
  };
  const request = httpRequest(`${proxy.url}/admin/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
  });
  request.on('error', () => {});
  request.end(JSON.stringify({ call }));
  await expect.poll(() => upstream.requests.length).toBe(1);
  request.destroy();
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expect
    .poll(() => proxy.log.find(({ msg }) => msg === 'call'))
    .toMatchObject({ outcome: 'caller_left', via: 'console' });
});

test('normalizes values on request', async () => {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const { userId, apiKey } = sandbox.users.admin;
  const { proxy, post } = await startAdmin({ allow: [sandbox.url], secrets: [apiKey] });
  const { url, db } = sandbox;
  await post('/instances', { name: 'prod', url, db, user_id: userId, api_key: apiKey });
  const call = {
    action: 'search_read',
    model_id: 'res.partner',
    params: [[]],
    keyword: { fields: ['email', 'create_date'], limit: 1 },
    erp_instance: { name: 'prod' },
  };
  const read = async (body: object) => execAt(proxy.url, JSON.stringify(body));
  const plain = await read({ call });
  const normalized = await read({ call, values: 'normalized' });
  expect(plain.headers['preference-applied']).toBeUndefined();
  expect(normalized.headers['preference-applied']).toBe('values=normalized');
  expect(plain.json.result[0].create_date).toMatch(/^\d{4}-\d\d-\d\d \d\d:/);
  expect(normalized.json.result[0].create_date).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

test('an unknown field comes with the nearest names', async () => {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const { userId, apiKey } = sandbox.users.admin;
  const { proxy, post } = await startAdmin({ allow: [sandbox.url], secrets: [apiKey] });
  const { url, db } = sandbox;
  await post('/instances', { name: 'prod', url, db, user_id: userId, api_key: apiKey });
  const call = {
    action: 'search_read',
    model_id: 'res.partner',
    params: [[['emial', '=', 'x']]],
    erp_instance: { name: 'prod' },
  };
  const { json } = await execAt(proxy.url, JSON.stringify({ call }));
  expect(json.error.data.nearest[0]).toBe('email');
});

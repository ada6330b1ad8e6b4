/**
 * Tests that one caller cannot lock out all others: Odoo 14 and 15 lock an address out after five wrong keys
 * (docs/odoo-facts.md#login-cooldown).
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Sandbox, startSandbox, type Version } from '@erp-proxy/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { type Proxy as ErpProxy, type ProxyOptions, send, startProxy } from '../harness.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** The monotonic clock of the proxy. The clock of the sandbox shows STARTED_AT plus this time. */
const clock = { ms: 1_000_000 };
const STARTED_AT = Date.UTC(2026, 10, 22);

const VAULT = { 'vault.masterKey': randomBytes(32).toString('base64') };

async function start(version: Version, protocol: 'auto' | 'jsonrpc' = 'auto', settings = {}) {
  const sandbox = await startSandbox({ version, clock: () => STARTED_AT + clock.ms });
  open.push(sandbox);
  const proxy = await startProxyTo(sandbox.url, {
    settings: { 'upstream.protocol': protocol, ...settings },
  });
  return { sandbox, proxy };
}

async function startProxyTo(url: string, options: ProxyOptions = {}): Promise<ErpProxy> {
  const proxy = await startProxy({ allow: [url], nowMs: () => clock.ms, ...options });
  open.push(proxy);
  return proxy;
}

function call(proxy: ErpProxy, sandbox: Sandbox, api_key: string, changes: object = {}, key = proxy.key) {
  const erp_instance = { url: sandbox.url, db: sandbox.db, user_id: 2, api_key };
  return proxy.call(
    { id: 1, action: 'read', model_id: 'res.partner', params: [[1], ['id']], erp_instance, ...changes },
    { 'x-proxy-api': key, 'cache-control': 'no-cache' },
  );
}

const makeOther = async ({ app }: ErpProxy) => (await app.keys.create({ name: 'other' })).key;
const wrongKey = (index: number) => `${index}`.padStart(40, 'f');

/** Sends wrong keys, as another program behind the same address may do. */
async function failElsewhere({ url, db }: Sandbox, times = 5): Promise<void> {
  for (let time = 0; time < times; time++) {
    const args = [db, 2, wrongKey(900 + time), 'res.partner', 'read', [[1]]];
    await send(`${url}/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, params: { service: 'object', method: 'execute_kw', args } }),
    });
  }
}

const LOCKED_OUT = { code: -32013, data: { type: 'overloaded', retryable: true } };

describe.each([
  [14, 'auto'],
  [14, 'jsonrpc'],
  [15, 'auto'],
  [15, 'jsonrpc'],
] as const)('Odoo %i over %s', (version, protocol) => {
  test('one caller with many wrong keys does not cause a lockout', async () => {
    const { sandbox, proxy } = await start(version, protocol);
    const other = await makeOther(proxy);
    const types = new Set<string>();
    for (let index = 0; index < 20; index++)
      types.add((await call(proxy, sandbox, wrongKey(index))).json.error.data.type);
    const atOnce = Array.from({ length: 20 }, (_, index) => call(proxy, sandbox, wrongKey(100 + index)));
    for (const { json } of await Promise.all(atOnce)) types.add(json.error.data.type);
    expect(types).toEqual(new Set(['access_denied', 'overloaded']));
    expect(sandbox.requests.wrongKeys).toBeLessThan(5);
    const { json } = await call(proxy, sandbox, sandbox.users.admin.apiKey, {}, other);
    expect(json.result).toEqual([{ id: 1 }]);
  });

  test('one caller with many simultaneous wrong keys does not cause a lockout', async () => {
    const { sandbox, proxy } = await start(version, protocol);
    const other = await makeOther(proxy);
    await Promise.all(Array.from({ length: 30 }, (_, index) => call(proxy, sandbox, wrongKey(index))));
    expect(sandbox.requests.wrongKeys).toBeLessThan(5);
    const { json } = await call(proxy, sandbox, sandbox.users.admin.apiKey, {}, other);
    expect(json.result).toEqual([{ id: 1 }]);
  });

  test('one wrong key that is sent repeatedly does not cause a lockout, and is refused as wrong', async () => {
    const { sandbox, proxy } = await start(version, protocol);
    const types = new Set<string>();
    for (let time = 0; time < 30; time++) {
      types.add((await call(proxy, sandbox, wrongKey(1))).json.error.data.type);
      clock.ms += 20_000;
    }
    expect(types).toEqual(new Set(['access_denied']));
    expect(sandbox.requests.wrongKeys).toBeLessThan(5);
  });

  test('writes to a stored instance with a wrong key do not cause a lockout', async () => {
    const { sandbox, proxy } = await start(version, protocol, VAULT);
    const { url, db } = sandbox;
    const instance = { name: 'prod', url, db, user_id: 2, api_key: wrongKey(1), allow_private: true };
    await proxy.app.instances.add(instance);
    const create = { action: 'create', params: [{ name: 'A' }], erp_instance: { name: 'prod' } };
    const types = new Set<string>();
    for (let time = 0; time < 12; time++) {
      const key = time % 3 === 0 ? await makeOther(proxy) : proxy.key;
      types.add((await call(proxy, sandbox, '', create, key)).json.error.data.type);
      clock.ms += 5_000;
    }
    expect(types).toEqual(new Set(['access_denied']));
    // The proxy itself asks once when the key expires.
    expect(sandbox.requests.wrongKeys).toBeLessThan(5);
    const { json } = await call(proxy, sandbox, sandbox.users.admin.apiKey, {}, await makeOther(proxy));
    expect(json.result).toEqual([{ id: 1 }]);
  });

  test('a correct key is refused during the lockout, and works after it', async () => {
    const { sandbox, proxy } = await start(version, protocol);
    const { apiKey } = sandbox.users.admin;
    await failElsewhere(sandbox);
    const create = { action: 'create', params: [{ name: 'Not made' }] };
    const first = await call(proxy, sandbox, apiKey, create);
    expect(first.status).toBe(503);
    expect(first.json.error).toMatchObject(LOCKED_OUT);
    expect(first.json.error.data.outcome).toBe('rolled_back');
    expect(first.headers['retry-after']).toBe('60');

    clock.ms += 20_000;
    const before = sandbox.requests.total;
    const second = await call(proxy, sandbox, apiKey, create, await makeOther(proxy));
    expect(second.json.error).toMatchObject(LOCKED_OUT);
    expect(second.json.error.data.outcome).toBe('not_sent');
    expect(second.headers['retry-after']).toBe('40');
    expect(sandbox.requests.total).toBe(before);

    clock.ms += 40_000;
    expect((await call(proxy, sandbox, apiKey)).json.result).toEqual([{ id: 1 }]);
    const found = { action: 'search_count', params: [[['name', '=', 'Not made']]] };
    expect((await call(proxy, sandbox, apiKey, found)).json.result).toBe(0);
  });

  test('credentials that worked are sent during the lockout, also after Odoo has cleared its cache', async () => {
    const { sandbox, proxy } = await start(version, protocol);
    const { apiKey } = sandbox.users.admin;
    expect((await call(proxy, sandbox, apiKey)).json.result).toEqual([{ id: 1 }]);
    await failElsewhere(sandbox);
    expect((await call(proxy, sandbox, 'admin')).json.error).toMatchObject(LOCKED_OUT);
    expect((await call(proxy, sandbox, apiKey)).json.result).toEqual([{ id: 1 }]);
    // This write clears Odoo's cache of credentials.
    await call(proxy, sandbox, apiKey, {
      model_id: 'res.users',
      action: 'write',
      params: [[2], { tz: 'UTC' }],
    });
    expect((await call(proxy, sandbox, apiKey)).json.error).toMatchObject(LOCKED_OUT);
    clock.ms += 60_000;
    expect((await call(proxy, sandbox, apiKey)).json.result).toEqual([{ id: 1 }]);
  });
});

test.each([16, 17, 18, 19] as const)('on Odoo %i trials of keys are not limited', async (version) => {
  const { sandbox, proxy } = await start(version);
  await call(proxy, sandbox, sandbox.users.admin.apiKey);
  for (let index = 0; index < 12; index++) {
    const { json } = await call(proxy, sandbox, wrongKey(index));
    expect(json.error.data.type).toBe('access_denied');
  }
  if (version < 19) expect(sandbox.requests.wrongKeys).toBe(12);
});

test('recognises the lockout in any language, and its answers do not lower the concurrency limit', async () => {
  const file = new URL('../../../sandbox/recordings/errors-15.0.json', import.meta.url);
  const lockout = JSON.parse(readFileSync(file, 'utf8')).lockout;
  const text = lockout.error.data.message;
  const answer = JSON.stringify(lockout).replaceAll(text, 'Zu viele Anmeldeversuche.');
  const upstream = await startUpstream((socket, _, index) => {
    answerLikeOdoo(socket, index === 0 ? answer : printResult('true'));
  });
  open.push(upstream);
  const proxy = await startProxyTo(upstream.url);
  const { json } = await proxy.call(makeCall(upstream.url));
  expect(json.error).toMatchObject(LOCKED_OUT);
  expect(JSON.stringify(json)).not.toContain('Anmeldeversuche');
  expect(proxy.log.findLast(({ msg }) => msg === 'call')?.['detail']).toBe('login cooldown');
  clock.ms += 60_000;
  expect((await proxy.call(makeCall(upstream.url))).json.result).toBe(true);
  const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
  expect(metrics).toMatch(/^erp_proxy_upstream_limit\{.*\} 8$/m);
});

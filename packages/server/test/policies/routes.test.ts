/** A policy applies to every route and to each call of a batch, and the values that it sets reach Odoo. */
import { randomBytes } from 'node:crypto';
import type { Policy } from '@erp-proxy/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printCall, printExecuteKw, printInstance, UPSTREAM_KEY } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

async function makeKey(members: Partial<Policy> = {}): Promise<string> {
  const policy = {
    origins: [pair.upstream.url],
    models: { 'res.partner': ['read', 'search_read'] },
    ...members,
  };
  return (await pair.proxy.app.keys.create({ name: 'limited', policy })).key;
}

const printOne = (members: Record<string, string> = {}) =>
  printCall('', { erp_instance: printInstance(pair.upstream.url), ...members });

async function collect(run: () => Promise<unknown>): Promise<string[]> {
  const before = pair.upstream.requests.length;
  await run();
  return pair.upstream.requests.slice(before).map(({ body }) => body.toString());
}

test('checks each call of a batch separately', async () => {
  const headers = { 'x-proxy-api': await makeKey() };
  const unlink = printOne({ action: '"unlink"', id: '2' });
  const sent = await collect(async () => {
    const { json, status } = await pair.proxy.call(
      `[${printOne()},${unlink},${printOne({ id: '3' })}]`,
      headers,
    );
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { id: 1, result: true },
      { id: 2, error: { code: -32010, data: { rule: 'models["res.partner"]' } } },
      { id: 3, result: true },
    ]);
  });
  expect(sent).toHaveLength(2);
});

test('checks the method that call_method calls', async () => {
  const headers = { 'x-proxy-api': await makeKey() };
  const allowed = await pair.proxy.call(printOne({ action: '"call_method"', fn_name: '"read"' }), headers);
  expect(allowed.status).toBe(200);
  const denied = await pair.proxy.call(printOne({ action: '"call_method"', fn_name: '"write"' }), headers);
  expect(denied.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'models["res.partner"]' });
});

test('sends the values that it sets, and the rest byte for byte', async () => {
  const headers = { 'x-proxy-api': await makeKey({ limit_max: 50, companies: [3, 1] }) };
  const call = printOne({
    action: '"search_read"',
    params: '[[["credit", ">",  1.0]]]',
    keyword: '{"fields": ["name"],  "context":{"lang" : "fr_FR"}}',
  });
  expect(await collect(() => pair.proxy.post(call, headers))).toEqual([
    printExecuteKw({
      method: 'search_read',
      params: '[[["credit", ">",  1.0]]]',
      keyword: '{"fields": ["name"],  "context":{"lang" : "fr_FR","allowed_company_ids":[3,1]},"limit":50}',
    }),
  ]);
});

test('completes the context of each call of a batch', async () => {
  const headers = { 'x-proxy-api': await makeKey({ context: { lang: 'fr_FR', tz: 'Europe/Paris' } }) };
  const given = printOne({ keyword: '{"context":{"lang":"de_DE"}}', id: '2' });
  const sent = await collect(() => pair.proxy.post(`[${printOne()},${given}]`, headers));
  expect(sent.sort()).toEqual(
    [
      printExecuteKw({ keyword: '{"context":{"lang":"fr_FR","tz":"Europe/Paris"}}' }),
      printExecuteKw({ keyword: '{"context":{"lang":"de_DE","tz":"Europe/Paris"}}' }),
    ].sort(),
  );
});

/** Clients of ODXProxy read every 403 as an invalid licence (packages/contract/src/compatible.ts). */
const REFUSED = 400;

describe('the routes of another gateway', () => {
  const instance = () => ({ url: pair.upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY });
  const post = (path: string, body: object, headers: Record<string, string>) =>
    send(pair.proxy.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test.each(['x-api-key', 'apikey', 'authorization'])('with the key in %s', async (name) => {
    const key = await makeKey();
    const body = {
      id: 'a',
      action: 'unlink',
      model_id: 'res.partner',
      params: [[1]],
      odoo_instance: instance(),
    };
    const answer = await post('/v1/odoo/execute', body, {
      [name]: name === 'authorization' ? `Bearer ${key}` : key,
    });
    expect(answer.status).toBe(REFUSED);
    expect(JSON.parse(answer.body.toString()).error.data.rule).toBe('models["res.partner"]');
  });

  test.each([
    ['/v1/odoo/execute', { action: 'read', params: [[1]] }],
    ['/v2/odoo/execute', { method: 'read', kwargs: { ids: [1] } }],
  ])('%s completes the context', async (path, call) => {
    const headers = { 'x-api-key': await makeKey({ context: { lang: 'fr_FR' } }) };
    const body = { id: 'a', model_id: 'res.partner', ...call, odoo_instance: instance() };
    const [sent] = await collect(() => post(path, body, headers));
    expect(sent).toContain('"context":{"lang":"fr_FR"}');
  });

  test('/v2, whose arguments are named', async () => {
    const headers = { 'x-api-key': await makeKey({ limit_max: 7 }) };
    const body = (method: string) => ({
      id: 'a',
      model_id: 'res.partner',
      method,
      kwargs: { domain: [] },
      odoo_instance: instance(),
    });
    const before = pair.upstream.requests.length;
    const denied = await post('/v2/odoo/execute', body('unlink'), headers);
    expect(denied.status).toBe(REFUSED);
    expect(pair.upstream.requests).toHaveLength(before);
    const sent = await collect(() => post('/v2/odoo/execute', body('search_read'), headers));
    expect(sent).toEqual(['{"domain":[],"limit":7}']);
  });

  test.each([
    ['/api/erp/version', 403],
    ['/api/odoo/version', REFUSED],
    ['/v2/odoo/version', REFUSED],
  ])('%s of a server that the key may not call', async (path, status) => {
    const key = await makeKey({ origins: ['https://erp.example.com'] });
    const before = pair.upstream.connections();
    const answer = await post(path, { id: 'v', url: pair.upstream.url }, { 'x-proxy-api': key });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString()).error.data.rule).toBe('origins');
    expect(pair.upstream.connections()).toBe(before);
  });
});

describe('related records of a call are checked on every route', () => {
  const user = '[[0,0,{"login":"x"}]]';
  const calls: [string, string, object, string][] = [
    [
      'create',
      'sensitive_methods',
      { vals_list: { name: 'a', user_ids: JSON.parse(user) } },
      `[{"name":"a","user_ids":${user}}]`,
    ],
    ['message_new', 'sensitive_methods', { msg_dict: {} }, '[{}]'],
    ['x_read', 'models', { spec: { a_id: { fields: { b: {} } } } }, '[{"a_id":{"fields":{"b":{}}}}]'],
  ];

  test.each(calls)('%s: %s', async (method, rule, kwargs, params) => {
    const key = await makeKey({ models: { '*': ['*', 'x_*'] } });
    const sent = await collect(async () => {
      const own = await pair.proxy.call(printOne({ action: `"${method}"`, params }), { 'x-proxy-api': key });
      expect(own.json.error.data).toMatchObject({ type: 'policy_denied', rule });
      const batch = await pair.proxy.call(`[${printOne({ action: `"${method}"`, params })}]`, {
        'x-proxy-api': key,
      });
      expect(batch.json[0].error.data.rule).toBe(rule);
      const instance = { url: pair.upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
      const base = { id: 'a', model_id: 'res.partner', odoo_instance: instance };
      for (const [path, body] of [
        ['/v1/odoo/execute', { ...base, action: method, params: JSON.parse(params) }],
        ['/v2/odoo/execute', { ...base, method, kwargs }],
      ] as const) {
        const answer = await send(pair.proxy.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': key },
          body: JSON.stringify(body),
        });
        expect([path, JSON.parse(answer.body.toString()).error.data.rule]).toEqual([path, rule]);
      }
    });
    expect(sent).toEqual([]);
  });
});

test('a call to a server that the policy denies gets the error of the policy, not that of egress', async () => {
  const headers = { 'x-proxy-api': await makeKey({ origins: ['https://erp.example.com'] }) };
  const ask = (url: string) =>
    send(`${pair.proxy.url}/api/erp/version`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ id: 'v', url }),
    });
  for (const url of [pair.upstream.url, 'http://10.1.2.3', 'https://192.0.2.1', 'https://8.8.8.8']) {
    const answer = await ask(url);
    expect(JSON.parse(answer.body.toString()).error.data).toMatchObject({
      type: 'policy_denied',
      rule: 'origins',
    });
  }
  expect(JSON.parse((await ask('nowhere')).body.toString()).error.data).toMatchObject({
    type: 'invalid_request',
    path: 'url',
  });
});

test('a denied instance and a missing one have the same error', async () => {
  const vault = await startPair(undefined, {
    settings: { 'vault.masterKey': randomBytes(32).toString('base64') },
  });
  try {
    const policy = { instances: ['shop-*'], models: { '*': ['*'] } };
    const { key } = await vault.proxy.app.keys.create({ name: 'shop', policy });
    const ask = async () => {
      const call = printCall('', { erp_instance: '{"name":"prod"}' });
      const { status, headers, body } = await vault.proxy.call(call, { 'x-proxy-api': key });
      const { date: _, 'server-timing': __, 'x-request-id': ___, ...others } = headers;
      return { status, headers: others, body: body.toString() };
    };
    const before = await ask();
    await vault.proxy.app.instances.add({
      name: 'prod',
      url: vault.upstream.url,
      db: 'prod',
      user_id: 2,
      api_key: UPSTREAM_KEY,
    });
    expect(await ask()).toEqual(before);
    expect(before).toMatchObject({ status: 403, body: expect.stringContaining('"rule":"instances"') });
    expect(vault.upstream.connections()).toBe(0);
  } finally {
    await vault.close();
  }
});

test('uses the address of the caller that a trusted proxy reports', async () => {
  const behind = await startPair(undefined, { settings: { 'http.trustProxy': '127.0.0.1' } });
  try {
    const policy = { origins: [behind.upstream.url], models: { '*': ['*'] }, cidrs: ['203.0.113.0/24'] };
    const { key } = await behind.proxy.app.keys.create({ name: 'office', policy });
    const call = printCall('', { erp_instance: printInstance(behind.upstream.url) });
    const from = (address: string) =>
      behind.proxy.call(call, { 'x-proxy-api': key, 'x-forwarded-for': address });
    expect((await from('203.0.113.9')).status).toBe(200);
    expect((await from('198.51.100.1')).json.error.data.rule).toBe('cidrs');
  } finally {
    await behind.close();
  }
});

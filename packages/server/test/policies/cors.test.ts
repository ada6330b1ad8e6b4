/** Tests CORS: preflights pass, pages can read answers, and the policy decides which pages may use a key. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printCall, printInstance, UPSTREAM_KEY } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';

const SHOP = 'https://shop.example.com';
let pair: Pair;
beforeAll(async () => {
  pair = await startPair(undefined, {
    settings: { 'admin.token': 'the-admin-token-of-these-tests-0123456789' },
  });
});
afterAll(() => pair.close());

const call = (headers: Record<string, string>) =>
  pair.proxy.call(printCall('', { erp_instance: printInstance(pair.upstream.url) }), headers);

test.each(['/api/erp/execute', '/api/erp/version', '/v2/odoo/execute'])(
  'answers a preflight to %s',
  async (path) => {
    const answer = await send(pair.proxy.url + path, {
      method: 'OPTIONS',
      headers: {
        origin: SHOP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-proxy-api',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe(SHOP);
    expect(answer.headers['access-control-allow-methods']).toBe('POST');
    const allowed = answer.headers['access-control-allow-headers']?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['x-proxy-api', 'x-api-key', 'apikey', 'authorization']));
  },
);

test.each([
  [[SHOP], SHOP, 200],
  [['https://*.example.com'], SHOP, 200],
  [[SHOP], 'https://evil.example.net', 403],
  [[SHOP], 'null', 403],
  [undefined, SHOP, 403],
  [undefined, undefined, 200],
])('a key for pages of %j, from a page of %s: %i', async (origins, origin, status) => {
  const { key } = await pair.proxy.app.keys.create({
    name: 'page',
    policy: {
      origins: [pair.upstream.url],
      models: { '*': ['*'] },
      ...(origins === undefined ? {} : { cors_origins: origins }),
    },
  });
  const answer = await call({ 'x-proxy-api': key, ...(origin === undefined ? {} : { origin }) });
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.json.error.data.rule).toBe('cors_origins');
  // The page can read the reason of the refusal.
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
});

test('a publishable key works for its page alone, and reads alone', async () => {
  const odoo = await startPair(undefined, {
    settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') },
  });
  try {
    const { app } = odoo.proxy;
    await app.instances.add({
      name: 'prod',
      url: odoo.upstream.url,
      db: 'prod',
      user_id: 2,
      api_key: UPSTREAM_KEY,
    });
    const { key } = await app.keys.create({
      name: 'page',
      policy: {
        instances: ['prod'],
        models: { 'res.partner': ['*'] },
        read_only: true,
        cors_origins: [SHOP],
        publishable: true,
      },
    });
    const ask = (changes: Record<string, string>, origin?: string) =>
      odoo.proxy.call(printCall('', { erp_instance: '{"name":"prod"}', ...changes }), {
        'x-proxy-api': key,
        ...(origin === undefined ? {} : { origin }),
      });
    expect((await ask({}, SHOP)).status).toBe(200);
    const sent = odoo.upstream.requests.length;
    const denied = [
      [await ask({}), 'publishable'],
      [await ask({}, 'https://evil.example.net'), 'cors_origins'],
      [await ask({ action: '"write"', params: '[[1],{"name":"x"}]' }, SHOP), 'read_only'],
      [await ask({ model_id: '"res.users"' }, SHOP), 'models'],
      [await ask({ erp_instance: printInstance(odoo.upstream.url) }, SHOP), 'origins'],
    ] as const;
    for (const [answer, rule] of denied) {
      expect(answer.json.error.data).toMatchObject({ type: 'policy_denied', rule });
    }
    expect(odoo.upstream.requests).toHaveLength(sent);
  } finally {
    await odoo.close();
  }
});

test('a page can read that its key is wrong', async () => {
  const answer = await call({ 'x-proxy-api': 'nonsense', origin: SHOP });
  expect(answer.status).toBe(401);
  expect(answer.headers['access-control-allow-origin']).toBe(SHOP);
});

describe('a key without a policy', () => {
  const execute = (url: string) => printCall('', { erp_instance: printInstance(url) });
  const compatible = (url: string) =>
    JSON.stringify({
      id: '1',
      action: 'read',
      model_id: 'res.partner',
      params: [[1]],
      odoo_instance: { url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY },
    });
  const json2 = (url: string) =>
    JSON.stringify({
      id: '1',
      model_id: 'res.partner',
      method: 'read',
      kwargs: { ids: [1] },
      odoo_instance: { url, db: 'prod', api_key: UPSTREAM_KEY },
    });
  const question = (url: string) => JSON.stringify({ id: '1', url });
  const ROUTES: [string, (url: string) => string][] = [
    ['/api/erp/execute', execute],
    ['/api/erp/execute', (url) => `[${execute(url)},${execute(url)}]`],
    ['/api/erp/version', question],
    ['/api/odoo', compatible],
    ['/api/odoo/execute', compatible],
    ['/v1/odoo/execute', compatible],
    ['/v2/odoo/execute', json2],
    ['/api/odoo/version', question],
    ['/v1/odoo/version', question],
    ['/v2/odoo/version', question],
  ];

  test.each(ROUTES)('is refused for a web page: %s', async (path, print) => {
    const { proxy, upstream } = pair;
    const before = upstream.requests.length;
    for (const origin of [SHOP, 'null', proxy.url, '']) {
      const answer = await send(proxy.url + path, {
        method: 'POST',
        headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json', origin },
        body: print(upstream.url),
      });
      expect(answer.status).toBe(path.includes('odoo') ? 400 : 403);
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
      const { error } = JSON.parse(answer.body.toString());
      expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'cors_origins' });
      expect(error.message).toContain('has no policy');
    }
    expect(upstream.requests).toHaveLength(before);
  });

  test('works for a program without an origin', async () => {
    expect((await call({})).status).toBe(200);
  });
});

test('a web page of another origin may not send the admin token', async () => {
  const answer = await send(`${pair.proxy.url}/admin/v1/keys`, {
    method: 'OPTIONS',
    headers: {
      origin: SHOP,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

test('a page can read and send the session of an agent', async () => {
  const allowed = await send(`${pair.proxy.url}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: SHOP, 'access-control-request-method': 'POST' },
  });
  expect(allowed.headers['access-control-allow-headers']).toContain('mcp-session-id');
  const { headers } = await call({ origin: SHOP });
  expect(headers['access-control-expose-headers']).toContain('mcp-session-id');
});

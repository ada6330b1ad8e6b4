/** Web pages: preflights pass, answers can be read, and the policy says whose pages may use a key. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';

const SHOP = 'https://shop.example.com';
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const call = (headers: Record<string, string>) =>
  pair.proxy.call(printCall('', { erp_instance: printInstance(pair.upstream.url) }), headers);

it.each(['/api/erp/execute', '/api/erp/version', '/v2/odoo/execute'])(
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
    expect(answer.headers['access-control-allow-headers']).toContain('x-proxy-api');
  },
);

it.each([
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
  // The page can read why.
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
});

it('a page can read that its key is wrong', async () => {
  const answer = await call({ 'x-proxy-api': 'nonsense', origin: SHOP });
  expect(answer.status).toBe(401);
  expect(answer.headers['access-control-allow-origin']).toBe(SHOP);
});

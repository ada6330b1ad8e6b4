/** Tests the headers that may hold the client key. */
import { expect, test } from 'vitest';
import { startOdoo } from './gateway.ts';

const ROUTES = ['/api/odoo/execute', '/api/odoo/version', '/v2/odoo/execute', '/v2/odoo/version'];

async function start() {
  const odoo = await startOdoo(19);
  const bodies: Record<string, unknown> = {
    '/api/odoo/execute': odoo.makeCall(),
    '/v2/odoo/execute': odoo.makeJson2Call(),
  };
  const question = { id: '1', url: odoo.sandbox.url };
  return {
    ...odoo,
    ask: (path: string, headers: Record<string, string>) =>
      odoo.post(path, bodies[path] ?? question, { 'x-api-key': null, ...headers }),
  };
}

test.each(ROUTES)('each of the four headers is accepted: %s', async (path) => {
  const { ask, proxy } = await start();
  for (const headers of [
    { 'x-api-key': proxy.key },
    { apikey: proxy.key },
    { authorization: `Bearer ${proxy.key}` },
    { authorization: `bearer  ${proxy.key}` },
    { 'x-proxy-api': proxy.key },
  ]) {
    const { status, json } = await ask(path, headers);
    expect([status, json.error], JSON.stringify(Object.keys(headers))).toEqual([200, undefined]);
  }
});

test('the same key may be sent twice; an empty header and another scheme are ignored', async () => {
  const { ask, proxy } = await start();
  for (const more of [{ apikey: proxy.key }, { apikey: '' }, { authorization: 'Basic dTpw' }]) {
    expect((await ask('/api/odoo/execute', { 'x-api-key': proxy.key, ...more })).status).toBe(200);
  }
});

test.each(ROUTES)('two different keys are refused, even if one is valid: %s', async (path) => {
  const { ask, proxy, sandbox } = await start();
  for (const headers of [
    { 'x-api-key': proxy.key, apikey: 'other' },
    { apikey: 'other', authorization: `Bearer ${proxy.key}` },
    { 'x-proxy-api': proxy.key, 'x-api-key': 'other' },
    { 'x-api-key': proxy.key, authorization: 'Bearer other' },
  ]) {
    const { status, json } = await ask(path, headers as Record<string, string>);
    expect(status).toBe(400);
    expect(json).toMatchObject({ id: null, error: { code: -32600, data: { type: 'invalid_request' } } });
    expect(JSON.stringify(json)).not.toContain(proxy.key);
  }
  expect(sandbox.requests.total).toBe(0);
});

test.each(ROUTES)('a missing or wrong key is 401 with -32000 and id null: %s', async (path) => {
  const { ask } = await start();
  for (const headers of [{}, { 'x-api-key': 'wrong' }] as Record<string, string>[]) {
    const { status, json } = await ask(path, headers);
    expect(status).toBe(401);
    expect(json).toMatchObject({ id: null, error: { code: -32000, data: { type: 'unauthorized' } } });
    expect(json.error.message).toContain('x-api-key');
  }
});

test('our own route does not accept x-api-key', async () => {
  const { proxy } = await start();
  const { status } = await proxy.post('{}', { 'x-proxy-api': '', 'x-api-key': proxy.key });
  expect(status).toBe(401);
});

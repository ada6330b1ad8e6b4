/** Tests that each route for clients of ODXProxy exists and behaves as documented. */
import { describe, expect, test } from 'vitest';
import { PROGRAM_VERSION, send } from '../harness.ts';
import { startOdoo } from './gateway.ts';

describe.each([18, 19, 22] as const)('in front of Odoo %i', (version) => {
  test.each(['/api/odoo/execute', '/v1/odoo/execute', '/api/odoo'])(
    '%s runs the execute call, with odoo_instance',
    async (path) => {
      const { post, makeCall } = await startOdoo(version);
      const answer = await post(path, makeCall({ action: 'search', params: [[['id', 'in', [1]]]] }));
      expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":"01JD8PXM3R","result":[1]}');
      expect(answer.status).toBe(200);
    },
  );

  test.each(['/api/odoo/version', '/v1/odoo/version'])(
    '%s returns the version object of Odoo',
    async (path) => {
      const { post, sandbox } = await startOdoo(version);
      const answer = await post(path, { id: '1', url: sandbox.url });
      const shown = await send(`${sandbox.url}/web/webclient/version_info`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"params":{}}',
      });
      const { result } = JSON.parse(shown.body.toString());
      expect(answer.json).toEqual({ jsonrpc: '2.0', id: '1', result });
      expect(Object.keys(answer.json.result)).toEqual([
        'server_version',
        'server_version_info',
        'server_serie',
        'protocol_version',
      ]);
    },
  );
});

test('erp_instance is refused, and the error suggests odoo_instance', async () => {
  const { post, makeCall, instance } = await startOdoo(18);
  const { odoo_instance: _, ...rest } = makeCall();
  const answer = await post('/api/odoo/execute', { ...rest, erp_instance: instance });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({
    code: -32600,
    message: '`erp_instance` is not a member of a call. Did you mean `odoo_instance`?',
    data: { path: 'erp_instance' },
  });
});

test.each([
  [{ url: undefined }, 'odoo_instance.url'],
  [{ url: 'ftp://x.example' }, 'odoo_instance.url'],
  [{ url: 'https://[' }, 'odoo_instance.url'],
  [{ db: '' }, 'odoo_instance.db'],
  [{ user_id: 'x' }, 'odoo_instance.user_id'],
  [{ api_key: 1 }, 'odoo_instance.api_key'],
  [{ apikey: 'x' }, 'odoo_instance.apikey'],
])('a mistake in the instance is named by the path that the caller sent: %j', async (changes, path) => {
  const { post, makeCall, instance } = await startOdoo(18);
  const { json } = await post('/api/odoo/execute', makeCall({ odoo_instance: { ...instance, ...changes } }));
  expect(json.error).toMatchObject({ code: -32600, data: { path } });
  expect(json.error.message).toContain(`\`${path}\``);
  expect(JSON.stringify(json)).not.toContain('erp_instance');
});

test('our own route accepts only erp_instance', async () => {
  const { proxy, makeCall } = await startOdoo(18);
  const { json } = await proxy.call(makeCall());
  expect(json.error.data.path).toBe('odoo_instance');
});

test('/_/about has its members at the top level and in result, without a key', async () => {
  const { proxy } = await startOdoo(18);
  const { status, body } = await send(`${proxy.url}/_/about`);
  const about = JSON.parse(body.toString());
  expect(status).toBe(200);
  const { build, version } = about;
  expect(about).toEqual({ jsonrpc: '2.0', id: 'about', build, version, result: { build, version } });
  expect(build).toMatch(/./);
  expect(version).toBe(PROGRAM_VERSION);
  const [major, minor] = version.split('.').map(Number);
  expect(major * 1000 + minor).toBeGreaterThanOrEqual(9);
});

test.each(['/_/about', '/_/license'])('web pages may read %s', async (path) => {
  const { proxy } = await startOdoo(18);
  const origin = 'https://shop.example.com';
  const { headers } = await send(proxy.url + path, { headers: { origin } });
  expect(headers['access-control-allow-origin']).toBe(origin);
  const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' };
  const preflight = await send(proxy.url + path, { method: 'OPTIONS', headers: { origin, ...asked } });
  expect(preflight.status).toBe(204);
  expect(preflight.headers['access-control-allow-methods']).toBe('GET');
  expect((await send(proxy.url + path, { method: 'OPTIONS' })).headers.allow).toBe('GET, HEAD');
});

test('/_/license has all members, without a key', async () => {
  const { proxy } = await startOdoo(18);
  const { status, body } = await send(`${proxy.url}/_/license`);
  expect(status).toBe(200);
  expect(JSON.parse(body.toString())).toEqual({
    licensee: expect.stringMatching(/./),
    valid_until: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    is_valid: true,
  });
});

test('/_/metrics has the same metrics as /metrics, without a key', async () => {
  const { proxy } = await startOdoo(18);
  const [theirs, ours] = await Promise.all(['/_/metrics', '/metrics'].map((path) => send(proxy.url + path)));
  const names = (text: string) => text.match(/^# HELP .*$/gm);
  expect(theirs?.headers['content-type']).toBe(ours?.headers['content-type']);
  expect(names(theirs?.body.toString() ?? '')).toEqual(names(ours?.body.toString() ?? ''));
  expect(theirs?.body.toString()).toContain('erp_proxy_calls_total');
});

test.each(['/api/odoo/execute', '/api/odoo', '/api/odoo/version', '/v2/odoo/execute', '/v2/odoo/version'])(
  'GET %s is refused with `allow: POST`',
  async (path) => {
    const { proxy } = await startOdoo(18);
    const answer = await send(proxy.url + path);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('POST');
  },
);

/**
 * Tests that if a server changes, or a proxy in front of it changes answers, the caller gets the outcome or a clear
 * error. No write that may have run is sent twice.
 */
import { describe, expect, test } from 'vitest';
import { countAsked, countSent, openGateway, type Reply, type Rule } from './gateway.ts';
import { openProxy, openSandbox, printOperation } from './stage.ts';

const sandboxes = {
  18: await openSandbox({ version: 18 }),
  19: await openSandbox({ version: 19 }),
  22: await openSandbox({ version: 22 }),
};
const pass: Rule = () => null;

async function openPair(
  version: 18 | 19 | 22,
  rule: Rule,
  protocol: 'auto' | 'jsonrpc' | 'json2' = 'auto',
  sandbox = sandboxes[version],
) {
  sandbox.reset();
  const gateway = await openGateway(sandbox, rule);
  const proxy = await openProxy([gateway], protocol);
  const call = (action: string, params: unknown, keyword: unknown = {}, model = 'res.partner') => {
    const operation = {
      name: action,
      model,
      action,
      params: JSON.stringify(params),
      keyword: JSON.stringify(keyword),
    };
    return proxy.call(
      printOperation(sandbox, { ...operation, instance: { url: JSON.stringify(gateway.url) } }),
    );
  };
  return { gateway, proxy, call, create: () => call('create', [{ name: 'once' }]) };
}

const page = (status: number): Reply => ({ status, body: '<html>not here</html>' });
const REDIRECT: Reply = { status: 302, headers: { location: 'https://sso.example/login' } };
const MOVED: Reply = { status: 301, headers: { location: 'https://erp.example/jsonrpc' } };
const LOGIN: Reply = { status: 303, headers: { location: '/web/login?redirect=%2Fjsonrpc' } };
const isJson2: (path: string) => boolean = (path) => path.startsWith('/json/2/');

describe('a proxy that blocks /json/2', () => {
  test.each([
    ['404', page(404)],
    ['403', page(403)],
    ['405', page(405)],
    ['410', page(410)],
    ['500', page(500)],
    ['401', page(401)],
    ['200 with a page', page(200)],
    ['a redirect', REDIRECT],
    ['JSON of its own', { status: 404, type: 'application/json', body: '{"detail":"Not Found"}' }],
    ['a result of its own', { status: 200, type: 'application/json', body: '{"ok":true}' }],
    ['a user that is no number', { status: 200, type: 'application/json', body: '{"uid":"2"}' }],
    ['a user that is not whole', { status: 200, type: 'application/json', body: '{"uid":2' }],
  ])('from the start, with %s: calls use /jsonrpc', async (_, reply) => {
    const { gateway, create } = await openPair(19, ({ path }) => (isJson2(path) ? reply : null));
    for (let i = 0; i < 3; i++) expect((await create()).json.result).toEqual(expect.any(Number));
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 3, json2: 0 });
    expect(countAsked(gateway)).toEqual({ version: 1, user: 1, page: 0 });
  });

  test.each([
    ['404', page(404)],
    ['403', page(403)],
    ['405', page(405)],
  ])('later, with %s: calls use /jsonrpc', async (_, reply) => {
    const { gateway, create } = await openPair(19, pass);
    expect((await create()).json.result).toEqual(expect.any(Number));
    gateway.rule = ({ path }) => (isJson2(path) ? reply : null);
    for (let i = 0; i < 3; i++) expect((await create()).json.result).toEqual(expect.any(Number));
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 3, json2: 2 });
  });

  test.each([
    ['500', page(500), -32005, 'unknown'],
    ['200 with a page', page(200), -32005, 'unknown'],
    ['a redirect', REDIRECT, -32005, 'unknown'],
    ['a redirect for good', MOVED, -32005, 'not_sent'],
    ['502', page(502), -32004, 'unknown'],
    ['504', page(504), -32003, 'unknown'],
    ['503', page(503), -32013, 'unknown'],
    ['a broken value', { status: 200, type: 'application/json', body: '[82' }, -32005, 'unknown'],
  ])('a write answered with %s is not sent again', async (_, reply, code, outcome) => {
    const { gateway, create } = await openPair(19, pass);
    expect((await create()).json.result).toEqual(expect.any(Number));
    gateway.rule = ({ path }) => (isJson2(path) ? reply : null);
    expect((await create()).json).toMatchObject({ error: { code, data: { outcome } } });
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 0, json2: 2 });
  });
});

describe('a proxy that blocks /jsonrpc', () => {
  test.each([
    ['404', page(404)],
    ['403', page(403)],
    ['405', page(405)],
    ['500', page(500)],
    ['200 with a page', page(200)],
    ['a redirect', REDIRECT],
  ])('from the start, with %s: calls use json2', async (_, reply) => {
    for (const version of [19, 22] as const) {
      const { gateway, create } = await openPair(version, ({ path }) => (path === '/jsonrpc' ? reply : null));
      for (let i = 0; i < 3; i++) expect((await create()).json.result).toEqual(expect.any(Number));
      expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 0, json2: 3 });
      expect(countAsked(gateway).version).toBe(1);
    }
  });

  test.each([
    ['404', page(404)],
    ['403', page(403)],
    ['a redirect for good', MOVED],
    ["Odoo's redirect to its login", LOGIN],
  ])('later, with %s: calls that only /jsonrpc can carry get advice', async (_, reply) => {
    const { gateway, call } = await openPair(19, pass);
    const post = () => call('message_post', [[21], 'hello']);
    expect((await post()).json).toMatchObject({ error: { data: { type: 'arguments_invalid' } } });
    gateway.rule = ({ path }) => (path === '/jsonrpc' ? reply : null);
    const { status, json } = await post();
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: -32602, message: expect.stringContaining('by its name') } });
    expect(countSent(gateway, 'message_post')).toEqual({ jsonrpc: 2, json2: 0 });
    expect((await call('read', [[3], ['name']])).json).toHaveProperty('result');
  });

  describe('later, with a redirect that may hide an error', () => {
    async function openUpgraded() {
      const sandbox = await openSandbox({ version: 18 });
      const pair = await openPair(18, pass, 'auto', sandbox);
      expect((await pair.create()).json.result).toEqual(expect.any(Number));
      sandbox.upgrade(19);
      pair.gateway.rule = ({ path }) => (path === '/jsonrpc' ? REDIRECT : null);
      return pair;
    }

    test('a write is not sent again, and the next one uses json2', async () => {
      const { gateway, create } = await openUpgraded();
      expect((await create()).json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown' } } });
      expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 0 });
      expect((await create()).json.result).toEqual(expect.any(Number));
      expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 1 });
    });

    test('a read uses json2 immediately', async () => {
      const { gateway, call } = await openUpgraded();
      expect((await call('read', [[3], ['name']])).json).toHaveProperty('result');
      expect(countSent(gateway, 'read')).toEqual({ jsonrpc: 1, json2: 1 });
    });
  });

  test('a write answered with 500 is not sent again', async () => {
    const { gateway, create } = await openPair(18, pass);
    expect((await create()).json.result).toEqual(expect.any(Number));
    gateway.rule = () => page(500);
    expect((await create()).json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown' } } });
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 0 });
  });
});

test.each([
  ['404', page(404)],
  ['200 with a page', page(200)],
  ['500', page(500)],
])('an address without Odoo, which answers %s, gets no call', async (_, reply) => {
  const { gateway, create } = await openPair(19, () => reply);
  const { status, json } = await create();
  expect(status).toBe(502);
  expect(json).toMatchObject({ error: { code: -32005, data: { outcome: 'not_sent' } } });
  expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 0, json2: 0 });
});

test('a write whose answer became a redirect may have run, even if nothing else answers', async () => {
  const { gateway, create } = await openPair(18, pass);
  expect((await create()).json.result).toEqual(expect.any(Number));
  gateway.rule = () => REDIRECT;
  expect((await create()).json).toMatchObject({ error: { code: -32005, data: { outcome: 'unknown' } } });
  expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 0 });
});

test('a server without any route gets an error that says so, and the write did not run', async () => {
  const { gateway, create } = await openPair(18, pass);
  expect((await create()).json.result).toEqual(expect.any(Number));
  gateway.rule = () => page(404);
  expect((await create()).json).toMatchObject({ error: { code: -32005, data: { outcome: 'not_sent' } } });
  expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 0 });
});

test.each(['jsonrpc', 'json2'] as const)(
  'with %s forced, no other protocol and no question is sent',
  async (forced) => {
    const { gateway, create } = await openPair(
      19,
      ({ path, body }) => (body.includes('once') || path.includes('version') ? page(404) : null),
      forced,
    );
    expect((await create()).json).toMatchObject({ error: { code: -32005, data: { outcome: 'not_sent' } } });
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 0, json2: 0, [forced]: 1 });
    expect(countAsked(gateway)).toEqual({ version: 0, user: forced === 'json2' ? 1 : 0, page: 0 });
  },
);

test('a server whose method differs from its page gets the call over /jsonrpc, once', async () => {
  const page19 = await openPair(19, pass);
  const find = () => page19.call('find_or_create', ['new@example.com', true]);
  page19.gateway.rule = async ({ path, headers }) => {
    if (!path.startsWith('/doc-bearer/')) return null;
    const real = await fetch(`${sandboxes[19].url}${path}`, { headers: headers as Record<string, string> });
    return {
      status: 200,
      type: 'application/json',
      body: (await real.text()).replaceAll('assert_valid_email', 'check_email'),
    };
  };
  expect((await find()).json).toHaveProperty('result');
  expect(countSent(page19.gateway, 'find_or_create')).toEqual({ jsonrpc: 1, json2: 1 });
  expect((await find()).json).toHaveProperty('result');
  expect(countSent(page19.gateway, 'find_or_create')).toEqual({ jsonrpc: 2, json2: 1 });
});

test('without /jsonrpc, an upgraded module loses no call, because its page is read again', async () => {
  const { gateway, call } = await openPair(22, pass);
  let isOld = true;
  gateway.rule = async ({ path, headers }) => {
    if (!path.startsWith('/doc-bearer/') || !isOld) return null;
    isOld = false;
    const real = await fetch(`${sandboxes[22].url}${path}`, { headers: headers as Record<string, string> });
    const body = (await real.text()).replaceAll('assert_valid_email', 'check_email');
    return { status: 200, type: 'application/json', body };
  };
  expect((await call('find_or_create', ['new@example.com', true])).json).toHaveProperty('result');
  expect(countSent(gateway, 'find_or_create')).toEqual({ jsonrpc: 0, json2: 2 });
  expect(countAsked(gateway).page).toBe(2);
});

describe('a database that json2 does not show', () => {
  const hide: Rule = ({ path }) =>
    isJson2(path) ? { status: 404, body: '<p>No database is selected</p>' } : null;

  test('is reached over /jsonrpc', async () => {
    const { gateway, create } = await openPair(19, hide);
    expect((await create()).json.result).toEqual(expect.any(Number));
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 1, json2: 0 });
  });

  test('later, is reached over /jsonrpc', async () => {
    const { gateway, create } = await openPair(19, pass);
    await create();
    gateway.rule = hide;
    expect((await create()).json.result).toEqual(expect.any(Number));
    expect((await create()).json.result).toEqual(expect.any(Number));
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 2, json2: 2 });
  });

  test('does not exist if there is no /jsonrpc', async () => {
    const { create } = await openPair(22, hide);
    expect((await create()).json).toMatchObject({ error: { code: 200, data: { type: 'database_missing' } } });
  });
});

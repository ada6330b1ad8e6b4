/**
 * Tests that the protocol of a server is determined once, without side effects on the server, and for all concurrent
 * callers. A caller does not wait longer for it than for its call.
 */
import { describe, expect, test } from 'vitest';
import type { ProxyOptions } from '../harness.ts';
import { countAsked, countSent, openGateway, type Rule } from './gateway.ts';
import type { Operation } from './operations.ts';
import { openProxy, openSandbox, printOperation } from './stage.ts';

const sandboxes = {
  18: await openSandbox({ version: 18 }),
  19: await openSandbox({ version: 19 }),
  22: await openSandbox({ version: 22 }),
};
type Known = keyof typeof sandboxes;
const pass: Rule = () => null;

const READ: Operation = {
  name: 'read',
  model: 'res.partner',
  action: 'read',
  params: '[[3],["name"]]',
};
/** A call of a method whose parameters only the doc page shows. */
const FIND: Operation = { ...READ, action: 'find_or_create', params: '["info@wood.example.com"]' };

async function openPair(
  version: Known,
  rule: Rule,
  protocol: Parameters<typeof openProxy>[1] = 'auto',
  options: ProxyOptions = {},
) {
  const sandbox = sandboxes[version];
  const gateway = await openGateway(sandbox, rule);
  const proxy = await openProxy([gateway], protocol, options);
  const print = (operation: Operation, instance: Record<string, string> = {}) =>
    printOperation(sandbox, {
      ...operation,
      instance: { url: JSON.stringify(gateway.url), ...instance },
    });
  return { gateway, proxy, print, call: (operation: Operation) => proxy.call(print(operation)) };
}

describe('fifty concurrent first calls', () => {
  test.each<[Known, ReturnType<typeof countAsked>]>([
    [18, { version: 1, user: 0, page: 0 }],
    [19, { version: 1, user: 1, page: 1 }],
    // With 22, the first of the two requests for the user is the probe of json2.
    [22, { version: 1, user: 2, page: 1 }],
  ])('ask each question once: Odoo %i', async (version, asked) => {
    const { gateway, call } = await openPair(version, pass);
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(FIND)));
    for (const { json } of answers) expect(json).toHaveProperty('result');
    expect(countAsked(gateway)).toEqual(asked);
    await call(FIND);
    expect(countAsked(gateway)).toEqual(asked);
  });

  test('request no page that creates a session', async () => {
    for (const version of [18, 19, 22] as const) {
      const { gateway, call } = await openPair(version, pass);
      await Promise.all(Array.from({ length: 50 }, () => call(FIND)));
      const paths = new Set(gateway.requests.map(({ path }) => path.split('/').slice(0, 3).join('/')));
      expect(
        [...paths].filter((path) => !/^\/(jsonrpc|json\/2|doc-bearer\/res\.partner\.json)$/.test(path)),
      ).toEqual([]);
      expect(gateway.requests.every(({ headers }) => headers.cookie === undefined)).toBe(true);
    }
  });
});

test('ask again after the knowledge has expired', async () => {
  let nowMs = 1_000;
  const { gateway, call } = await openPair(19, pass, 'auto', { nowMs: () => nowMs });
  await call(FIND);
  nowMs += 599_000;
  await call(FIND);
  expect(countAsked(gateway)).toEqual({ version: 1, user: 1, page: 1 });
  nowMs += 2_000;
  await call(FIND);
  expect(countAsked(gateway)).toEqual({ version: 2, user: 2, page: 2 });
});

test('ask for the user once for each credential, not for each call', async () => {
  const { gateway, proxy, call, print } = await openPair(19, pass);
  for (let i = 0; i < 5; i++) await call(READ);
  expect(countAsked(gateway).user).toBe(1);
  const { userId, apiKey } = sandboxes[19].users.demo;
  const demo = { user_id: String(userId), api_key: JSON.stringify(apiKey) };
  for (let i = 0; i < 5; i++) {
    const { json } = await proxy.call(print({ ...READ, params: '[[8],["name"]]' }, demo));
    expect(json).toHaveProperty('result');
  }
  expect(countAsked(gateway)).toEqual({ version: 1, user: 2, page: 0 });
  expect(countSent(gateway, 'read')).toEqual({ jsonrpc: 0, json2: 10 });
});

describe('a key of another user', () => {
  test.each([19, 22] as const)('is refused, and then not tried again: Odoo %i', async (version) => {
    const settings = { 'upstream.refusedCredentialsTtlMs': '60000' };
    const { gateway, proxy, print } = await openPair(version, pass, 'auto', { settings });
    const body = print({ ...READ, action: 'create', params: '[{"name":"x"}]' }, { user_id: '8' });
    for (let i = 0; i < 3; i++) {
      expect((await proxy.call(body)).json).toMatchObject({
        error: { code: 200, data: { type: 'access_denied' } },
      });
    }
    const before = gateway.requests.length;
    await proxy.call(body);
    expect(gateway.requests).toHaveLength(before);
    expect(countSent(gateway, 'create').json2).toBe(0);
    expect(sandboxes[version].requests.calls['res.partner.create']).toBeUndefined();
  });
});

test('that is a password uses /jsonrpc if available', async () => {
  const { gateway, proxy, print } = await openPair(19, pass);
  expect((await proxy.call(print(READ, { api_key: '"admin"' }))).json).toHaveProperty('result');
  expect(countSent(gateway, 'read')).toEqual({ jsonrpc: 1, json2: 0 });
  expect(JSON.stringify(gateway.requests.map(({ headers }) => headers))).not.toContain('bearer admin');
});

test('that no header can contain does not affect what others learn about the server', async () => {
  const { proxy, call, print } = await openPair(22, pass);
  const { json } = await proxy.call(print(READ, { api_key: '"two words"' }));
  expect(json.error.data.type).toBe('access_denied');
  expect((await call(READ)).json).toHaveProperty('result');
});

describe('a question without an answer', () => {
  test('in time does not delay calls: they use /jsonrpc', async () => {
    const letGo = Promise.withResolvers<void>();
    const { gateway, call } = await openPair(19, async ({ body }) => {
      if (body.includes('"common"')) await letGo.promise;
      return null;
    });
    const answers = await Promise.all([call(READ), call({ ...READ, params: '[[1],["name"]]' })]);
    for (const { json } of answers) expect(json).toHaveProperty('result');
    expect(countAsked(gateway).version).toBe(1);
    expect(countSent(gateway, 'read')).toEqual({ jsonrpc: 2, json2: 0 });
    letGo.resolve();
  });

  test('does not end with the caller that asked it first', async () => {
    const letGo = Promise.withResolvers<void>();
    const { gateway, proxy, call, print } = await openPair(19, async ({ body }) => {
      if (body.includes('"common"')) await letGo.promise;
      return null;
    });
    const leaving = new AbortController();
    const first = fetch(`${proxy.url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-proxy-api': proxy.key },
      body: print({ ...READ, action: 'create', params: '[{"name":"left"}]' }),
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => countAsked(gateway).version).toBe(1);
    const second = call(READ);
    leaving.abort();
    expect(await first).toBe('left');
    await expect.poll(() => proxy.log.map(({ outcome }) => outcome)).toEqual(['caller_left']);
    letGo.resolve();
    expect((await second).json).toHaveProperty('result');
    expect(countAsked(gateway).version).toBe(1);
    expect(countSent(gateway, 'create')).toEqual({ jsonrpc: 0, json2: 0 });
  });

  test.each([502, 503, 504, 429])(
    'but with %i gets the error that the call would have got',
    async (status) => {
      const rule: Rule = () => ({ status, headers: { 'retry-after': '7' } });
      const asked = await openPair(19, rule);
      const sent = await openPair(19, rule, 'jsonrpc');
      const [auto, jsonrpc] = [await asked.call(READ), await sent.call(READ)];
      expect(auto.status).toBe(jsonrpc.status);
      expect(auto.headers['retry-after']).toBe(jsonrpc.headers['retry-after']);
      expect(auto.json.error.code).toBe(jsonrpc.json.error.code);
      expect(auto.json.error.data.outcome).toBe('not_sent');
    },
  );

  test('because the server is down gets the error that the call would have got', async () => {
    const { gateway, proxy, print } = await openPair(19, pass);
    const body = print({ ...READ, action: 'create', params: '[{"name":"x"}]' });
    await gateway.close();
    const { status, json } = await proxy.call(body);
    expect(status).toBe(502);
    expect(json).toMatchObject({ error: { code: -32004, data: { outcome: 'not_sent' } } });
  });

  test('because the connection broke is asked again by the next call', async () => {
    const { gateway, call } = await openPair(19, () => ({
      status: 0,
      write: (response) => response.destroy(),
    }));
    const { json } = await call(READ);
    expect(json).toMatchObject({ error: { code: -32004, data: { outcome: 'not_sent' } } });
    gateway.rule = pass;
    expect((await call(READ)).json).toHaveProperty('result');
  });
});

describe('a doc page', () => {
  const withPage = (reply: (response: import('node:http').ServerResponse) => void): Rule => {
    return ({ path }) => (path.startsWith('/doc-bearer/') ? { status: 0, write: reply } : null);
  };
  const json = (text: string) =>
    withPage((response) => {
      response.writeHead(200, { 'content-type': 'application/json', etag: 'the-same-for-all' });
      response.end(text);
    });
  const status = (code: number) =>
    withPage((response) => {
      response.writeHead(code);
      response.end();
    });
  const describeMethod = (method: unknown) =>
    JSON.stringify({ model: 'res.partner', methods: { find_or_create: method } });
  const parameters = { email: {}, assert_valid_email: { default: 'False' } };
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, {}]));
  const tooLarge = withPage((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on('drain', write);
    write();
  });

  test.each<[string, Rule]>([
    ['without an end', tooLarge],
    ['of another model', json(JSON.stringify({ model: 'res.users', methods: {} }))],
    ['that may not be read', status(403)],
    ['that is not there', status(404)],
    ['that fails', status(500)],
    ['that is no JSON', json('<html>')],
    ['that is a list', json('[]')],
    ['nested to the depths', json('['.repeat(200_000))],
    [
      'whose parameters are in another order',
      json(describeMethod({ api: ['model'], signature: '(assert_valid_email=False, email)', parameters })),
    ],
    ['whose text names no parameters', json(describeMethod({ api: ['model'], signature: '()', parameters }))],
    [
      'with a parameter of the prototype',
      json(
        describeMethod({ api: ['model'], signature: '(__proto__)', parameters: {} }).replace(
          '"parameters":{}',
          '"parameters":{"__proto__":1}',
        ),
      ),
    ],
    [
      'with a name that is no name',
      json(describeMethod({ api: ['model'], signature: '(e.*)', parameters: { 'e.*': {} } })),
    ],
    [
      'with thousands of parameters',
      json(describeMethod({ api: ['model'], signature: `(${'a'.repeat(100_000)}`, parameters: many })),
    ],
    [
      'with a mark that nobody knows',
      json(
        describeMethod({ api: ['model', 'x'], signature: '(email, assert_valid_email=False)', parameters }),
      ),
    ],
  ])('%s gives no names: the call uses /jsonrpc, or gets advice', async (_, rule) => {
    const settings = { 'upstream.answerBytesMax': '1MiB' };
    const on19 = await openPair(19, rule, 'auto', { settings });
    expect((await on19.call(FIND)).json.result).toEqual([9]);
    expect(countSent(on19.gateway, 'find_or_create')).toEqual({ jsonrpc: 1, json2: 0 });
    const named = { ...FIND, params: '[]', keyword: '{"ids":null,"email":"info@wood.example.com"}' };
    expect((await on19.call(named)).json.result).toEqual([9]);
    expect(countSent(on19.gateway, 'find_or_create')).toEqual({ jsonrpc: 2, json2: 0 });
    const on22 = await openPair(22, rule, 'auto', { settings });
    const { status, json } = await on22.call(FIND);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: -32602, message: expect.stringContaining('by its name') } });
    expect((await on22.call(named)).json.result).toEqual([9]);
    expect(countSent(on22.gateway, 'find_or_create')).toEqual({ jsonrpc: 0, json2: 1 });
  });

  test('that may not be read is not requested again for each call', async () => {
    const { gateway, call } = await openPair(19, status(403));
    for (let i = 0; i < 5; i++) await call(FIND);
    expect(countAsked(gateway).page).toBe(1);
  });

  test('that is slow does not delay the call beyond its time limit', async () => {
    const letGo = Promise.withResolvers<void>();
    const { call, proxy, print, gateway } = await openPair(19, async ({ path }) => {
      if (path.startsWith('/doc-bearer/')) await letGo.promise;
      return null;
    });
    const { json } = await proxy.call(print(FIND), { 'x-request-timeout': '1' });
    expect(json).toMatchObject({ error: { code: -32003, data: { outcome: 'not_sent' } } });
    letGo.resolve();
    expect((await call(FIND)).json).toHaveProperty('result');
    expect(countAsked(gateway).page).toBe(1);
    expect(countSent(gateway, 'find_or_create')).toEqual({ jsonrpc: 0, json2: 1 });
  });
});

describe('the protocol of a call', () => {
  test.each([
    [18, 'auto', 'jsonrpc'],
    [19, 'auto', 'json2'],
    [22, 'auto', 'json2'],
    [19, 'jsonrpc', 'jsonrpc'],
    [19, 'json2', 'json2'],
  ] as const)('on %i with %s is %s, in the log and in server-timing', async (version, setting, protocol) => {
    const { proxy, call } = await openPair(version, pass, setting);
    const { headers } = await call(READ);
    expect(headers['server-timing']).toContain(`desc="${protocol}"`);
    await expect.poll(() => proxy.log).toMatchObject([{ msg: 'call', protocol }]);
  });

  test('can be set for one server', async () => {
    const one = await openGateway(sandboxes[19], pass);
    const other = await openGateway(sandboxes[19], pass);
    const proxy = await openProxy([one, other], 'auto', {
      settings: { 'upstream.protocolFor': `${one.url}=jsonrpc` },
    });
    for (const { url } of [one, other]) {
      await proxy.call(printOperation(sandboxes[19], { ...READ, instance: { url: JSON.stringify(url) } }));
    }
    expect(countSent(one, 'read')).toEqual({ jsonrpc: 1, json2: 0 });
    expect(countSent(other, 'read')).toEqual({ jsonrpc: 0, json2: 1 });
  });
});

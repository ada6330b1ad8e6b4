/**
 * Compares the sandbox with the faults that real servers of Odoo 14 and 15 sent, and with what is known of their pages
 * (docs/odoo-facts.md#odoo-14).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox, type Version } from '../src/index.ts';
import { exchange } from './exchange.ts';

interface Fault {
  code: number;
  message: string;
  data: { name: string; debug: string; message: string; arguments: string[]; context: object };
}

const LANG = { context: { lang: 'en_US' } };
/** The call of each recorded fault: model, method, positional and named arguments. */
const ASKED: Record<string, [model: string, method: string, args: unknown[], named?: object]> = {
  'no-ids': ['res.partner', 'read', []],
  'create-kwargs-only': ['res.partner', 'create', [], { vals_list: { email: 'a@example.com' }, ...LANG }],
  'domain-any': ['res.partner', 'search', [[['child_ids', 'any', [['id', '=', 1]]]]]],
  'leaf-dict': ['res.partner', 'search', [[{ a: 1 }]]],
  'unknown-model': ['zork.model', 'read', [[1]]],
  private: ['res.partner', '_write', [[1], {}]],
  'unknown-method': ['res.partner', 'zork', [[1]]],
  unique: ['res.users', 'create', [{ name: 'x', login: 'admin' }]],
  'search-kw-domain': ['res.partner', 'search', [], { domain: [] }],
  'wrong-key': ['res.partner', 'read', [[1]]],
  lockout: ['res.partner', 'read', [[1]]],
};
const WRONG_KEY = '0000000000000000000000000000000000000000';

describe.each<[Version, string]>([
  [14, '14.0'],
  [15, '15.0'],
])('Odoo %i', (version, file) => {
  const recorded = JSON.parse(
    readFileSync(new URL(`../recordings/errors-${file}.json`, import.meta.url), 'utf8'),
  ) as Record<string, { error: Fault }>;
  let sandbox: Sandbox;
  let now: number;
  beforeAll(async () => {
    sandbox = await startSandbox({ version, clock: () => now });
  });
  beforeEach(() => {
    now = Date.UTC(2026, 10, 22);
    sandbox.reset();
    sandbox.upgrade(version);
  });
  afterAll(() => sandbox.close());

  const post = (body: string, path = '/jsonrpc', type = 'application/json') =>
    exchange(sandbox.url, {
      method: 'POST',
      path,
      httpVersion: '1.1',
      headers: [['Content-Type', type]],
      body,
    });

  async function call(
    [model, method, args, named = {}]: (typeof ASKED)[string],
    key: string = sandbox.users.admin.apiKey,
  ) {
    const params = {
      service: 'object',
      method: 'execute_kw',
      args: [sandbox.db, 2, key, model, method, args, named],
    };
    const { body } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call', params }));
    return JSON.parse(body) as { id: unknown; result?: unknown; error?: Fault };
  }

  async function callWrong(times: number): Promise<void> {
    for (let time = 0; time < times; time++) await call(ASKED['wrong-key']!, WRONG_KEY);
  }

  test.each(Object.keys(ASKED))('answers %s as recorded', async (name) => {
    if (name === 'lockout') await callWrong(5);
    const isWrong = name === 'wrong-key' || name === 'lockout';
    const { error } = await call(ASKED[name]!, isWrong ? WRONG_KEY : undefined);
    const wanted = recorded[name]!.error;
    expect(describeFault(error!)).toEqual(describeFault(wanted));
  });

  test('a correct key is refused during the cooldown, a known pair is not, and after a minute all work', async () => {
    const read: (typeof ASKED)[string] = ['res.partner', 'read', [[1], ['id']]];
    expect(await call(read)).toMatchObject({ result: [{ id: 1 }] });
    await callWrong(5);
    expect(await call(read)).toMatchObject({ result: [{ id: 1 }] });
    expect(await call(read, 'admin')).toMatchObject({
      error: { data: { name: 'odoo.exceptions.AccessDenied' } },
    });
    now += 60_000;
    expect(await call(read, 'admin')).toMatchObject({ result: [{ id: 1 }] });
  });

  test('a success resets the count of failures', async () => {
    const read: (typeof ASKED)[string] = ['res.partner', 'read', [[1], ['id']]];
    await callWrong(4);
    expect(await call(read)).toHaveProperty('result');
    await callWrong(4);
    expect(await call(read, 'admin')).toHaveProperty('result');
  });

  test('writing a user makes every pair unknown', async () => {
    await call(['res.users', 'write', [[2], { tz: 'UTC' }]]);
    await callWrong(5);
    expect(await call(['res.partner', 'read', [[1]]])).toHaveProperty('error');
  });

  test('escapes non-ASCII characters, in results and in the id', async () => {
    const params = { service: 'common', method: 'version', args: [] };
    const { body } = await post(JSON.stringify({ id: 'é😀\u2028', params }));
    expect(body).toMatch(
      /^\{"jsonrpc": "2.0", "id": "\\u00e9\\ud83d\\ude00\\u2028", "result": \{"server_version": /,
    );
  });

  test('has no charset in the content type and no Connection header, and closes the connection', async () => {
    const { httpVersion, headers } = await post(
      '{"params":{"service":"common","method":"version","args":[]}}',
    );
    expect(httpVersion).toBe('1.0');
    expect(headers.map(([name]) => name)).toEqual(['Content-Type', 'Content-Length', 'Server', 'Date']);
    expect(headers[0]).toEqual(['Content-Type', 'application/json']);
  });

  test('repeats a body that is not JSON in its page', async () => {
    const { status, body } = await post('{"key": "<secret>"');
    expect(status).toBe(400);
    expect(body).toContain('Invalid JSON data: &#39;{&#34;key&#34;: &#34;&lt;secret&gt;&#34;&#39;');
  });

  test.each(['[]', '"a"', 'null', '{"params": []}', '{"params": null}', '{"params": {"context": 1}}'])(
    'fails on %s with a page',
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 500, body: expect.stringContaining('<h1>Internal') });
    },
  );

  test('answers a call to an unknown path with its own error and a cookie', async () => {
    const { status, headers, body } = await post('{"id": "a"}', '/json/2/res.partner/read');
    expect(status).toBe(404);
    expect(headers.map(([name]) => name)).toContain('Set-Cookie');
    expect(JSON.parse(body)).toMatchObject({ id: 'a', error: { code: 404, message: '404: Not Found' } });
  });

  test('context_get does not include the user', async () => {
    expect(await call(['res.users', 'context_get', []])).toMatchObject({ result: { lang: 'en_US' } });
    expect((await call(['res.users', 'context_get', []])).result).not.toHaveProperty('uid');
  });

  test.each(['web_read', 'web_save', 'search_fetch', 'fetch', 'has_access', 'get_views', 'get_view'])(
    'has no %s',
    async (method) => {
      expect(await call(['res.partner', method, [[1]]])).toMatchObject({
        error: {
          data: {
            name: 'builtins.AttributeError',
            message: `type object 'res.partner' has no attribute '${method}'`,
          },
        },
      });
    },
  );

  test('takes a domain named `args` in search and search_count', async () => {
    const found = await call(['res.partner', 'search', [], { args: [['id', '=', 1]] }]);
    expect(found.result).toEqual([1]);
    expect(await call(['res.partner', 'search_count', [], { args: [['id', '=', 1]] }])).toMatchObject({
      result: 1,
    });
    expect(await call(['res.partner', 'search_count', [[['id', '=', 1]]]])).toMatchObject({ result: 1 });
  });

  test('search_read takes `load` from 15 on', async () => {
    const answer = await call(['res.partner', 'search_read', [[['id', '=', 1]], ['id']], { load: '' }]);
    expect(answer).toHaveProperty(version === 14 ? 'error' : 'result');
  });

  test('returns its version', async () => {
    const { body } = await post('{"id":1,"params":{"service":"common","method":"version","args":[]}}');
    expect(JSON.parse(body).result).toMatchObject({
      server_version_info: [version, 0, 0, 'final', 0, ''],
      server_serie: file,
    });
  });
});

/** All of a fault except digits; of its traceback, only the frame that raised the exception. */
function describeFault({ code, message, data }: Fault) {
  const before = data.debug.slice(0, data.debug.lastIndexOf('direct cause'));
  return {
    code,
    message,
    order: Object.keys(data),
    name: data.name,
    text: data.message.replace(/\d+/g, '0'),
    arguments: data.arguments.length,
    raisedIn: /, in (\w+)\n(?: {4}.*\n)?Exception\n/.exec(before)?.[1],
    raisedAgainIn: data.debug.match(/, in \w+/g)?.at(-1),
  };
}

/** Tests `/v2/odoo/…`: calls that go to Odoo's `/json/2` unchanged. */
import { describe, expect, test } from 'vitest';
import { answerLikeOdoo, resetAfterReading, type Script } from '../scripted-upstream.ts';
import { startOdoo, startScripted } from './gateway.ts';

const EXECUTE = '/v2/odoo/execute';

const answerWith =
  (status: string, body = '', headers = 'Content-Type: application/json'): Script =>
  (socket) => {
    socket.end(
      `HTTP/1.0 ${status}\r\n${headers}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  };

test('kwargs go to Odoo as unchanged bytes, with the key and the database in headers', async () => {
  const { post, upstream, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, '[1.0]'));
  const kwargs = '{ "ids" :[1.0, 12345678901234567890], "b":{"\\u00e9": 1e400,"a":[ ]}}';
  const { odoo_instance, ...rest } = json2Call;
  const { url, db, api_key } = odoo_instance;
  const text = JSON.stringify({ ...rest, kwargs: 0, odoo_instance }).replace(
    '"kwargs":0',
    `"kwargs":${kwargs}`,
  );
  const answer = await post(EXECUTE, text);
  expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":"1","result":[1.0]}');
  const [sent] = upstream.requests;
  expect(sent?.body.toString()).toBe(kwargs);
  expect(sent?.head).toMatch(/^POST \/json\/2\/res\.partner\/read HTTP/);
  expect(sent?.head).toMatch(new RegExp(`^authorization: bearer ${api_key}$`, 'im'));
  expect(sent?.head).toMatch(new RegExp(`^x-odoo-database: ${db}$`, 'im'));
  expect(sent?.head).toContain(new URL(url).host);
  expect(upstream.requests).toHaveLength(1);
});

test('kwargs may be absent, null, {} or [] for no arguments; any other value that is not an object is refused', async () => {
  const { post, upstream, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, 'true'));
  for (const kwargs of [undefined, null, {}, []]) {
    expect((await post(EXECUTE, { ...json2Call, kwargs })).json.result).toBe(true);
    expect(upstream.requests.at(-1)?.body.toString()).toBe('{}');
  }
  for (const kwargs of [[1], 'x', 7, true]) {
    const { status, json } = await post(EXECUTE, { ...json2Call, kwargs });
    expect([status, json.error.code, json.error.data.path]).toEqual([400, -32600, 'kwargs']);
  }
});

test.each([
  [{ limit: 1 }, 'kwargs.limit'],
  [{ domain: [] }, 'kwargs.domain'],
  [{ keyword: {} }, 'kwargs'],
  [{ url: 'https://odoo.example.com' }, 'odoo_instance.url'],
])('the error about %j names its place', async (changes, place) => {
  const { post, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, 'true'));
  const { json } = await post(EXECUTE, { ...json2Call, ...changes });
  expect(json.error.message).toContain(`Did you mean \`${place}\``);
});

describe.each([19, 22] as const)('in front of Odoo %i', (version) => {
  test('create returns a list, also for one dict', async () => {
    const { post, makeJson2Call } = await startOdoo(version);
    const { json } = await post(
      EXECUTE,
      makeJson2Call({ method: 'create', kwargs: { vals_list: { name: 'One' } } }),
    );
    expect(json.result).toEqual([expect.any(Number)]);
  });

  test('None becomes "result": null, and limit is an argument of the method', async () => {
    const { post, makeJson2Call } = await startOdoo(version);
    const archived = await post(EXECUTE, makeJson2Call({ method: 'action_archive', kwargs: { ids: [9] } }));
    expect(archived.body.toString()).toBe('{"jsonrpc":"2.0","id":"01JD8PXM3R","result":null}');
    const read = await post(EXECUTE, makeJson2Call({ method: 'read', kwargs: { ids: [1], limit: 1 } }));
    expect([read.status, read.json.error.code]).toEqual([200, 422]);
  });

  test.each([
    [
      'a wrong key',
      { api_key: 'f'.repeat(40) },
      {},
      401,
      'werkzeug.exceptions.Unauthorized',
      'access_denied',
    ],
    ['a private method', {}, { method: '_write' }, 403, 'odoo.exceptions.AccessError', undefined],
    [
      'an unknown model',
      {},
      { model_id: 'no.model' },
      404,
      'werkzeug.exceptions.NotFound',
      'model_not_found',
    ],
    [
      'an unknown method',
      {},
      { method: 'no_method' },
      404,
      'werkzeug.exceptions.NotFound',
      'method_not_found',
    ],
    [
      'an unknown argument',
      {},
      { kwargs: { no_argument: 1 } },
      422,
      'werkzeug.exceptions.UnprocessableEntity',
      'arguments_invalid',
    ],
    [
      'a bad field',
      {},
      { kwargs: { domain: [['no_field', '=', 1]] } },
      500,
      'builtins.ValueError',
      'query_invalid',
    ],
  ])(
    '%s is HTTP 200 with the status as code and the name of Odoo',
    async (_, wrong, changes, code, name, type) => {
      const { post, makeJson2Call } = await startOdoo(version);
      const call = makeJson2Call(changes);
      const answer = await post(EXECUTE, { ...call, odoo_instance: { ...call.odoo_instance, ...wrong } });
      expect(answer.status).toBe(200);
      expect(answer.json.error.code).toBe(code);
      expect(answer.json.error.data).toMatchObject({ name, retryable: false, ...(type ? { type } : {}) });
      expect(answer.json.error.data).not.toHaveProperty('debug');
    },
  );

  test.each([
    ['a bad field', { kwargs: { domain: [['nmae', '=', 1]] } }, 'name'],
    ['a bad field in values', { method: 'write', kwargs: { ids: [9], vals: { nmae: 'x' } } }, 'name'],
    ['an unknown model', { model_id: 'res.parnter' }, 'res.partner'],
  ])('%s gets the nearest names, with requests to /json/2 alone', async (_, changes, first) => {
    const { post, makeJson2Call, sandbox } = await startOdoo(version);
    const { nearest } = (await post(EXECUTE, makeJson2Call(changes))).json.error.data;
    expect(nearest).toEqual([first]);
    expect(sandbox.requests.routes).toMatchObject({ '/json/2': 2 });
    expect(sandbox.requests.total).toBe(2);
  });

  test('a key that Odoo has refused gets the same answer the second time, without a request to Odoo', async () => {
    const { post, makeJson2Call, sandbox } = await startOdoo(version);
    const call = makeJson2Call();
    const wrong = { ...call, odoo_instance: { ...call.odoo_instance, api_key: 'f'.repeat(40) } };
    const [first, second] = [await post(EXECUTE, wrong), await post(EXECUTE, wrong)];
    expect(second?.json).toEqual(first?.json);
    expect(sandbox.requests.routes['/json/2']).toBe(1);
  });

  test('a missing or hidden database is 200, -32006', async () => {
    const { post, makeJson2Call } = await startOdoo(version);
    const call = makeJson2Call();
    const answer = await post(EXECUTE, { ...call, odoo_instance: { ...call.odoo_instance, db: 'missing' } });
    expect([answer.status, answer.json.error.code]).toEqual([200, -32006]);
  });

  test('/v2/odoo/version returns /json/version', async () => {
    const { post, sandbox } = await startOdoo(version);
    const { status, json } = await post('/v2/odoo/version', { id: '1', url: sandbox.url });
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: '1',
      result: { version_info: [version, 0, 0, 'final', 0, ''], version: `${version}.0` },
    });
  });
});

test.each([14, 15, 16, 17, 18] as const)(
  'Odoo %i, which has no json2, is 200, -32006 on both routes',
  async (version) => {
    const { post, makeJson2Call, sandbox } = await startOdoo(version);
    for (const answer of [
      await post(EXECUTE, makeJson2Call()),
      await post('/v2/odoo/version', { id: '01JD8PXM3R', url: sandbox.url }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        id: '01JD8PXM3R',
        error: { code: -32006, data: { type: 'json2_missing', retryable: false } },
      });
    }
  },
);

test.each([
  ['400 Bad Request', 400],
  ['403 Forbidden', 403],
  ['405 Not Allowed', 405],
  ['413 Too Large', 413],
  ['429 Slow Down', 429],
  ['500 Oops', 500],
  ['502 Bad Gateway', 502],
  ['503 Unavailable', 503],
  ['504 Timeout', 504],
])('an upstream that answers %s, with any body, is HTTP 200 with that code', async (line, code) => {
  const { post, json2Call } = await startScripted(
    answerWith(line, '<h1>do-not-show</h1>', 'Content-Type: text/html\r\nRetry-After: 7'),
  );
  const { status, headers, body, json } = await post(EXECUTE, json2Call);
  expect([status, json.error.code]).toEqual([200, code]);
  expect(json.error.data).toMatchObject({ type: expect.any(String), retryable: expect.any(Boolean) });
  expect(body.toString()).not.toContain('do-not-show');
  expect(headers['retry-after']).toBe(code === 429 || code === 503 ? '7' : undefined);
});

test.each([
  ['200 OK', '<html>', 'Content-Type: text/html'],
  ['200 OK', '[1', 'Content-Type: application/json'],
  ['302 Found', '', 'Location: https://sso.example/login'],
  ['204 No Content', '', 'X: y'],
])(
  'an answer that is neither a result of json2 nor an error is 500, -32005: %s %s',
  async (line, body, headers) => {
    const { post, json2Call } = await startScripted(answerWith(line, body, headers));
    const { status, json } = await post(EXECUTE, json2Call);
    expect([status, json.error.code]).toEqual([500, -32005]);
  },
);

test.each<[path: string, changes: object, wrong?: object]>([
  ['model_id', { model_id: '../x' }],
  ['model_id', { model_id: '..' }],
  ['model_id', { model_id: 'a/b' }],
  ['model_id', { model_id: '' }],
  ['model_id', { model_id: undefined }],
  ['method', { method: 'read?x=1' }],
  ['method', { method: '.read' }],
  ['method', { method: 'lire é' }],
  ['method', { method: 7 }],
  ['odoo_instance.db', {}, { db: 'a\r\nx: y' }],
  ['odoo_instance.db', {}, { db: 'postgres://x' }],
  ['odoo_instance.api_key', {}, { api_key: 'a b' }],
  ['odoo_instance.api_key', {}, { api_key: 'ké' }],
  ['odoo_instance.api_key', {}, { api_key: '' }],
])('an invalid %s is 400, -32007 and nothing is sent: %j %j', async (path, changes, wrong = {}) => {
  const { post, upstream, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, 'true'));
  const call = { ...json2Call, ...changes, odoo_instance: { ...json2Call.odoo_instance, ...wrong } };
  const { status, json } = await post(EXECUTE, call);
  expect(status).toBe(400);
  expect(json).toMatchObject({
    id: '1',
    error: { code: -32007, data: { type: 'json2_call_invalid', path } },
  });
  expect(upstream.connections()).toBe(0);
});

test('members of other routes are refused, except user_id in the instance', async () => {
  const { post, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, 'true'));
  for (const more of [{ params: [] }, { keyword: {} }, { action: 'read' }, { kwarg: {} }]) {
    const { status, json } = await post(EXECUTE, { ...json2Call, ...more });
    expect([status, json.error.code]).toEqual([400, -32600]);
  }
  const instance = { ...json2Call.odoo_instance, user_id: 2 };
  expect((await post(EXECUTE, { ...json2Call, odoo_instance: instance })).json.result).toBe(true);
});

test('refuses an array of calls', async () => {
  const { post, json2Call } = await startScripted((socket) => answerLikeOdoo(socket, 'true'));
  const { status, json } = await post(EXECUTE, [json2Call]);
  expect([status, json.error.code]).toEqual([400, -32600]);
});

test('a result that breaks off resets the connection of the caller', async () => {
  const half = `["${'x'.repeat(100_000)}"`;
  const { post, json2Call } = await startScripted((socket) => {
    socket.write(
      `HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n${half}`,
    );
    return resetAfterReading(socket);
  });
  await expect(post(EXECUTE, json2Call)).rejects.toThrow();
});

describe('retries', () => {
  const conflict = answerWith(
    '500 Internal Server Error',
    JSON.stringify({
      name: 'psycopg2.errors.SerializationFailure',
      message: 'could not serialize access due to concurrent update',
      arguments: [],
      context: {},
      debug: '',
    }),
  );
  const gateway = answerWith('504 Gateway Time-out', '<h1>', 'Content-Type: text/html');

  test.each<[string, string, Script, number]>([
    ['a read that a reverse proxy answered with 504', 'read', gateway, 2],
    ['a write that Odoo rolled back', 'write', conflict, 2],
    ['but not a write that a reverse proxy answered with 504', 'write', gateway, 1],
  ])('%s', async (_what, method, first, requests) => {
    const { post, upstream, json2Call } = await startScripted((socket, request, index) =>
      index === 0 ? first(socket, request, index) : answerLikeOdoo(socket, 'true'),
    );
    const { json } = await post(EXECUTE, { ...json2Call, method });
    expect(upstream.requests).toHaveLength(requests);
    expect(json.result).toBe(requests === 2 ? true : undefined);
  });
});

describe('a status of a reverse proxy in front of Odoo has the same meaning as on our own route', () => {
  const end = (line: string) => answerWith(line, '<h1>', 'Content-Type: text/html');

  test.each([
    ['502 Bad Gateway', 'unknown', false],
    ['504 Gateway Time-out', 'unknown', false],
    ['500 Oops', 'unknown', false],
    ['503 Unavailable', 'unknown', false],
    ['429 Slow Down', 'not_sent', true],
    ['403 Forbidden', 'not_sent', false],
  ])('a write with an idempotency key that gets %s: %s', async (line, outcome, retryable) => {
    const { post, upstream, json2Call } = await startScripted((socket, request, index) =>
      index === 0 ? end(line)(socket, request, index) : answerLikeOdoo(socket, '[7]'),
    );
    const create = () => post(EXECUTE, { ...json2Call, method: 'create' }, { 'idempotency-key': 'a' });
    expect((await create()).json.error.data).toMatchObject({ outcome, retryable });
    const again = await create();
    expect(again.headers['idempotency-replayed']).toBeUndefined();
    expect(again.json).toMatchObject(outcome === 'unknown' ? { error: { code: -32015 } } : { result: [7] });
    expect(upstream.requests).toHaveLength(outcome === 'unknown' ? 1 : 2);
  });

  test.each([
    ['502 Bad Gateway', 'upstream_unreachable'],
    ['504 Gateway Time-out', 'upstream_timeout'],
  ])('%s opens the circuit breaker', async (line, type) => {
    const { post, proxy, json2Call } = await startScripted(end(line), { nowMs: () => 1_000_000 });
    const write = async () => (await post(EXECUTE, { ...json2Call, method: 'write' })).json.error.data;
    for (let call = 0; call < 5; call++) expect(await write()).toMatchObject({ type, outcome: 'unknown' });
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ breaker: 'open' }]);
    expect(await write()).toMatchObject({ type: 'overloaded', outcome: 'not_sent' });
  });

  test('503 halves the concurrency limit', async () => {
    const { post, proxy, json2Call } = await startScripted(end('503 Unavailable'));
    await post(EXECUTE, { ...json2Call, method: 'write' });
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ limit: 4 }]);
  });
});

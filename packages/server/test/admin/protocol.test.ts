/** Behaviour of all routes below `/admin/v1`. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startAdmin, TOKEN } from './admin-client.ts';

test('without an admin token, answers every path with a problem that names the setting', async () => {
  const { ask } = await startAdmin({ settings: {} });
  for (const [method, path] of [
    ['GET', '/keys'],
    ['POST', '/session'],
    ['GET', '/nowhere'],
    ['GET', ''],
  ] as const) {
    const { status, json } = await ask(method, path);
    expect(status).toBe(404);
    expect(json.detail).toContain('admin.token');
  }
});

test.each(['/nowhere', '', '/', '/keys/', '/keys/a/b/c', `/keys/${'x'.repeat(200)}`, '/keys/%zz'])(
  'answers GET %s with a problem',
  async (path) => {
    const { get } = await startAdmin();
    expect((await get(path)).status).toBe(404);
  },
);

test.each([
  ['PUT', '/keys', 'GET, HEAD, POST'],
  ['DELETE', '/keys/x', 'GET, HEAD, PATCH'],
  ['GET', '/keys/x/revoke', 'POST'],
  ['POST', '/audit/export?format=csv', 'GET, HEAD'],
  ['OPTIONS', '/keys', 'GET, HEAD, POST'],
] as const)('answers %s %s with 405 and the allowed methods', async (method, path, allow) => {
  const { ask } = await startAdmin();
  const answer = await ask(method, path);
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toBe(allow);
});

test.each([
  ['invalid JSON', '{"name":', 400],
  ['not an object', '[]', 400],
  ['a byte order mark', '\ufeff{"name":"x"}', 400],
  ['an inherited member', '{"__proto__":{"name":"x"}}', 400],
])('refuses a body: %s', async (_, body, status) => {
  const { post } = await startAdmin();
  expect((await post('/keys', body)).status).toBe(status);
});

test.each<[string, string, string]>([
  ['/keys', '{"name":"x","policy":{"instances":["*"],"models":{"*":["read"]}},"policy":null}', 'policy'],
  [
    '/keys',
    '{"name":"x","policy":{"instances":["*"],"models":{"res.partner":["read"],"res.partner":["*"]}}}',
    'policy.models["res.partner"]',
  ],
  [
    '/keys',
    '{"name":"x","policy":{"instances":["a"],"instances":["*"],"models":{"*":["*"]}}}',
    'policy.instances',
  ],
  ['/keys', '{"name":"x","n\\u0061me":"y"}', 'name'],
  ['/keys/x/rotate', '{"overlap_seconds":1,"overlap_seconds":2}', 'overlap_seconds'],
  ['/keys/x/explain', '{"call":{"keyword":{"limit":1,"limit":2}}}', 'call.keyword.limit'],
  ['/instances', '{"name":"a","url":"https://a.example","url":"https://b.example"}', 'url'],
  ['/session', `{"token":"x","token":"${TOKEN}"}`, 'token'],
])('refuses a body to %s that has a member twice: %s', async (path, body, at) => {
  const { post } = await startAdmin();
  const answer = await post(path, body);
  expect(answer.status).toBe(400);
  expect(answer.json.faults).toEqual([{ path: at, message: 'occurs twice: keep one' }]);
});

test('refuses a change that has a member twice, and changes nothing', async () => {
  const { proxy, get, patch } = await startAdmin();
  const { record } = await proxy.app.keys.create({
    name: 'shop',
    policy: { instances: ['prod'], models: { 'res.partner': ['read'] } },
  });
  const before = (await get(`/keys/${record.id}`)).json;
  const body = '{"policy":{"instances":["prod"],"models":{"res.partner":["read"]}},"policy":null}';
  expect((await patch(`/keys/${record.id}`, body)).status).toBe(400);
  expect((await get(`/keys/${record.id}`)).json).toEqual(before);
});

test('does not repeat a body that is not JSON', async () => {
  const { post } = await startAdmin();
  const answer = await post('/instances', '{"api_key":"odoo-secret-1",}');
  expect(answer.status).toBe(400);
  expect(answer.json.detail).toBe('The body is not JSON in UTF-8.');
});

test.each([
  ['text/plain', {}, 415],
  ['application/x-www-form-urlencoded', {}, 415],
  ['application/json; charset=latin1', {}, 415],
  ['application/json', { 'content-encoding': 'gzip' }, 415],
  ['application/json; charset=utf-8', {}, 201],
])('answers the content type %s with %j by %d', async (type, headers, status) => {
  const { post } = await startAdmin();
  const given = { headers: { 'content-type': type, ...headers } };
  expect((await post('/keys', { name: 'Shop' }, given)).status).toBe(status);
});

test('refuses a body of more than 256 KiB, with and without content-length', async () => {
  const { post } = await startAdmin();
  const body = { name: 'x'.repeat(256 * 1024) };
  expect((await post('/keys', body)).status).toBe(413);
  expect((await post('/keys', body, { headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413);
});

test('takes an empty object as no body, and no body as one whose members are all left out', async () => {
  const { patch, post, proxy } = await startAdmin();
  const { record } = await proxy.app.keys.create({ name: 'shop' });
  expect((await post(`/keys/${record.id}/revoke`, {})).status).toBe(200);
  await post('/instances', {
    name: 'prod',
    url: 'https://erp.example.com',
    db: 'prod',
    user_id: 2,
    api_key: 'x',
  });
  const given = { name: 'contacts', instance: 'prod', model: 'res.partner', fields: ['name'] };
  expect((await post('/subscriptions', { ...given, url: 'https://hooks.example.com' })).status).toBe(201);
  expect((await post('/subscriptions/contacts/pause')).status).toBe(200);
  expect((await patch('/subscriptions/contacts')).json.faults).toEqual([
    { path: 'body', message: 'is missing' },
  ]);
});

test('refuses an unexpected body, a missing body and an unknown parameter', async () => {
  const { post, get } = await startAdmin();
  const { json } = await get('/keys');
  const { id } = json.items[0];
  expect((await post(`/keys/${id}/revoke`, { why: 'lost' })).status).toBe(400);
  expect((await post('/keys')).json.faults).toEqual([{ path: 'body', message: 'is missing' }]);
  expect((await get(`/keys/${id}?full=1`)).json.faults[0].path).toBe('full');
});

test('sends 100 Continue after it has authenticated the client', async () => {
  const { proxy } = await startAdmin();
  const { hostname, port } = new URL(proxy.url);
  const body = '{"name":"Shop"}';
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /admin/v1/keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`,
  );
  socket.once('data', () => socket.write(body));
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
});

test('uses the request id of the caller in the answer and in the audit', async () => {
  const { post, listAdminActions } = await startAdmin();
  const answer = await post('/keys', { name: 'Shop' }, { headers: { 'x-request-id': 'ticket-7' } });
  expect(answer.headers['x-request-id']).toBe('ticket-7');
  expect((await listAdminActions())[0].request_id).toBe('ticket-7');
});

test.each([
  Error,
  // `new Date(NaN).toISOString()` throws this error.
  RangeError,
])('answers an internal $name without its cause, which is in the log', async (ErrorType) => {
  const { proxy, get } = await startAdmin();
  proxy.app.store.keys.list = () => {
    throw new ErrorType('secret cause');
  };
  const { status, json } = await get('/keys', { headers: { 'x-request-id': 'ticket-8' } });
  expect(status).toBe(500);
  expect(JSON.stringify(json)).not.toContain('secret cause');
  expect(proxy.log).toContainEqual(expect.objectContaining({ requestId: 'ticket-8' }));
});

test('answers 503 if the store does not answer', async () => {
  const { proxy, get } = await startAdmin();
  proxy.app.store.keys.list = () => {
    throw Object.assign(new Error('refused'), { name: 'StoreError' });
  };
  const { status, json } = await get('/keys');
  expect([status, json.detail]).toEqual([
    503,
    'The store of the proxy does not answer or takes no changes. Try again when it does.',
  ]);
});

test('does not change the errors of other paths', async () => {
  const { proxy } = await startAdmin();
  const answer = await fetch(`${proxy.url}/admin/v2`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { data: { type: 'route_not_found' } } });
});

test('the answer to a bad body does not grow with it', async () => {
  const { post } = await startAdmin();
  const members = Array.from({ length: 20_000 }, (_, index) => [`x${index}`, 1]);
  const many = Object.fromEntries([...members, ['y'.repeat(10_000), 1]]);
  // Anyone can send a login.
  const login = await post('/session', many, { token: null });
  expect(login.status).toBe(413);
  const key = await post('/keys', many);
  expect(key.status).toBe(400);
  expect(key.json.faults).toHaveLength(100);
  const long = await post('/keys', { ['y'.repeat(10_000)]: 1 });
  expect(long.body.length).toBeLessThan(1000);
});

/** Tests subscriptions in the admin API over HTTP, and what they show. Every answer is checked against its schema. */
import { afterEach, expect, test } from 'vitest';
import { ODOO_SECRET, SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { startReceiver } from './receiver.ts';

const made: string[] = [];
afterEach(() => made.splice(0));

async function startApi() {
  const receiver = closeAfterTest(await startReceiver());
  const api = await startAdmin({
    settings: { ...SETTINGS, 'egress.allow': receiver.url },
  });
  await api.post('/instances', {
    name: 'prod',
    url: 'https://erp.example.com',
    db: 'prod',
    user_id: 2,
    api_key: `${ODOO_SECRET}1`,
  });
  const input = {
    name: 'contacts',
    instance: 'prod',
    model: 'res.partner',
    fields: ['name'],
    url: `${receiver.url}/hook?token=secret-of-the-receiver`,
    interval_seconds: 3600,
  };
  return { ...api, receiver, input };
}

test('creates, shows, changes, pauses, resumes and removes', async () => {
  const { post, get, patch, ask, input } = await startApi();
  const created = await post('/subscriptions', input);
  expect(created.status).toBe(201);
  expect(created.headers['location']).toBe('/admin/v1/subscriptions/contacts');
  expect(created.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const shown = await get('/subscriptions/contacts');
  expect(shown.json).toMatchObject({
    ...input,
    state: 'active',
    domain: [],
    payload: 'full',
    gone: false,
    start: 'now',
    key: null,
    version: 1,
  });
  expect(shown.json).not.toHaveProperty('secret');
  expect((await get('/subscriptions?search=PARTNER')).json.items).toHaveLength(1);
  expect((await get('/subscriptions?search=nothing')).json.items).toEqual([]);
  const changed = await patch(
    '/subscriptions/contacts',
    { payload: 'thin' },
    { headers: { 'if-match': '"1"' } },
  );
  expect(changed.json).toMatchObject({ payload: 'thin', version: 2 });
  expect(
    (await patch('/subscriptions/contacts', { payload: 'full' }, { headers: { 'if-match': '"1"' } })).status,
  ).toBe(412);
  expect((await post('/subscriptions/contacts/pause', { reason: 'Upgrade' })).json).toMatchObject({
    state: 'paused',
    reason: 'Upgrade',
  });
  expect((await post('/subscriptions/contacts/resume')).json).toMatchObject({
    state: 'active',
    reason: null,
  });
  expect((await post('/subscriptions/contacts/retry')).json).toMatchObject({ state: 'active' });
  expect((await get('/subscriptions?state=paused')).json.items).toEqual([]);
  expect((await post('/subscriptions', input)).status).toBe(409);
  expect((await ask('DELETE', '/subscriptions/contacts')).status).toBe(204);
  for (const path of ['', '/deliveries'])
    expect((await get(`/subscriptions/contacts${path}`)).status).toBe(404);
  for (const path of ['/ping', '/resume', '/retry'])
    expect((await post(`/subscriptions/contacts${path}`)).status).toBe(404);
});

test('removes one that another version has written, and lists the others', async () => {
  const { proxy, post, get, ask, input, listAdminActions } = await startApi();
  for (const name of ['a', 'b', 'c']) await post('/subscriptions', { ...input, name });
  const { subscriptions } = proxy.app.store;
  const row = await subscriptions.findByName('b');
  const body = JSON.stringify({ ...JSON.parse(row!.body), headers: {} });
  await subscriptions.replace(row!.id, row!.version, { body, restarts: false });
  const { items, next } = (await get('/subscriptions?limit=1')).json;
  const rest = (await get(`/subscriptions?limit=1&cursor=${next}`)).json;
  expect([...items, ...rest.items].map(({ name }) => name)).toEqual(['a', 'c']);
  expect((await get('/subscriptions/b')).json.detail).toMatch(/ writes it \(headers\): .* or remove it\.$/);
  expect((await ask('DELETE', '/subscriptions/b')).status).toBe(204);
  expect((await get('/subscriptions/b')).status).toBe(404);
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'subscription.remove',
    changes: { secret: { from: '(secret)', to: null } },
  });
});

test('a member that the version that wrote the row did not know has its default', async () => {
  const { proxy, post, get, input } = await startApi();
  await post('/subscriptions', { ...input, payload: 'thin' });
  const { subscriptions } = proxy.app.store;
  const row = await subscriptions.findByName('contacts');
  const { gone, payload, ...earlier } = JSON.parse(row!.body);
  expect([gone, payload]).toEqual([false, 'thin']);
  await subscriptions.replace(row!.id, row!.version, { body: JSON.stringify(earlier), restarts: false });
  expect((await get('/subscriptions/contacts')).json).toMatchObject({ gone: false, payload: 'full' });
});

test.each(['key', 'domain'])(
  'a stored subscription without its %s is damaged, and sends nothing',
  async (member) => {
    const { proxy, post, get, input } = await startApi();
    await post('/subscriptions', input);
    const { subscriptions } = proxy.app.store;
    const row = await subscriptions.findByName('contacts');
    const { [member]: lost, ...damaged } = JSON.parse(row!.body);
    expect(lost).toEqual(member === 'key' ? null : []);
    await subscriptions.replace(row!.id, row!.version, { body: JSON.stringify(damaged), restarts: false });
    expect(await get('/subscriptions/contacts')).toMatchObject({
      status: 503,
      json: { detail: expect.stringContaining(`is not as this version of the proxy writes it (${member})`) },
    });
  },
);

test('pings, lists deliveries, replays and rotates the secret', async () => {
  const { post, get, input, receiver } = await startApi();
  const created = await post('/subscriptions', input);
  receiver.secrets.push(created.json.secret);
  expect((await post('/subscriptions/contacts/ping')).json).toMatchObject({ delivered: true, status: 204 });
  expect(receiver.received[0]).toMatchObject({ fault: null, path: '/hook?token=secret-of-the-receiver' });
  const list = await get('/subscriptions/contacts/deliveries');
  expect(list.json.items).toMatchObject([{ type: 'ping', state: 'delivered', record: null, attempts: 1 }]);
  const replay = (body: unknown) => post('/subscriptions/contacts/replay', body);
  expect((await replay({ delivery: list.json.items[0].id })).status).toBe(409);
  expect((await replay({ delivery: 'msg_missing' })).status).toBe(404);
  expect((await replay({ since: '2026-01-01T00:00:00Z' })).json).toEqual({ replayed: 0 });
  for (const body of [{}, { since: 'yesterday' }, { since: '2026-01-01T00:00:00Z', delivery: 'a' }])
    expect((await replay(body)).status).toBe(400);
  const rotated = await post('/subscriptions/contacts/rotate-secret', { overlap_seconds: 60 });
  expect(rotated.json.secret).not.toBe(created.json.secret);
  expect(rotated.json.secrets).toHaveLength(2);
  expect((await post('/subscriptions/contacts/rotate-secret', { overlap_seconds: -1 })).status).toBe(400);
});

test.each([
  ['name', '../etc/passwd'],
  ['name', ''],
  ['name', 'a'.repeat(65)],
  ['name', 'tab\tname'],
  ['instance', 'missing'],
  ['model', 'res.partner; drop table'],
  ['domain', [['x'.repeat(20_000), '=', 1]]],
  ['fields', []],
  ['fields', ['name', 'name']],
  ['fields', ['name; x']],
  ['fields', ['name.email']],
  ['url', 'ftp://127.0.0.1/'],
  ['url', 'https://user:password@shop.example.com/'],
  ['url', 'https://user@shop.example.com?by=a'],
  ['url', 'https://:password@shop.example.com'],
  ['url', 'https://shop.example.com/#fragment'],
  ['url', 'https://shop.example.com\\@127.0.0.1/'],
  ['url', 'https://shop.example.com/\r\nx: y'],
  ['url', 'javascript:alert(1)'],
  ['url', 'https://169.254.169.254/latest/meta-data'],
  ['url', 'http://shop.example.com/'],
  ['interval_seconds', 4],
  ['interval_seconds', 86_401],
  ['key', 'a b'],
])('refuses a bad %s: %j', async (member, value) => {
  const { post, get, input } = await startApi();
  const refused = await post('/subscriptions', { ...input, [member]: value });
  expect(refused.status).toBe(400);
  expect(refused.json.faults.map(({ path }: { path: string }) => path.split('.')[0])).toContain(member);
  expect(JSON.stringify(refused.json)).not.toContain('password@');
  expect((await get('/subscriptions')).json.items).toEqual([]);
});

test.each(['https://shop.example.com?by=a@b', 'https://shop.example.com/@shop?to=//x@y'])(
  'accepts the receiver %s',
  async (url) => {
    const { post, input } = await startApi();
    expect(await post('/subscriptions', { ...input, url })).toMatchObject({ status: 201, json: { url } });
  },
);

test('refuses unknown members, with the nearest name', async () => {
  const { post, input } = await startApi();
  const { url, ...rest } = input;
  const refused = await post('/subscriptions', { ...rest, ulr: url });
  expect(refused.json.faults).toContainEqual({ path: 'ulr', message: 'is not known; did you mean `url`?' });
});

test('secrets are in no list, log, audit or metric', async () => {
  const { post, get, patch, input, proxy } = await startApi();
  const secrets = [(await post('/subscriptions', input)).json.secret];
  await post('/subscriptions/contacts/ping');
  secrets.push((await post('/subscriptions/contacts/rotate-secret', { overlap_seconds: 60 })).json.secret);
  await patch('/subscriptions/contacts', { url: `${input.url}2` });
  const texts = [
    (await get('/subscriptions/contacts')).body.toString(),
    (await get('/subscriptions')).body.toString(),
    (await get('/subscriptions/contacts/deliveries')).body.toString(),
    (await get('/audit')).body.toString(),
    JSON.stringify(proxy.log),
    JSON.stringify(await proxy.app.store.subscriptions.findByName('contacts')),
    await (await fetch(`${proxy.url}/metrics`)).text(),
  ];
  for (const text of texts)
    for (const secret of secrets) expect(text).not.toContain(secret.slice('whsec_'.length));
  // The query of an address may be a secret of the receiver: only administrators see it, and no log or audit keeps it.
  for (const text of [texts[3], texts[4]]) expect(text).not.toContain('secret-of-the-receiver');
  const actions = (await get('/audit?kind=admin')).json.items.map(({ action }: { action: string }) => action);
  // A login is recorded some time later.
  expect(actions.filter((action: string) => !action.startsWith('login.'))).toEqual([
    'subscription.update',
    'subscription.rotate-secret',
    'subscription.ping',
    'subscription.create',
    'instance.create',
  ]);
});

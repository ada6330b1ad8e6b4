/** Tests `/me`: what a person sees and does with connections, and that it is never those of another person. */
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startStage } from './stage.ts';

const WRONG_KEY = '0'.repeat(40);

test('a person lists, tests, renews and removes connections, each act with both names in the audit', async () => {
  const { sandbox, connect, ask, proxy } = await startStage();
  const { admin, demo } = sandbox.users;
  expect((await ask('GET', '/me/connections', 'ada')).json).toEqual({
    person: 'corp/ada',
    name: 'corp/ada',
    connections: [],
  });
  expect((await ask('GET', '/me/connections/prod', 'ada')).json).toEqual({
    instance: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    connection: null,
  });
  const made = await connect('ada', demo);
  expect(made.json).toMatchObject({ instance: 'prod', state: 'connected', login: 'demo', user_id: 8 });
  expect((await ask('GET', '/me/connections', 'ada')).json.connections).toEqual([made.json]);
  expect((await ask('POST', '/me/connections/prod/test', 'ada')).json).toEqual({
    ok: true,
    text: expect.stringContaining('(demo)'),
  });
  expect((await connect('ada', admin)).json).toMatchObject({
    login: 'admin',
    created_at: made.json.created_at,
  });
  expect((await ask('DELETE', '/me/connections/prod', 'ada')).status).toBe(204);
  expect((await ask('DELETE', '/me/connections/prod', 'ada')).status).toBe(404);
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ kind: 'admin', actor: 'corp/ada' });
  const actor = { type: 'person', id: 'corp/ada' };
  const key = { from: '(secret)', to: '(secret)' };
  const target = 'connection prod corp/ada';
  expect(
    items.filter((item) => item.kind === 'admin' && item.action.startsWith('connection.')),
  ).toMatchObject([
    { actor, target, action: 'connection.remove', changes: { login: { from: 'admin', to: null } } },
    {
      actor,
      target,
      action: 'connection.renew',
      changes: { login: { from: 'demo', to: 'admin' }, api_key: key },
    },
    { actor, target, action: 'connection.create', changes: { login: { from: null, to: 'demo' } } },
  ]);
  expect(JSON.stringify(items)).not.toContain(demo.apiKey);
});

test('a person neither sees nor changes the connection of another one', async () => {
  const { sandbox, connect, ask, call } = await startStage();
  await connect('ada', sandbox.users.admin);
  expect((await ask('GET', '/me/connections', 'bob')).json.connections).toEqual([]);
  expect((await ask('GET', '/me/connections/prod', 'bob')).json.connection).toBeNull();
  expect((await ask('POST', '/me/connections/prod/test', 'bob')).status).toBe(404);
  expect((await ask('DELETE', '/me/connections/prod', 'bob')).status).toBe(404);
  const body = { login: 'admin', api_key: sandbox.users.admin.apiKey, person: 'corp/ada' };
  expect((await ask('POST', '/me/connections/prod', 'bob', body)).status).toBe(400);
  expect((await ask('GET', '/me/connections?person=corp/ada', 'bob')).status).toBe(400);
  expect((await call('ada')).status).toBe(200);
  expect((await call('bob')).status).toBe(403);
});

test.each([16, 19] as const)(
  'Odoo %i: says what is wrong with login and key, and stores nothing',
  async (version) => {
    const { sandbox, connect, ask } = await startStage({ version });
    const { admin } = sandbox.users;
    const expectFault = (answer: { status: number; json: unknown }, says: RegExp) =>
      expect(answer).toMatchObject({
        status: 400,
        json: { faults: [{ path: 'api_key', message: expect.stringMatching(says) }] },
      });
    expectFault(await connect('ada', { login: 'demo', apiKey: WRONG_KEY }), /not accepted.*wrong.*archived/);
    expectFault(await connect('ada', { login: 'demo', apiKey: 'my password' }), /40 digits/);
    // The key of somebody else.
    expectFault(await connect('ada', { login: 'demo', apiKey: admin.apiKey }), /not accepted/);
    expect((await ask('GET', '/me/connections', 'ada')).json.connections).toEqual([]);
  },
);

test('Odoo over /json/2 alone: refuses the key of another user than that of the login', async () => {
  const { sandbox, connect } = await startStage({ version: 19, instance: { protocol: 'json2' } });
  expect(await connect('ada', { login: 'demo', apiKey: sandbox.users.admin.apiKey })).toMatchObject({
    status: 400,
    json: { faults: [{ path: 'api_key', message: expect.stringMatching(/that of admin, not of demo/) }] },
  });
  expect((await connect('ada', sandbox.users.demo)).json).toMatchObject({ login: 'demo' });
});

test('says that the server cannot be reached, without its settings', async () => {
  const gone = await startSandbox({ version: 18 });
  await gone.close();
  const { sandbox, connect } = await startStage({ instance: { url: gone.url } });
  expect(await connect('ada', sandbox.users.demo)).toMatchObject({
    status: 409,
    json: { detail: expect.stringMatching(/could not be asked.*connection.*refused/) },
  });
});

test('tells when the key ends, and when Odoo refuses it later', async () => {
  const at = Date.UTC(2027, 1, 1);
  const sandbox = closeAfterTest(await startSandbox({ version: 19, keysExpireAt: at }));
  const { connect, ask } = await startStage({ instance: { url: sandbox.url, db: sandbox.db } });
  expect((await connect('ada', sandbox.users.demo)).json).toMatchObject({
    key_expires_at: new Date(at).toISOString(),
  });
  sandbox.setClock(() => at + 1000);
  expect((await ask('POST', '/me/connections/prod/test', 'ada')).json).toMatchObject({
    ok: false,
    text: expect.stringMatching(/^The key is not accepted/),
  });
});

test('bounds the keys that a person tries', async () => {
  const { connect, sandbox } = await startStage();
  for (let attempt = 0; attempt < 10; attempt++) {
    expect((await connect('ada', { login: 'demo', apiKey: WRONG_KEY })).status).toBe(400);
  }
  const refused = await connect('ada', sandbox.users.demo);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await connect('bob', sandbox.users.demo)).status).toBe(200);
});

test('nobody but a person is let in, and an unknown instance or one with a user is not there', async () => {
  const { ask, proxy, sandbox } = await startStage();
  const { key } = await proxy.app.keys.create({ name: 'of Ada', person: 'corp/ada' });
  const { status, json } = await ask('GET', '/me/connections', {});
  expect([status, json.detail]).toEqual([401, expect.stringMatching(/identity provider.*auth\.issuers/)]);
  expect(json.detail).not.toContain('admin.token');
  for (const text of ['admin-token-of-the-test-of-persons', key, proxy.key]) {
    expect((await ask('GET', '/me/connections', { authorization: `Bearer ${text}` })).status).toBe(401);
  }
  await proxy.app.instances.add({
    name: 'own',
    url: sandbox.url,
    db: sandbox.db,
    user_id: 2,
    api_key: sandbox.users.admin.apiKey,
  });
  for (const name of ['own', 'gone', '..', 'a b']) {
    const path = `/me/connections/${encodeURIComponent(name)}`;
    expect((await ask('GET', path, 'ada')).status).toBe(404);
  }
  expect((await ask('PUT', '/me/connections/prod', 'ada')).headers['allow']).toBe('GET, HEAD, POST, DELETE');
});

test('an operator lists who is connected and removes a connection, and gets no key', async () => {
  const { sandbox, connect, admin, call, proxy } = await startStage();
  const { demo } = sandbox.users;
  await connect('ada', sandbox.users.admin);
  await connect('bob', demo);
  const listed = await admin('GET', '/connections');
  expect(listed.json.items).toMatchObject([
    { person: 'corp/ada', instance: 'prod', login: 'admin', state: 'connected' },
    { person: 'corp/bob', instance: 'prod', login: 'demo', state: 'connected' },
  ]);
  expect(listed.text).not.toContain(demo.apiKey);
  const first = await admin('GET', '/connections?limit=1');
  expect((await admin('GET', `/connections?limit=1&cursor=${first.json.next}`)).json).toMatchObject({
    items: [{ person: 'corp/bob' }],
    next: null,
  });
  expect((await admin('GET', '/connections?person=corp/bob')).json.items).toHaveLength(1);
  expect((await admin('DELETE', `/connections/prod/${encodeURIComponent('corp/ada')}`)).status).toBe(204);
  expect((await admin('DELETE', `/connections/prod/${encodeURIComponent('corp/ada')}`)).status).toBe(404);
  expect((await call('ada')).status).toBe(403);
  expect((await call('bob')).status).toBe(200);
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ action: 'connection.remove' });
  expect(items).toMatchObject([{ actor: { type: 'token' }, target: 'connection prod corp/ada' }]);
});

test('the key of a person is created for one of a known provider, and for nobody else later', async () => {
  const { admin } = await startStage();
  const made = await admin('POST', '/keys', { name: 'of Ada', for: 'corp/ada' });
  expect(made).toMatchObject({ status: 201, json: { for: 'corp/ada' } });
  for (const person of ['ada', 'other/ada', 'corp/', 'corp/a b']) {
    expect(await admin('POST', '/keys', { name: 'x', for: person })).toMatchObject({
      status: 400,
      json: { faults: [{ path: 'for' }] },
    });
  }
  const path = `/keys/${made.json.id}`;
  expect((await admin('PATCH', path, { for: 'corp/bob' })).json).toMatchObject({ faults: [{ path: 'for' }] });
  expect((await admin('PATCH', path, { for: 'corp/ada', name: 'new' })).json).toMatchObject({ name: 'new' });
  expect((await admin('POST', `${path}/rotate`, { overlap_seconds: 0 })).json).toMatchObject({
    for: 'corp/ada',
  });
});

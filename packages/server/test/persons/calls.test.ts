/** Tests calls on an instance for persons: each runs as the Odoo user of the person who calls, or is refused. */
import { expect, test } from 'vitest';
import { PUBLIC_URL, startStage } from './stage.ts';

type Stage = Awaited<ReturnType<typeof startStage>>;

test.each([16, 18, 19] as const)(
  'Odoo %i runs the call of a person as the user of this person',
  async (version) => {
    const stage = await startStage({ version });
    const { sandbox, connect, proxy } = stage;
    const { admin, demo } = sandbox.users;
    expect(await connect('ada', admin)).toMatchObject({ status: 200, json: { login: 'admin', user_id: 2 } });
    expect(await connect('bob', demo)).toMatchObject({ status: 200, json: { login: 'demo', user_id: 8 } });
    expect(await findUser(stage, 'ada')).toBe(2);
    expect(await findUser(stage, 'bob')).toBe(8);
    await proxy.app.audit.flush();
    const { items } = await proxy.app.audit.search({ kind: 'call', person: 'corp/bob' });
    expect(items).toHaveLength(1);
    for (const item of items) {
      expect(item).toMatchObject({
        key_id: 'corp/bob',
        person: 'corp/bob',
        odoo_login: 'demo',
        instance: 'prod',
      });
    }
    const texts = [JSON.stringify(items), JSON.stringify(proxy.log)].join('');
    for (const { apiKey } of [admin, demo]) expect(texts).not.toContain(apiKey);
  },
);

/** Makes a call, and returns the id of the user in Odoo who ran it. */
async function findUser(stage: Stage, as: string | Record<string, string>): Promise<number | null> {
  let found: number | null = null;
  stage.sandbox.beforeCall(({ model, userId }) => {
    if (model === 'res.partner') found = userId;
  });
  const { status } = await stage.call(as, {
    action: 'read',
    model_id: 'res.partner',
    params: [[3], ['name']],
  });
  expect(status).toBe(200);
  return found;
}

test('a person without a connection gets the page to connect on, and nothing is sent', async () => {
  const { sandbox, call } = await startStage();
  const before = sandbox.requests.total;
  expect(await call('ada')).toMatchObject({
    status: 403,
    json: {
      id: 1,
      error: {
        code: -32019,
        message: expect.stringContaining(`${PUBLIC_URL}/connect/prod`),
        data: { type: 'connect_required', retryable: false, connect_url: `${PUBLIC_URL}/connect/prod` },
      },
    },
  });
  expect(sandbox.requests.total).toBe(before);
});

test('a key for a person makes the calls of this person, and another key none', async () => {
  const stage = await startStage();
  const { sandbox, connect, call, proxy } = stage;
  await connect('ada', sandbox.users.demo);
  const { key } = await proxy.app.keys.create({ name: 'script of Ada', person: 'corp/ada' });
  expect(await findUser(stage, { 'x-proxy-api': key })).toBe(8);
  const { key: bobs } = await proxy.app.keys.create({ name: 'script of Bob', person: 'corp/bob' });
  expect((await call({ 'x-proxy-api': bobs })).json.error).toMatchObject({
    data: { type: 'connect_required' },
  });
  expect((await call({ 'x-proxy-api': proxy.key })).json.error).toMatchObject({
    code: -32010,
    message: expect.stringContaining('keys create --for'),
    data: { type: 'policy_denied', rule: 'instance.identity' },
  });
});

test('a key and a token stop working when their person is denied', async () => {
  const { sandbox, connect, call, proxy } = await startStage();
  await connect('ada', sandbox.users.demo);
  const { key } = await proxy.app.keys.create({ name: 'script of Ada', person: 'corp/ada' });
  expect((await call({ 'x-proxy-api': key })).status).toBe(200);
  await proxy.app.store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: 1 });
  await expect.poll(async () => (await call({ 'x-proxy-api': key })).status).toBe(401);
  expect((await call('ada')).status).toBe(401);
});

test('a renewed connection is used at once, and a removed one not again', async () => {
  const stage = await startStage();
  const { sandbox, connect, call, ask } = stage;
  const { admin, demo } = sandbox.users;
  await connect('ada', admin);
  expect(await findUser(stage, 'ada')).toBe(2);
  await connect('ada', demo);
  expect(await findUser(stage, 'ada')).toBe(8);
  expect((await ask('DELETE', '/me/connections/prod', 'ada')).status).toBe(204);
  expect((await call('ada')).json.error).toMatchObject({ data: { type: 'connect_required' } });
});

test('a connection does not follow its instance to another server', async () => {
  const { sandbox, connect, call, ask, admin } = await startStage();
  await connect('ada', sandbox.users.demo);
  expect((await admin('PATCH', '/instances/prod', { db: 'other' })).status).toBe(200);
  expect((await call('ada')).json.error).toMatchObject({ data: { type: 'connect_required' } });
  expect((await ask('GET', '/me/connections', 'ada')).json.connections).toMatchObject([{ state: 'moved' }]);
  expect((await admin('PATCH', '/instances/prod', { db: sandbox.db })).status).toBe(200);
  expect((await call('ada')).status).toBe(200);
  // Another instance of the same name is another one.
  await admin('DELETE', '/instances/prod');
  const members = { name: 'prod', url: sandbox.url, db: sandbox.db, allow_private: true, identity: 'person' };
  expect((await admin('POST', '/instances', members)).status).toBe(201);
  expect((await call('ada')).json.error).toMatchObject({ data: { type: 'connect_required' } });
  expect((await admin('GET', '/connections')).json.items).toEqual([]);
});

test('an instance is switched to persons and back: user and key go, and must be given again', async () => {
  const stage = await startStage();
  const { sandbox, connect, call, admin, proxy } = stage;
  const { demo } = sandbox.users;
  await connect('ada', sandbox.users.admin);
  const own = { user_id: demo.userId, api_key: demo.apiKey };
  expect(await admin('PATCH', '/instances/prod', { identity: 'shared' })).toMatchObject({
    status: 400,
    json: { faults: [{ path: 'user_id' }, { path: 'api_key' }] },
  });
  expect(await admin('PATCH', '/instances/prod', { user_id: 2 })).toMatchObject({
    status: 400,
    json: { faults: [{ path: 'user_id', message: expect.stringContaining('identity `person`') }] },
  });
  expect(await admin('PATCH', '/instances/prod', { identity: 'shared', ...own })).toMatchObject({
    status: 200,
    json: { identity: 'shared', user_id: 8, key: { state: 'unknown' } },
  });
  expect(await findUser(stage, 'ada')).toBe(8);
  expect(await findUser(stage, { 'x-proxy-api': proxy.key })).toBe(8);
  expect(await admin('PATCH', '/instances/prod', { identity: 'person' })).toMatchObject({
    status: 200,
    json: { identity: 'person', user_id: null, key: { state: 'none' } },
  });
  expect(await findUser(stage, 'ada')).toBe(2);
  expect((await call({ 'x-proxy-api': proxy.key })).status).toBe(403);
  expect(JSON.stringify(await proxy.app.store.instances.findByName('prod'))).not.toContain(demo.apiKey);
});

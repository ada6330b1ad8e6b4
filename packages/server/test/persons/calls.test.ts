/** Tests calls on an instance for persons: each runs as the Odoo user of the person who calls, or is refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PUBLIC_URL, READ_ME, startStage } from './stage.ts';

test.each([16, 18, 19] as const)('Odoo %i runs the call of a person as the user of this person', async (version) => {
  const { sandbox, connect, call, proxy } = await startStage({ version });
  const { admin, demo } = sandbox.users;
  expect(await connect('ada', admin)).toMatchObject({ status: 200, json: { login: 'admin', user_id: 2 } });
  expect(await connect('bob', demo)).toMatchObject({ status: 200, json: { login: 'demo', user_id: 8 } });
  const readOwn = { action: 'search_read', keyword: { domain: [['id', '=', 8]], fields: ['login'] } };
  for (const [person, { userId, login }] of [
    ['ada', admin],
    ['bob', demo],
  ] as const) {
    expect(await call(person, { action: 'read', params: [[userId], ['login']] })).toMatchObject({
      status: 200,
      json: { result: [{ id: userId, login }] },
    });
    expect((await call(person, readOwn)).status).toBe(200);
  }
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ kind: 'call', person: 'corp/bob' });
  expect(items[0]).toMatchObject({ key_id: 'corp/bob', person: 'corp/bob', odoo_login: 'demo', instance: 'prod' });
  expect(items).toHaveLength(2);
});

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
  const { sandbox, connect, call, proxy } = await startStage();
  await connect('ada', sandbox.users.demo);
  const { key } = await proxy.app.keys.create({ name: 'script of Ada', person: 'corp/ada' });
  expect(await call({ 'x-proxy-api': key }, { action: 'read', params: [[8], ['login']] })).toMatchObject({
    status: 200,
    json: { result: [{ id: 8, login: 'demo' }] },
  });
  const { key: bobs } = await proxy.app.keys.create({ name: 'script of Bob', person: 'corp/bob' });
  expect((await call({ 'x-proxy-api': bobs })).json.error).toMatchObject({ data: { type: 'connect_required' } });
  expect((await call({ 'x-proxy-api': proxy.key })).json.error).toMatchObject({
    code: -32010,
    message: expect.stringContaining('keys create --for'),
    data: { type: 'policy_denied', rule: 'instance.identity' },
  });
});

test('a key stops working when its person is denied', async () => {
  const { sandbox, connect, call, proxy } = await startStage();
  await connect('ada', sandbox.users.demo);
  const { key } = await proxy.app.keys.create({ name: 'script of Ada', person: 'corp/ada' });
  expect((await call({ 'x-proxy-api': key })).status).toBe(200);
  await proxy.app.store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: 1 });
  await expect.poll(async () => (await call({ 'x-proxy-api': key })).status).toBe(401);
  expect((await call('ada')).status).toBe(401);
});

test('a removed connection is not used again, and a renewed one at once', async () => {
  const { sandbox, connect, call, ask } = await startStage();
  const { admin, demo } = sandbox.users;
  await connect('ada', admin);
  const readLogin = async (id: number) =>
    (await call('ada', { action: 'read', params: [[id], ['login']] })).json;
  expect(await readLogin(2)).toMatchObject({ result: [{ login: 'admin' }] });
  await connect('ada', demo);
  expect((await call('ada', { model_id: 'res.users', action: 'context_get' })).status).toBe(200);
  expect(sandbox.requests.total).toBeGreaterThan(0);
  expect((await ask('DELETE', '/me/connections/prod', 'ada')).status).toBe(204);
  expect(await readLogin(2)).toMatchObject({ error: { data: { type: 'connect_required' } } });
  void sleep;
  void READ_ME;
});

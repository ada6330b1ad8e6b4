/** Tests that the proxy renews the keys of persons, on instances with `rotate_key`, as it does those of instances. */
import { type AskOdoo, createAskOdoo, createPersonKeyRotation } from '@erp-proxy/control/key-rotation';
import { type SandboxOptions, startSandbox } from '@erp-proxy/sandbox';
import { makeBatch } from '@erp-proxy/stores/testing';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startStage } from './stage.ts';

const DAY_MS = 86_400_000;
/** Slightly longer than the pause before the old key is revoked. */
const PAUSE_MS = 320_000;

async function start(instance: object = {}, options: Partial<SandboxOptions> = {}) {
  let passedMs = 0;
  const clock = () => Date.now() + passedMs;
  const sandbox = closeAfterTest(
    await startSandbox({
      version: 19,
      clock,
      keysExpireAt: Date.now() + 90 * DAY_MS,
      programmaticKeys: true,
      ...options,
    }),
  );
  const stage = await startStage({
    clock,
    instance: { url: sandbox.url, db: sandbox.db, rotate_key: true, ...instance },
  });
  const { app } = stage.proxy;
  const find = (sub: string) => app.connections.get(`corp/${sub}`, 'prod');
  const openKey = async (sub: string) =>
    (await app.connections.openKeys({ instance: 'prod', person: `corp/${sub}` }))!.apiKey;
  return {
    ...stage,
    sandbox,
    pass(ms: number) {
      passedMs += ms;
    },
    find,
    openKey,
    check: () => app.personKeyRotation.checkAll(),
    /** Returns the headers of a client key for a person, which have no end. */
    async makeKey(sub: string) {
      const { key } = await app.keys.create({ name: sub, person: `corp/${sub}` });
      return { 'x-proxy-api': key };
    },
    /** The names of the keys of a user in Odoo that have not expired. */
    async listKeys(sub: string) {
      const answer = await ask(app)((await app.instances.get('prod'))! as never, await openKey(sub), {
        model: 'res.users.apikeys',
        method: 'search_read',
        keyword: { domain: [['user_id', '=', (await find(sub))!.userId]], fields: ['name'] },
      });
      if (answer.kind !== 'result') throw new Error(answer.message);
      return (answer.value as { name: string }[]).map(({ name }) => name);
    },
  };
}

type App = Awaited<ReturnType<typeof startStage>>['proxy']['app'];

const ask = ({ egress }: App): AskOdoo => {
  const asks = createAskOdoo({ egress, timeoutMs: 10_000 });
  return async (record, ...given) => asks({ ...record, userId: record.userId ?? 8 }, ...given);
};

test('a key is replaced in time and calls go on; the old key is revoked when they have ended', async () => {
  const { sandbox, connect, call, makeKey, pass, check, openKey, listKeys, find, admin, proxy } =
    await start();
  const { demo } = sandbox.users;
  await connect('ada', demo);
  const headers = await makeKey('ada');
  pass(50 * DAY_MS);
  await check();
  expect(await openKey('ada')).toBe(demo.apiKey);

  pass(15 * DAY_MS);
  await check();
  const renewed = await openKey('ada');
  expect(renewed).not.toBe(demo.apiKey);
  const days = ((await find('ada'))!.keyExpiresAt! - Date.now()) / DAY_MS;
  expect(Math.round(days)).toBe(65 + 89);
  expect(await listKeys('ada')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^erp-proxy corp\/ada on prod /)]),
  );
  expect((await call(headers)).status).toBe(200);
  const before = (await listKeys('ada')).length;

  pass(PAUSE_MS);
  await check();
  expect(await listKeys('ada')).toHaveLength(before - 1);
  expect((await call(headers)).status).toBe(200);
  expect(await find('ada')).toMatchObject({ pendingStep: null, keyFailure: null, userId: demo.userId });
  expect((await admin('GET', '/connections')).json.items).toMatchObject([
    { person: 'corp/ada', state: 'connected', key_renewed: true, key_failure: null },
  ]);

  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ kind: 'admin', actor: 'proxy' });
  expect(items).toMatchObject([
    { action: 'connection.revoke-key', target: 'connection prod corp/ada' },
    { action: 'connection.rotate-key', target: 'connection prod corp/ada' },
  ]);
  const texts = JSON.stringify([items, proxy.log]);
  for (const key of [demo.apiKey, renewed]) expect(texts).not.toContain(key);
});

test('no key is replaced without `rotate_key`, which stays in a switch of the identity', async () => {
  const { connect, sandbox, pass, check, openKey, admin } = await start({ rotate_key: false });
  const { demo } = sandbox.users;
  await connect('ada', demo);
  pass(80 * DAY_MS);
  await check();
  expect(await openKey('ada')).toBe(demo.apiKey);
  const shared = { identity: 'shared', user_id: demo.userId, api_key: demo.apiKey, rotate_key: true };
  expect((await admin('PATCH', '/instances/prod', shared)).json.key.rotate).toBe(true);
  expect((await admin('PATCH', '/instances/prod', { identity: 'person' })).json.key).toMatchObject({
    rotate: true,
    state: 'none',
  });
});

test('a failure is shown to operators and not to the person, the key stays, and Odoo is asked again a day later', async () => {
  const { connect, sandbox, pass, check, openKey, admin, ask, proxy, token } = await start(
    {},
    { programmaticKeys: false },
  );
  const { demo } = sandbox.users;
  await connect('ada', demo);
  pass(70 * DAY_MS);
  await check();
  await check();
  expect(await openKey('ada')).toBe(demo.apiKey);
  const { json } = await admin('GET', '/connections');
  expect(json.items[0].key_failure).toMatch(/base\.enable_programmatic_api_keys/);
  expect(sandbox.requests.calls['res.users.apikeys.generate']).toBe(1);
  expect(JSON.stringify(proxy.log)).toContain('person key failed');
  const now = Math.floor((Date.now() + 70 * DAY_MS) / 1000);
  const authorization = `Bearer ${token('ada', { iat: now, exp: now + 300 })}`;
  const own = (await ask('GET', '/me/connections', { authorization })).json;
  expect(own.connections).toEqual([expect.objectContaining({ key_renewed: false })]);
  expect(JSON.stringify(own)).not.toContain('programmatic');
  pass(2 * DAY_MS);
  await check();
  expect(sandbox.requests.calls['res.users.apikeys.generate']).toBe(2);
});

test('a key that somebody else has, or an instance, is not replaced', async () => {
  const { connect, sandbox, pass, check, openKey, find, proxy } = await start();
  const { demo } = sandbox.users;
  await connect('ada', demo);
  await connect('bob', demo);
  pass(70 * DAY_MS);
  await check();
  for (const sub of ['ada', 'bob']) {
    expect(await openKey(sub)).toBe(demo.apiKey);
    const failure = (await find(sub))!.keyFailure;
    expect(failure).toMatch(/^Another connection has the same key/);
    expect(failure).not.toContain('corp/');
  }
  await proxy.app.connections.remove({ instance: 'prod', person: 'corp/bob' });
  await proxy.app.instances.add({
    name: 'own',
    url: sandbox.url,
    db: sandbox.db,
    user_id: demo.userId,
    api_key: demo.apiKey,
    allow_private: true,
  });
  pass(2 * DAY_MS);
  await check();
  expect((await find('ada'))!.keyFailure).toMatch(/^The instance "own" has the same key/);
});

test('the connections of an instance are read once, however many keys are due', async () => {
  const { connect, sandbox, pass, check, find, proxy } = await start();
  const { store } = proxy.app;
  for (const sub of ['ada', 'bob', 'cyd']) await connect(sub, sandbox.users.demo);
  pass(70 * DAY_MS);
  const listed = vi.spyOn(store.connections, 'list');
  await check();
  expect(listed.mock.calls.filter(([{ instance }]) => instance === 'prod')).toHaveLength(1);
  expect((await find('cyd'))!.keyFailure).toMatch(/^Another connection has the same key/);
});

test('a key does not go to a server for which it was not given', async () => {
  const { connect, sandbox, pass, check, openKey, admin } = await start();
  await connect('ada', sandbox.users.demo);
  pass(70 * DAY_MS);
  await admin('PATCH', '/instances/prod', { db: 'other' });
  const before = sandbox.requests.total;
  await check();
  expect(sandbox.requests.total).toBe(before);
  expect(await openKey('ada')).toBe(sandbox.users.demo.apiKey);
});

test.each([
  ['generate', 'before the new key is stored'],
  ['context_get', 'before the new key is used'],
])('a connection that its person makes anew during %s, %s, keeps what the person gave', async (method) => {
  const { connect, sandbox, pass, proxy, openKey, find } = await start();
  const { demo, admin } = sandbox.users;
  await connect('ada', demo);
  pass(70 * DAY_MS);
  const { app } = proxy;
  const instance = (await app.instances.find('prod'))!;
  const person = 'corp/ada';
  const asks = ask(app);
  let made = '';
  let isDone = false;
  const rotation = createPersonKeyRotation({
    connections: app.connections,
    instances: app.instances,
    leases: app.store.leases,
    owner: 'test',
    clock: () => Date.now() + 70 * DAY_MS,
    ask: async (record, apiKey, question) => {
      const answer = await asks(record, apiKey, question);
      if (question.method === 'generate' && answer.kind === 'result') made = String(answer.value);
      if (question.method === method && !isDone) {
        isDone = true;
        await app.connections.remove({ instance: 'prod', person });
        const user = { login: 'admin', userId: admin.userId, apiKey: admin.apiKey, keyExpiresAt: null };
        await app.connections.put(instance, { person, ...user });
      }
      return answer;
    },
    describeAction: () => makeBatch({ at: 1, record: '{}' }),
    onEvent: () => {},
    onError: (error) => {
      throw error;
    },
  });
  await rotation.checkAll();
  expect(made).not.toBe('');
  expect(await openKey('ada')).toBe(admin.apiKey);
  expect(await find('ada')).toMatchObject({ userId: admin.userId, pendingStep: null });
  // The key that nobody uses is removed in Odoo.
  const record = { ...(await app.instances.get('prod'))!, userId: demo.userId };
  const answer = await asks(record, made, { model: 'res.users', method: 'context_get', keyword: {} });
  expect(answer).toMatchObject({ kind: 'refused', type: 'access_denied' });
});

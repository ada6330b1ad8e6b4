import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { ODOO_SECRET, startAdmin, TOKEN } from './admin-client.ts';

const PROD = {
  name: 'prod',
  url: 'https://erp.example.com',
  db: 'prod',
  user_id: 2,
  api_key: `${ODOO_SECRET}1`,
};

test('stores an instance, and never returns its key', async () => {
  const { post, get, listAdminActions } = await startAdmin();
  const made = await post('/instances', { ...PROD, timeout_ms: 60_000, rotate_key: true });
  expect(made.status).toBe(201);
  expect(made.headers).toMatchObject({
    etag: expect.stringMatching(/^"1-[a-z\d]+"$/),
    location: '/admin/v1/instances/prod',
  });
  expect(made.json).toMatchObject({
    name: 'prod',
    url: 'https://erp.example.com',
    db: 'prod',
    user_id: 2,
    protocol: 'auto',
    timeout_ms: 60_000,
    key: { state: 'unknown', rotate: true },
    version: 1,
  });
  expect((await get('/instances/prod')).json).toEqual(made.json);
  const [action] = await listAdminActions();
  expect(action).toMatchObject({ action: 'instance.create', target: 'instance prod' });
  expect(action.changes).toMatchObject({
    url: { from: null, to: 'https://erp.example.com' },
    api_key: { from: null, to: '(secret)' },
  });
});

test.each([
  [{ ...PROD, url: 'ftp://x', db: '', timeout_ms: 0 }, ['db', 'timeout_ms', 'url']],
  [{ ...PROD, name: '../x' }, ['name']],
  [{ ...PROD, api_key: undefined }, ['api_key']],
  [{ ...PROD, api_key: `${ODOO_SECRET}é` }, ['api_key']],
  [{ ...PROD, user_id: '2' }, ['user_id']],
  [{ ...PROD, apikey: `${ODOO_SECRET}1`, api_key: undefined }, ['apikey']],
  [{ ...PROD, certificates: 'none' }, ['certificates']],
])('names every fault of the instance %#, and stores nothing', async (body, paths) => {
  const { post, get, listAdminActions } = await startAdmin();
  const { status, json } = await post('/instances', body);
  expect(status).toBe(400);
  expect(json.faults.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
  expect((await get('/instances')).json.items).toEqual([]);
  expect(await listAdminActions()).toEqual([]);
});

test('refuses a name that is taken', async () => {
  const { post, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const again = await post('/instances', { ...PROD, db: 'other' });
  expect(again.status).toBe(409);
  expect(await listAdminActions()).toHaveLength(1);
});

test('explains that a master key is needed', async () => {
  const { post } = await startAdmin({ settings: { 'admin.token': TOKEN } });
  const { status, json } = await post('/instances', PROD);
  expect(status).toBe(503);
  expect(json.detail).toContain('vault.masterKey');
});

test('lists instances by name, in pages, and by part of their name or url', async () => {
  const { post, get } = await startAdmin();
  for (const name of ['beta', 'alpha', 'gamma']) {
    await post('/instances', { ...PROD, name, url: `https://${name}.example.com` });
  }
  const first = await get('/instances?limit=2');
  expect(first.json.items.map(({ name }: { name: string }) => name)).toEqual(['alpha', 'beta']);
  const second = await get(`/instances?limit=2&cursor=${first.json.next}`);
  expect(second.json).toMatchObject({ items: [{ name: 'gamma' }], next: null });
  expect((await get('/instances?search=GAMMA.example')).json.items).toHaveLength(1);
  expect((await get('/instances?cursor=WzFd')).status).toBe(400);
  expect((await get('/instances?state=ok')).json.faults[0].path).toBe('state');
});

test('changes an instance, and records the changes without the key', async () => {
  const { post, patch, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const changes = { db: 'prod2', api_key: `${ODOO_SECRET}2`, key_expires_at: '2999-01-01T00:00:00Z' };
  const changed = await patch('/instances/prod', changes);
  expect(changed.status).toBe(200);
  expect(changed.json).toMatchObject({
    db: 'prod2',
    version: 2,
    key: { expires_at: '2999-01-01T00:00:00.000Z' },
  });
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'instance.update',
    changes: {
      db: { from: 'prod', to: 'prod2' },
      api_key: { from: '(secret)', to: '(secret)' },
      key_expires_at: { from: null, to: '2999-01-01T00:00:00.000Z' },
    },
  });
});

test('records what a change did, even if another change follows before its answer', async () => {
  const { proxy, post, patch, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const { instances } = proxy.app;
  const { update } = instances;
  // Another administrator removes the instance before this change is answered.
  instances.update = async (from, changes, auditBatch) => {
    const outcome = await update(from, changes, auditBatch);
    await instances.remove({ ...from, version: from.version + 1 });
    return outcome;
  };
  expect((await patch('/instances/prod', { db: 'prod2' })).status).toBe(404);
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'instance.update',
    changes: { db: { from: 'prod', to: 'prod2' } },
  });
});

test('refuses a new url without the key, so that no key goes to another server', async () => {
  const { post, patch, get, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const { status, json } = await patch('/instances/prod', { url: 'https://elsewhere.example.com' });
  expect(status).toBe(400);
  expect(json.faults[0].path).toBe('url');
  expect((await get('/instances/prod')).json.version).toBe(1);
  expect(await listAdminActions()).toHaveLength(1);
});

test('a change to the same values is no change', async () => {
  const { post, patch, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  expect((await patch('/instances/prod', { db: 'prod', timeout_ms: null })).json.version).toBe(1);
  expect(await listAdminActions()).toHaveLength(1);
});

test('of two changes to the same version, makes one and refuses the other', async () => {
  const { post, patch, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const change = (db: string) => patch('/instances/prod', { db }, { headers: { 'if-match': '"1"' } });
  const answers = await Promise.all([change('a'), change('b')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(await listAdminActions()).toHaveLength(2);
});

test('removes only the version that `if-match` names', async () => {
  const { post, patch, remove, get, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  await patch('/instances/prod', { db: 'prod2' });
  expect((await remove('/instances/prod', { headers: { 'if-match': '"1"' } })).status).toBe(412);
  const removed = await remove('/instances/prod', { headers: { 'if-match': '"2"' } });
  expect([removed.status, removed.body.length]).toEqual([204, 0]);
  expect((await get('/instances/prod')).status).toBe(404);
  expect((await remove('/instances/prod')).status).toBe(404);
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'instance.remove',
    changes: { db: { from: 'prod2', to: null }, api_key: { from: '(secret)', to: null } },
  });
});

test('removes an instance that another version has written, and names what cannot be read', async () => {
  const { proxy, post, remove, get, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const { instances } = proxy.app.store;
  const row = await instances.findByName('prod');
  const body = JSON.stringify({ ...JSON.parse(row!.body), region: 'eu' });
  await instances.replace(row!.id, 1, { masterKeyId: row!.masterKeyId, body });
  expect((await get('/instances/prod')).json.detail).toMatch(/ writes it \(region\): .* or remove it\.$/);
  expect((await remove('/instances/prod')).status).toBe(204);
  expect((await get('/instances/prod')).status).toBe(404);
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'instance.remove',
    changes: { api_key: { from: '(secret)', to: null } },
  });
});

test('an `etag` matches no instance that was added later under the same name', async () => {
  const clock = { now: 1_800_000_000_000 };
  const { post, patch, remove, get } = await startAdmin({ clock: () => clock.now });
  const { headers } = await post('/instances', PROD);
  const ofFirst = { headers: { 'if-match': String(headers.etag) } };
  expect((await remove('/instances/prod', ofFirst)).status).toBe(204);
  clock.now += 1;
  const again = await post('/instances', PROD);
  expect(again.json.version).toBe(1);
  for (const refused of [
    await patch('/instances/prod', { db: 'other' }, ofFirst),
    await remove('/instances/prod', ofFirst),
  ]) {
    expect(refused.status).toBe(412);
    expect(refused.json.detail).toContain('was removed, and one of the same name was added');
  }
  const known = await get('/instances/prod', { headers: { 'if-none-match': String(headers.etag) } });
  expect(known.status).toBe(200);
  const ofSecond = { headers: { 'if-match': String(again.headers.etag) } };
  expect((await patch('/instances/prod', { db: 'other' }, ofSecond)).status).toBe(200);
});

test('answers 404 for an instance that does not exist', async () => {
  const { get, patch, post, remove } = await startAdmin();
  const answers = [
    await get('/instances/prod'),
    await patch('/instances/prod', { db: 'x' }),
    await remove('/instances/prod'),
    await post('/instances/prod/rotate-key'),
    await get('/instances/%2e%2e%2fkeys'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
});

/**
 * Given so that the first check of all keys, which may find the new instance, does not ask Odoo when the key ends: a
 * rotation at that moment would be refused because a step of the key is running.
 */
const KEY_ENDS = { key_expires_at: '2999-01-01T00:00:00Z' };

test('rotates the key of an instance on Odoo 19, and calls keep working', async () => {
  const sandbox = closeAfterTest(await startSandbox({ version: 19 }));
  const { userId, apiKey } = sandbox.users.admin;
  const secrets = [apiKey];
  const { proxy, post, listAdminActions } = await startAdmin({ allow: [sandbox.url], secrets });
  const { url, db } = sandbox;
  await post('/instances', { ...KEY_ENDS, name: 'prod', url, db, user_id: userId, api_key: apiKey });
  const call = {
    action: 'search_count',
    model_id: 'res.partner',
    params: [[]],
    erp_instance: { name: 'prod' },
  };
  expect((await proxy.call(call)).json).toHaveProperty('result');
  const rotated = await post('/instances/prod/rotate-key');
  expect(rotated.json).toMatchObject({ key: { state: 'ok', failure: null } });
  expect(rotated.status).toBe(200);
  expect((await proxy.call(call)).json).toHaveProperty('result');
  expect((await listAdminActions()).at(-1)).toMatchObject({
    action: 'instance.rotate-key',
    target: 'instance prod',
    changes: { api_key: { from: '(secret)', to: '(secret)' } },
  });
});

test('explains why Odoo 18 cannot rotate a key, and records no action', async () => {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const { userId, apiKey } = sandbox.users.admin;
  const { post, listAdminActions } = await startAdmin({ allow: [sandbox.url], secrets: [apiKey] });
  const { url, db } = sandbox;
  await post('/instances', { ...KEY_ENDS, name: 'prod', url, db, user_id: userId, api_key: apiKey });
  const { status, json } = await post('/instances/prod/rotate-key');
  expect(status).toBe(409);
  expect(json.detail).toMatch(/19/);
  expect(await listAdminActions()).toHaveLength(1);
});

test('reseals nothing if all keys are sealed with the present master key', async () => {
  const { post, listAdminActions } = await startAdmin();
  await post('/instances', PROD);
  const resealed = await post('/vault/reseal');
  expect(resealed.status).toBe(200);
  expect(resealed.json).toEqual({ resealed: 0 });
  expect(await listAdminActions()).toHaveLength(1);
});

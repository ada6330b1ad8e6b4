/** The sandbox that a person can start after a first start: `/admin/v1/sandbox`. */
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { SETTINGS, startAdmin } from './admin-client.ts';

async function start() {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const { userId, apiKey } = sandbox.users.admin;
  const admin = await startAdmin({
    settings: { ...SETTINGS, 'upstream.protocol': 'auto' },
    secrets: [apiKey],
    startSandbox: async () => ({ url: sandbox.url, db: sandbox.db, userId, apiKey }),
  });
  return { ...admin, sandbox };
}

const READ = { id: 1, model_id: 'res.partner', action: 'search_count', params: [[]] };

test('is started and stored as an instance that calls reach, and nothing else at its address', async () => {
  const { proxy, get, post, listAdminActions, sandbox } = await start();
  expect((await get('/sandbox')).json).toEqual({ available: true });
  const { status, json } = await post('/sandbox');
  expect(status).toBe(201);
  expect(json).toMatchObject({ name: 'sandbox', url: sandbox.url, allow_private: true });
  expect((await proxy.call({ ...READ, erp_instance: { name: 'sandbox' } })).json.result).toBeGreaterThan(0);
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  const own = { url: sandbox.url, db: sandbox.db, user_id, api_key };
  const denied = await proxy.call({ ...READ, erp_instance: own });
  expect(denied.json.error.data.type).toBe('egress_denied');
  expect((await listAdminActions()).map(({ action, target }) => [action, target])).toEqual([
    ['instance.create', 'instance sandbox'],
  ]);
});

test('is not started once an instance is stored', async () => {
  const { get, post } = await start();
  await post('/instances', {
    name: 'prod',
    url: 'https://erp.example.com',
    db: 'prod',
    user_id: 2,
    api_key: 'odoo-secret-1',
  });
  expect((await get('/sandbox')).json).toEqual({ available: false });
  const { status, json } = await post('/sandbox');
  expect(status).toBe(409);
  expect(json.detail).toContain('npx erp-proxy sandbox');
});

test('is not started twice by two clicks', async () => {
  const { post, get } = await start();
  const statuses = (await Promise.all([post('/sandbox'), post('/sandbox')])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([201, 409]);
  expect((await get('/instances')).json.items).toHaveLength(1);
});

test('does not exist in a proxy that its operator has configured', async () => {
  const { get, post } = await startAdmin();
  expect((await get('/sandbox')).json).toEqual({ available: false });
  expect((await post('/sandbox')).status).toBe(404);
  expect((await get('/instances')).json.items).toEqual([]);
});

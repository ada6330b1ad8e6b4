/** The audit records of refused calls and requests suffice to trace a leaked key. */
import { expect, test } from 'vitest';
import { type Json, startAdmin } from './admin-client.ts';

const READ = { action: 'read', model_id: 'res.partner', params: [[1]] };
const OWN = {
  url: 'https://erp.example.com/odoo',
  db: 'prod',
  user_id: 2,
  api_key: 'odoo-secret-of-the-caller',
};

async function start() {
  const admin = await startAdmin();
  const makeKey = async (policy: object): Promise<{ id: string; key: string }> => {
    const { status, json } = await admin.post('/keys', { name: 'Shop', policy });
    expect(status).toBe(201);
    return json;
  };
  const listCalls = async (query = ''): Promise<Json[]> => {
    await admin.proxy.app.audit.flush();
    return (await admin.get(`/audit?kind=call&${query}`)).json.items;
  };
  const call = (key: string, body: object) => admin.proxy.call(body, { 'x-proxy-api': key });
  return { ...admin, makeKey, listCalls, call };
}

test('a call that the policy denies is recorded with server, database, rule and address', async () => {
  const { makeKey, listCalls, call } = await start();
  const { id, key } = await makeKey({ origins: ['*'], models: { 'sale.order': ['read'] } });
  expect((await call(key, { ...READ, erp_instance: OWN })).status).toBe(403);
  expect(await listCalls()).toMatchObject([
    {
      key_id: id,
      upstream: 'https://erp.example.com/odoo',
      db: 'prod',
      model: 'res.partner',
      action: 'read',
      outcome: 'policy_denied',
      rule: 'models',
      address: '127.0.0.1',
    },
  ]);
});

test('a denied call on a stored instance is recorded with the server and database of the instance', async () => {
  const { post, makeKey, listCalls, call } = await start();
  await post('/instances', { name: 'prod', ...OWN });
  const { key } = await makeKey({ instances: ['*'], origins: ['*'], models: { 'sale.order': ['read'] } });
  await call(key, { ...READ, erp_instance: { name: 'prod' } });
  const [record] = await listCalls();
  expect(record).toMatchObject({ instance: 'prod', upstream: 'https://erp.example.com/odoo', db: 'prod' });
  expect(record.rule).toBe('models');
});

test('each call of a batch that egress denies is recorded', async () => {
  const { proxy, listCalls } = await start();
  const inside = { ...OWN, url: 'https://10.0.0.7' };
  await proxy.call([
    { ...READ, id: 1, erp_instance: inside },
    { ...READ, id: 2, erp_instance: inside },
  ]);
  const records = await listCalls();
  expect(records).toHaveLength(2);
  for (const record of records)
    expect(record).toMatchObject({
      outcome: 'egress_denied',
      upstream: 'https://10.0.0.7',
      db: 'prod',
      address: '127.0.0.1',
    });
});

test('a request from an address that the policy does not allow is recorded with rule and address', async () => {
  const { makeKey, listCalls, call } = await start();
  const { id, key } = await makeKey({ origins: ['*'], models: { '*': ['*'] }, cidrs: ['192.0.2.0/24'] });
  await call(key, { ...READ, erp_instance: OWN });
  expect(await listCalls()).toMatchObject([
    { key_id: id, outcome: 'policy_denied', rule: 'cidrs', address: '127.0.0.1' },
  ]);
});

test('requests with a revoked key are recorded under its id', async () => {
  const { post, makeKey, listCalls, call } = await start();
  const { id, key } = await makeKey({ origins: ['*'], models: { '*': ['*'] } });
  await post(`/keys/${id}/revoke`);
  for (let count = 0; count < 4; count++) await call(key, { ...READ, erp_instance: OWN });
  const records = await listCalls(`key_id=${id}`);
  expect(records).toHaveLength(4);
  expect(records[0]).toMatchObject({ outcome: 'unauthorized', rule: 'key:revoked', address: '127.0.0.1' });
});

test('a wrong secret with the id of a key is recorded; a text that is not a key is not', async () => {
  const { proxy, listCalls, call } = await start();
  const other = (await proxy.app.keys.create({ name: 'Other' })).key;
  await proxy.app.keys.create({ name: 'gone' });
  const unknown = await startAdmin();
  const { key, record } = await unknown.proxy.app.keys.create({ name: 'of another proxy' });
  await call(key, { ...READ, erp_instance: OWN });
  await call('nonsense', { ...READ, erp_instance: OWN });
  const records = await listCalls();
  expect(records).toMatchObject([{ key_id: record.id, outcome: 'unauthorized', rule: 'key:unknown' }]);
  expect(JSON.stringify(records)).not.toContain(key.slice(16));
  expect(JSON.stringify(records)).not.toContain(other.slice(16));
});

test('names from callers are recorded without control characters, and cut to 512 characters', async () => {
  const { makeKey, listCalls, call } = await start();
  const { key } = await makeKey({ instances: ['*'], origins: ['*'], models: { 'sale.order': ['read'] } });
  const evil = `read\u001b[2J\u202e\u0000\r\n${'x'.repeat(5000)}`;
  await call(key, {
    ...READ,
    action: evil,
    erp_instance: { ...OWN, url: `https://erp.example.com/${'y'.repeat(1500)}` },
  });
  await call(key, { ...READ, model_id: 'res\u009b.partner', erp_instance: { name: 'prod\u001b' } });
  for (const record of await listCalls()) {
    for (const text of Object.values(record)) {
      if (typeof text !== 'string') continue;
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
      expect(text.length).toBeLessThanOrEqual(512);
    }
  }
});

/** Documents for an administrator: `POST /admin/v1/document`. */
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/src/index.ts';
import { type Json, SETTINGS, startAdmin, TOKEN } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';

async function start() {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const admin = await startAdmin({ settings: SETTINGS, allow: [sandbox.url] });
  const { userId, apiKey } = sandbox.users.admin;
  const instance = { name: 'prod', url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey };
  expect((await admin.post('/instances', instance)).status).toBe(201);
  const post = async (body: object) => {
    const answer = await send(`${admin.proxy.url}/admin/v1/document`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const isJson = answer.headers['content-type']?.includes('json') === true;
    const json: Json = isJson ? JSON.parse(answer.body.toString()) : null;
    return { ...answer, json };
  };
  const print = (document: object, more: object = {}) =>
    post({
      document: { id: 7, model_id: 'sale.order', record: 1, erp_instance: { name: 'prod' }, ...document },
      ...more,
    });
  return { ...admin, post, print };
}

test('gives the PDF without a policy, and records the administrator', async () => {
  const { print, proxy } = await start();
  const { status, headers, body } = await print({});
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': 'attachment; filename="Quotation-S00001.pdf"',
    'x-content-type-options': 'nosniff',
  });
  expect(body.toString('latin1')).toMatch(/^%PDF-[\s\S]*Quotation S00001/);
  expect((await print({ record: undefined, records: [1, 2] })).headers['content-type']).toBe(
    'application/zip',
  );
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({ kind: 'call' });
  expect(items.length).toBeGreaterThan(0);
  for (const item of items) expect(item).toMatchObject({ via: 'console', actor: { name: 'admin.token' } });
});

test('keeps to the policy of a key', async () => {
  const { print, proxy } = await start();
  const makeKey = async (more: object) => {
    const policy = { instances: ['prod'], models: { 'sale.order': ['read'] }, ...more };
    return (await proxy.app.keys.create({ name: 'shop', policy })).record.id;
  };
  const { json: denied } = await print({}, { key_id: await makeKey({}) });
  expect(denied).toMatchObject({ error: { data: { type: 'policy_denied', rule: 'data' } } });
  expect((await print({}, { key_id: await makeKey({ data: ['documents'] }) })).status).toBe(200);
  expect((await print({}, { key_id: 'unknown' })).status).toBe(404);
});

test('an error has the shape of the other routes', async () => {
  const { print, post } = await start();
  expect((await print({ record: 'x' })).json).toMatchObject({
    id: 7,
    error: { data: { type: 'invalid_request', path: 'record' } },
  });
  expect((await print({ record: 99_999 })).json).toMatchObject({
    error: { data: { type: 'record_missing' } },
  });
  expect(await post({})).toMatchObject({ status: 400, json: { title: expect.any(String) } });
});

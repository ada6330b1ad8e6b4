/** Tests `GET /openapi.json?instance=…&models=…`: the models of an instance, for a key that may read them. */

import type { Policy } from '@erp-proxy/contract';
import { startSandbox } from '@erp-proxy/sandbox';
import { beforeEach, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';

let proxy: ErpProxy;
beforeEach(async () => {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  proxy = closeAfterTest(
    await startProxy({ settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') } }),
  );
  const { url, db } = sandbox;
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  await proxy.app.instances.add({ name: 'prod', url, db, user_id, api_key, allow_private: true });
});

async function ask(query: string, key: string | null = proxy.key) {
  const headers: Record<string, string> = key === null ? {} : { 'x-proxy-api': key };
  const { status, body } = await send(`${proxy.url}/openapi.json?${query}`, { headers });
  return { status, json: JSON.parse(body.toString()) };
}

async function createKey(policy: Policy): Promise<string> {
  return (await proxy.app.keys.create({ name: 'limited', policy })).key;
}

test('describes the fields of the models: type, readonly, selection and relation', async () => {
  const { status, json } = await ask('instance=prod&models=res.partner,sale.order');
  expect(status).toBe(200);
  const { schemas } = json.components;
  expect(schemas['res.partner'].properties).toMatchObject({
    name: { anyOf: [{ type: 'string' }, { const: false }], title: 'Name' },
    complete_name: { readOnly: true },
    type: { anyOf: [{ enum: ['contact', 'invoice', 'delivery', 'other'] }, { const: false }] },
    country_id: { 'x-odoo-relation': 'res.country' },
    child_ids: { type: 'array', items: { type: 'integer' }, 'x-odoo-relation': 'res.partner' },
  });
  expect(schemas['res.partner.Values'].properties).toHaveProperty('name');
  expect(schemas['res.partner.Values'].properties).not.toHaveProperty('complete_name');
  expect(schemas['sale.order'].properties.partner_id['x-odoo-required']).toBe(true);
  const { schema } = json.paths['/api/erp/execute'].post.requestBody.content['application/json'];
  expect(schema.anyOf).toContainEqual({ $ref: '#/components/schemas/sale.order.Call' });
  const names = [...JSON.stringify(json).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, it]) => it);
  expect([...new Set(names)].sort()).toEqual(Object.keys(schemas).sort());
});

/** Adds an instance `odd` whose `fields_get` returns these fields. */
async function addOdd(fields: object): Promise<void> {
  const upstream = closeAfterTest(
    await startUpstream((socket) => answerLikeOdoo(socket, printResult(JSON.stringify(fields)))),
  );
  const { url } = upstream;
  const odd = { name: 'odd', url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' };
  await proxy.app.instances.add({ ...odd, allow_private: true });
}

test('describes fields with unusual names, selections and types', async () => {
  const selection = [
    ["it's", ''],
    ['a"b\\', ''],
    ['new\nline\u2028', ''],
  ];
  await addOdd({
    class: { type: 'char' },
    constructor: { type: 'integer' },
    state: { type: 'selection', selection },
    odd: { type: 'a new type' },
  });
  const { status, json } = await ask('instance=odd&models=x.odd');
  expect(status).toBe(200);
  const { properties } = json.components.schemas['x.odd'];
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(['class', 'constructor', 'odd']));
  expect(properties.state.anyOf[0].enum).toEqual(selection.map(([value]) => value));
});

test('fields of 30 MB are an error that says what to do', async () => {
  await addOdd({ name: { type: 'char', help: 'x'.repeat(30_000_000) } });
  const { status, json } = await ask('instance=odd&models=x.odd');
  expect(status).toBeGreaterThanOrEqual(400);
  expect(json.error.message).toMatch(/fields; name fewer of them/);
});

test('needs a valid client key', async () => {
  for (const key of [null, 'wrong']) {
    const { status, json } = await ask('instance=prod&models=res.partner', key);
    expect(status).toBe(401);
    expect(json.error.data.type).toBe('unauthorized');
  }
  // Without a key, callers do not learn what is wrong with the rest of the request.
  expect((await ask('instance=nowhere', null)).status).toBe(401);
});

test.each([
  ['models=res.partner', 400, { type: 'invalid_request', path: 'instance' }],
  ['instance=prod', 400, { type: 'invalid_request', path: 'models' }],
  ['instance=prod&models=res.*', 400, { type: 'invalid_request', path: 'models' }],
  ['instance=prod&models=res.partner,', 400, { type: 'invalid_request', path: 'models' }],
  [`instance=prod&models=${'m,'.repeat(20)}m`, 400, { type: 'invalid_request', path: 'models' }],
  ['instance=prod&models=res%20partner', 400, { type: 'invalid_request', path: 'model_id' }],
  ['instance=nowhere&models=res.partner', 400, { type: 'invalid_request', path: 'erp_instance.name' }],
  ['instance=prod&models=res.partner,res.partnr', 404, { type: 'model_not_found' }],
])('refuses ?%s with %i', async (query, expected, data) => {
  const { status, json } = await ask(query);
  expect(status).toBe(expected);
  expect(json.error.data).toMatchObject(data);
});

test('the policy of the key applies as to calls', async () => {
  const key = await createKey({ instances: ['prod'], models: { 'res.partner': ['fields_get'] } });
  expect((await ask('instance=prod&models=res.partner', key)).status).toBe(200);
  const denied = await ask('instance=prod&models=res.partner,res.users', key);
  expect(denied.status).toBe(403);
  expect(denied.json).toMatchObject({
    id: 'res.users',
    error: { data: { type: 'policy_denied', rule: 'models' } },
  });
  const elsewhere = await createKey({ instances: ['test'], models: { '*': ['*'] } });
  const { status, json } = await ask('instance=prod&models=res.partner', elsewhere);
  expect([status, json.error.data.rule]).toEqual([403, 'instances']);
});

test('describes up to 4 MiB of fields, and refuses more with one error', async () => {
  const pair = closeAfterTest(
    await startPair(
      (socket, { body }) => {
        const [, , , model] = JSON.parse(body.toString()).params.args;
        const help = 'x'.repeat((model.startsWith('large') ? 3 : 5) * 2 ** 20);
        answerLikeOdoo(socket, printResult(JSON.stringify({ name: { type: 'char', help } })));
      },
      { settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') } },
    ),
  );
  proxy = pair.proxy;
  const { url } = pair.upstream;
  const given = { name: 'prod', db: 'prod', user_id: 2, api_key: 'k'.repeat(40), allow_private: true };
  await proxy.app.instances.add({ ...given, url });
  const large = await ask('instance=prod&models=large');
  expect([large.status, large.json.components.schemas.large.properties.name.description.length]).toEqual([
    200,
    3 * 2 ** 20,
  ]);
  for (const models of ['huge', 'large,huge', 'large,large2']) {
    const { status, json } = await ask(`instance=prod&models=${models}`);
    expect([models, status, json.error.data]).toEqual([
      models,
      502,
      expect.objectContaining({ type: 'upstream_bad_response', path: 'models' }),
    ]);
    expect(json.error.message).toMatch(/more than 4 MiB of fields; name fewer/);
  }
});

test('counts as calls of the key, and is in the audit', async () => {
  const key = await createKey({ instances: ['prod'], models: { '*': ['*'] }, per_day: 3 });
  expect((await ask('instance=prod&models=res.partner,res.users', key)).status).toBe(200);
  expect((await ask('instance=prod&models=res.partner,res.users', key)).status).toBe(429);
  await proxy.app.audit.flush();
  const { items } = await proxy.app.audit.search({});
  expect(items).toContainEqual(
    expect.objectContaining({ kind: 'call', instance: 'prod', action: 'fields_get' }),
  );
});

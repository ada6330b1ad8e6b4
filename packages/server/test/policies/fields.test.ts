/**
 * Tests rules for fields over HTTP: which calls are denied, which fields the proxy lists in a call, and what the caller
 * reads.
 */
import type { Policy } from '@erp-proxy/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { closeAfterFile, closeAfterTest } from '../close-after-test.ts';
import { printCall, printExecuteKw, printInstance } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { MODELS, startLimited } from './limited-key.ts';

const DENY: Policy['fields'] = { 'res.partner': { deny: ['vat', 'credit_*', 'street*'] } };
const RULE = 'fields["res.partner"]';

const start = (members: Partial<Policy> = {}, version: 16 | 18 | 19 = 18) =>
  startLimited({ fields: DENY!, ...members }, version);

/** The stage for tests that do not change it. */
let shared: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  shared = await startLimited({ fields: DENY! }, 18, closeAfterFile);
});

test('a read without fields returns all fields but the denied ones', async () => {
  const { call, callFreely } = await start();
  const all = Object.keys((await callFreely('read', 'res.partner', [[9]])).result[0]);
  expect(all).toEqual(expect.arrayContaining(['vat', 'credit_limit', 'street', 'street2']));
  const allowed = all.filter((name) => !/^(vat|credit_|street)/.test(name));
  for (const result of [
    (await call('read', 'res.partner', [[9]])).result,
    (await call('read', 'res.partner', [[9], []])).result,
    (await call('read', 'res.partner', [[9]], { fields: null })).result,
    (await call('search_read', 'res.partner', [[['id', '=', 9]]])).result,
    (await call('search_read', 'res.partner', [], { domain: [['id', '=', 9]], fields: false })).result,
  ]) {
    expect(result).toHaveLength(1);
    expect(Object.keys(result[0])).toEqual(allowed);
  }
  expect(Object.keys((await call('fields_get', 'res.partner', [])).result).sort()).toEqual(allowed.sort());
});

test('only the argument that names fields is added to the call', async () => {
  const bodies: string[] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket, request) => {
      bodies.push(request.body.toString());
      const isQuestion = request.body.includes('"fields_get"');
      const types = '{"id": {"type": "integer"}, "name": {"type": "char"}, "vat": {"type": "char"}}';
      answerLikeOdoo(socket, printResult(isQuestion ? types : 'true'));
    }),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url] }));
  const policy = { origins: [upstream.url], models: MODELS, fields: DENY! };
  const { key } = await proxy.app.keys.create({ name: 'limited', policy });
  const send = async (action: string, params: string, keyword: string) => {
    const members = { action: `"${action}"`, params, keyword, erp_instance: printInstance(upstream.url) };
    await proxy.call(printCall('', members), { 'x-proxy-api': key });
    return bodies.at(-1);
  };
  expect(
    await send('search_read', '[[["id", ">",  1.0]]]', '{"limit" : 5,  "context":{"lang" : "fr_FR"}}'),
  ).toBe(
    printExecuteKw({
      method: 'search_read',
      params: '[[["id", ">",  1.0]]]',
      keyword: '{"limit" : 5,  "context":{"lang" : "fr_FR"},"fields":["id","name"]}',
    }),
  );
  expect(await send('read', '[[1 ], null, "x"]', '{}')).toBe(
    printExecuteKw({ method: 'read', params: '[[1 ], ["id","name"], "x"]', keyword: '{}' }),
  );
  expect(await send('read', '[[1 ], ["name"]]', '{ }')).toBe(
    printExecuteKw({ method: 'read', params: '[[1 ], ["name"]]', keyword: '{ }' }),
  );
  expect(bodies.filter((body) => body.includes('"fields_get"'))).toHaveLength(1);
});

test('a read with `allow` returns the listed fields that the model has', async () => {
  const { call } = await start({ fields: { 'res.partner': { allow: ['email', 'name', 'no_such_field'] } } });
  const { result } = await call('read', 'res.partner', [[9]]);
  expect(Object.keys(result[0]).sort()).toEqual(['display_name', 'email', 'id', 'name']);
});

test('the fields of a model without a rule are listed only if one of them has a denied value', async () => {
  const { call } = await start();
  expect((await call('read', 'res.country', [[20]])).result[0]).toHaveProperty('code');
  const user = (await call('read', 'res.users', [[2]])).result[0];
  expect(user).toHaveProperty('login');
  expect(user).not.toHaveProperty('vat');
});

test.each([
  ['read', 'res.partner', [[9], ['name', 'vat']], {}],
  ['search_read', 'res.partner', [[]], { fields: ['name'], order: 'vat desc' }],
  ['search', 'res.partner', [[['vat', '=', 'x']]], {}],
  ['search', 'sale.order', [[['partner_id.vat', '=', 'x']]], {}],
  ['search', 'sale.order', [[['partner_id', 'any', [['parent_id.vat', '=', 'x']]]]], {}],
  ['search_count', 'sale.order', [[['partner_id', 'ilike', 'BE04']]], {}],
  ['search_count', 'sale.order', [[['partner_id', 'ilike', 477472701]]], {}],
  ['search', 'sale.order', [[['user_id.partner_id.vat', '!=', false]]], {}],
  ['search', 'res.users', [[['vat', '!=', false]]], {}],
  ['search', 'sale.order', [[]], { order: 'partner_id.vat' }],
  ['read_group', 'res.partner', [[], ['credit_limit:sum'], ['country_id']], {}],
  ['read_group', 'res.partner', [[], ['x:max(credit_limit)'], ['country_id']], {}],
  ['read_group', 'res.partner', [[], [], ['country_id']], {}],
  ['read_group', 'sale.order', [[], ['amount_total'], ['partner_id.vat']], {}],
  ['web_read', 'res.partner', [[9], { child_ids: { fields: { vat: {} } } }], {}],
  ['web_search_read', 'sale.order', [[], { partner_id: { fields: { vat: {} } } }], {}],
  ['web_search_read', 'res.partner', [[]], {}],
  ['export_data', 'sale.order', [[1], ['partner_id/vat']], {}],
  ['load', 'res.partner', [['name', 'vat'], [['x', 'y']]], {}],
  ['load', 'sale.order', [['partner_id'], [['BE04']]], {}],
  ['create', 'res.partner', [{ name: 'x', vat: 'y' }], {}],
  ['write', 'res.partner', [[9], { child_ids: [[0, 0, { name: 'x', vat: 'y' }]] }], {}],
  ['create', 'res.partner', [{ name: 'x' }], { context: { default_vat: 'y' } }],
  ['onchange', 'res.partner', [[], {}, [], { vat: {} }], {}],
  ['default_get', 'res.partner', [['vat']], {}],
  ['copy', 'res.partner', [[9]], { default: { vat: 'y' } }],
  ['copy_data', 'res.partner', [[9]], {}],
  ['mapped', 'res.partner', [[9], 'vat'], {}],
  ['name_search', 'res.partner', ['BE04'], {}],
  // This operator finds the records without a value.
  ['name_search', 'res.partner', ['', [], '='], {}],
  ['name_search', 'res.partner', [], { operator: 'not ilike' }],
  ['export_data', 'crm.lead', [[1], ['lead_properties.customer/vat']], {}],
  ['search', 'crm.lead', [[['lead_properties.customer', 'any', [['vat', '=', 'x']]]]], {}],
  ['web_read', 'crm.lead', [[1], { lead_properties: { fields: { customer: { fields: { vat: {} } } } } }], {}],
  ['fields_get', 'res.partner', [['vat']], {}],
  ['get_views', 'res.partner', [[[false, 'form']]], {}],
  ['find_or_create', 'res.partner', ['a@example.com'], {}],
  ['read', 'res.partner', [[9], ['display_name']], { context: { show_vat: true } }],
  ['read', 'sale.order', [[1], ['partner_id']], { context: { show_vat: true } }],
  ['search_read', 'res.partner', [[]], { fields: ['name'], context: { group_by: 'vat' } }],
])('denies %s of %s with %j %j', async (action, model, params, keyword) => {
  const { error } = await shared.call(action, model, params, keyword);
  expect(error).toMatchObject({ code: -32010, data: { type: 'policy_denied', rule: RULE } });
});

test('the error about a search by name has the names of the call only', async () => {
  const { call } = await start();
  const { error } = await call('search', 'sale.order', [[['partner_id.display_name', 'ilike', 'BE04']]]);
  expect(error.message).toContain('A search by name in `res.partner`, as `partner_id` does,');
});

test.each([
  [
    'search_read',
    'res.partner',
    [
      [
        ['name', 'ilike', 'wood'],
        ['parent_id.name', '=', false],
      ],
    ],
    { fields: ['name'] },
  ],
  ['read', 'sale.order', [[1], ['partner_id', 'name']], {}],
  [
    'search_read',
    'sale.order',
    [[['partner_id.name', 'ilike', 'a']]],
    { fields: ['name'], order: 'partner_id' },
  ],
  ['read_group', 'res.partner', [[], ['color'], ['country_id']], {}],
  ['web_read', 'res.partner', [[9], { name: {}, child_ids: { fields: { name: {} } } }], {}],
  ['name_search', 'res.partner', [''], {}],
  ['name_search', 'res.partner', ['', [], 'ilike'], {}],
  ['read', 'crm.lead', [[1], ['lead_properties']], {}],
  ['create', 'res.partner', [{ name: 'x', child_ids: [[0, 0, { name: 'y' }]] }], {}],
  ['create', 'sale.order', [{ partner_id: 9, order_line: [[0, 0, { product_id: 1 }]] }], {}],
])('allows %s of %s with %j %j', async (action, model, params, keyword) => {
  expect(await shared.call(action, model, params, keyword)).not.toHaveProperty('error');
});

test('a list of allowed fields leaves other models alone, also in values inside values', async () => {
  const { call } = await start({ fields: { 'res.partner': { allow: ['name'] } } });
  const line = [0, 0, { product_id: 1, product_uom_qty: 2 }];
  expect(await call('create', 'sale.order', [{ partner_id: 9, order_line: [line] }])).toHaveProperty(
    'result',
  );
});

test('a method that is not known to keep to fields needs a policy that names it', async () => {
  const models = { 'res.partner': ['*', 'find_or_create'] };
  const { call } = await start({ models });
  expect(await call('find_or_create', 'res.partner', ['a@example.com'])).toHaveProperty('result');
});

test('an error says what to do', async () => {
  const { call } = await start();
  const messageOf = async (action: string, model: string, params: unknown[]) =>
    (await call(action, model, params)).error.message;
  expect(await messageOf('read', 'res.partner', [[9], ['vat']])).toBe(
    'This key may not use the field `vat` of `res.partner`. Leave it out, or ask the operator to change `fields["res.partner"]`.',
  );
  expect(await messageOf('search', 'sale.order', [[['partner_id.vat', '=', 'x']]])).toBe(
    'This key may not use the field `vat` of `res.partner`, which `partner_id.vat` uses. Leave it out, or ask the operator to change `fields["res.partner"]`.',
  );
  expect(await messageOf('web_search_read', 'res.partner', [[]])).toContain(
    'name the fields in `specification`',
  );
  expect(await messageOf('name_search', 'res.partner', ['BE04'])).toContain('Search by a domain');
});

test('the nearest names of an unknown field are those that the key may use', async () => {
  const { call, callFreely } = await start();
  const ask = [[9], ['va']];
  expect((await callFreely('read', 'res.partner', ask)).error.data.nearest).toContain('vat');
  expect((await call('read', 'res.partner', ask)).error.data.nearest).not.toContain('vat');
});

test('the rules hold with normalized values, and for kept answers', async () => {
  const { call, callFreely } = await start({ cache: true });
  const normalized = { prefer: 'values=normalized' };
  expect((await call('read', 'res.partner', [[9]], {}, normalized)).result[0]).not.toHaveProperty('vat');
  const kept = { 'cache-control': 'max-age=60' };
  expect((await callFreely('read', 'res.partner', [[9]], {}, kept)).result[0]).toHaveProperty('vat');
  expect((await call('read', 'res.partner', [[9]], {}, kept)).result[0]).not.toHaveProperty('vat');
});

test('normalized values are checked in the form that Odoo gets', async () => {
  const { call } = await start();
  const normalized = { prefer: 'values=normalized' };
  const write = (values: object) => call('write', 'res.partner', [[9], values], {}, normalized);
  const { error } = await write({ child_ids: { create: [{ name: 'x', vat: 'y' }] } });
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: RULE });
  expect(error.message).toContain('`child_ids.vat`');
  expect((await write({ child_ids: { create: [{ name: 'x' }] }, parent_id: { id: 10 } })).result).toBe(true);
});

test('names that show a denied field are hidden where records show them', async () => {
  const { call } = await start({ fields: { 'res.partner': { deny: ['name'] } } });
  const order = (await call('read', 'sale.order', [[1]])).result[0];
  expect(order).toHaveProperty('state');
  // The name of a user is the name of its partner.
  expect(order).not.toHaveProperty('user_id');
  expect(order).not.toHaveProperty('partner_id');
  expect((await call('read', 'sale.order', [[1], ['partner_id']])).error.data.rule).toBe(RULE);
  expect(
    (await call('read', 'sale.order', [[1], ['partner_id']], { load: '' })).result[0].partner_id,
  ).toBeTypeOf('number');
  // A property can lead to partners.
  const [lead] = (await call('read', 'crm.lead', [[1]])).result;
  expect(lead).toHaveProperty('probability');
  expect(lead).not.toHaveProperty('lead_properties');
  for (const denied of [
    await call('name_search', 'res.partner', ['']),
    await call('name_get', 'res.partner', [[9]]),
    await call('read', 'res.partner', [[9], ['display_name']]),
    await call('export_data', 'sale.order', [[1], ['partner_id']]),
    await call('export_data', 'crm.lead', [[1], ['lead_properties.customer']]),
    await call('read', 'crm.lead', [[1], ['lead_properties']], { load: '' }),
    await call('web_read', 'crm.lead', [[1], { lead_properties: { order: 'id' } }]),
    await call('read_group', 'sale.order', [[], ['amount_total'], ['partner_id']]),
    await call('search', 'sale.order', [[]], { order: 'partner_id' }),
  ])
    expect(denied.error.data.rule).toBe(RULE);
});

test.each([16, 18, 19] as const)(
  'a field that Odoo %s computes at each read from a denied one is denied',
  async (version) => {
    const rule = 'fields["res.country"]';
    const { call, callFreely } = await start({ fields: { 'res.country': { deny: ['code'] } } }, version);
    // The URL of the flag contains the code.
    const [free] = (await callFreely('read', 'res.country', [[20], ['code', 'image_url']])).result;
    expect(free.image_url).toContain(free.code.toLowerCase());
    const [country] = (await call('read', 'res.country', [[20]])).result;
    expect(country).toHaveProperty('phone_code');
    expect(country).not.toHaveProperty('code');
    expect(country).not.toHaveProperty('image_url');
    for (const denied of [
      await call('read', 'res.country', [[20], ['image_url']]),
      await call('search_read', 'res.partner', [[['country_id.image_url', 'ilike', 'be']], ['name']]),
      await call('export_data', 'res.partner', [[9], ['country_id/image_url']]),
    ])
      expect(denied.error.data.rule).toBe(rule);
    const { result } = await call('read', 'res.partner', [[9], ['country_id']]);
    expect(result[0].country_id).toEqual([233, 'United States']);
  },
);

test('a display name shows the field that its model declares, also in a model that nobody knows', async () => {
  // The display name of an activity is its summary.
  const { call } = await start({ fields: { 'mail.activity': { deny: ['summary'] } } });
  const denied = await call('search_read', 'mail.activity', [[], ['display_name']]);
  expect(denied.error.data.rule).toBe('fields["mail.activity"]');
  const described = (await call('fields_get', 'mail.activity', [])).result;
  expect(described).toHaveProperty('date_deadline');
  expect(described).not.toHaveProperty('display_name');
  const other = await start({ fields: { 'mail.activity': { deny: ['note'] } } });
  expect((await other.call('fields_get', 'mail.activity', [])).result).toHaveProperty('display_name');
});

test('an answer of an idempotency key is not returned after its fields were denied', async () => {
  const { call, proxy, policy, record } = await start({ fields: { 'res.partner': { deny: ['email'] } } });
  const headers = { 'idempotency-key': 'read-1' };
  expect((await call('read', 'res.partner', [[9], ['vat']], {}, headers)).result).toBeDefined();
  const { version } = (await proxy.app.keys.find(record.id))!;
  await proxy.app.keys.update(record.id, version, {
    policy: { ...policy, fields: { 'res.partner': { deny: ['email', 'street'] } } },
  });
  expect((await call('read', 'res.partner', [[9], ['vat']], {}, headers)).error.data.type).toBe(
    'idempotency_conflict',
  );
});

describe('the other routes', () => {
  test('/v2/odoo/execute lists fields and denies them', async () => {
    const { proxy, instance, key } = await start({}, 19);
    const ask = async (method: string, kwargs: object) => {
      const body = { model_id: 'res.partner', method, kwargs, odoo_instance: instance };
      const answer = await send(`${proxy.url}/v2/odoo/execute`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return JSON.parse(answer.body.toString());
    };
    const [partner] = (await ask('read', { ids: [9] })).result;
    expect(partner).toHaveProperty('email');
    expect(partner).not.toHaveProperty('vat');
    expect((await ask('read', { ids: [9], fields: ['vat'] })).error.data.rule).toBe(RULE);
    expect((await ask('search', { domain: [['parent_id.vat', '=', 'x']] })).error.data.rule).toBe(RULE);
  });

  test('the route of ODXProxy lists fields and denies them', async () => {
    const { proxy, instance, key } = await start();
    const ask = async (keyword: object) => {
      const body = {
        id: '1',
        action: 'search_read',
        model_id: 'res.partner',
        params: [[]],
        keyword,
        odoo_instance: instance,
      };
      const answer = await send(`${proxy.url}/api/odoo/execute`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return JSON.parse(answer.body.toString());
    };
    const [partner] = (await ask({ limit: 1 })).result;
    expect(partner).toHaveProperty('email');
    expect(partner).not.toHaveProperty('vat');
    expect((await ask({ fields: ['vat'] })).error.data.rule).toBe(RULE);
  });

  test('each call of a batch is checked', async () => {
    const { proxy, key, makeBody } = await start();
    const calls = [makeBody('read', 'res.partner', [[9]]), makeBody('read', 'res.partner', [[9], ['vat']])];
    const { json } = await proxy.call(calls, { 'x-proxy-api': key });
    expect(json[0].result[0]).not.toHaveProperty('vat');
    expect(json[1].error.data.rule).toBe(RULE);
  });
});

test('a model whose fields cannot be found is refused', async () => {
  const { call } = await start({ fields: { '*': { deny: ['vat'] } } });
  const { error } = await call('read', 'no.such.model', [[9]]);
  expect(error.message).toContain(
    'This key may not use all fields, and those of `no.such.model` could not be found.',
  );
  expect(error.data.type).toBe('model_not_found');
});

/** Tests that the paths of a call lead only into models that the policy allows to read. */
import type { Policy } from '@erp-proxy/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { closeAfterFile, closeAfterTest } from '../close-after-test.ts';
import { printInstance } from '../execute/expectations.ts';
import { startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { startLimited } from './limited-key.ts';

const METHODS = [
  ...['read', 'search', 'search_read', 'search_count', 'read_group', 'web_read', 'web_search_read'],
  ...['export_data', 'mapped', 'search_panel_select_range', 'create'],
];

let shared: Awaited<ReturnType<typeof startLimited>>;
/** A key whose policy names only sales orders. */
let orders: Awaited<ReturnType<typeof shared.limit>>;
beforeAll(async () => {
  shared = await startLimited({}, 18, closeAfterFile);
  orders = await shared.limit({ models: { 'sale.order': METHODS } });
});

const ADVICE = (model: string) => `ask the operator to allow \`read\` of \`${model}\` in \`models\``;

describe('a path into a model that the policy does not let be read is refused', () => {
  test.each([
    ['search_count', [[['partner_id.email', 'like', 'a']]], {}, 'res.partner'],
    ['search_count', [[['create_uid.partner_id.email', 'like', 'a']]], {}, 'res.users'],
    ['search_count', [[['order_line.price_unit', '>', 5]]], {}, 'sale.order.line'],
    ['search_read', [[['partner_id', 'any', [['email', '=', 'x']]]]], { fields: ['name'] }, 'res.partner'],
    ['search_read', [['|', ['id', '=', 1], ['partner_id', 'not any', [['vat', '=', 1]]]]], {}, 'res.partner'],
    ['search_count', [[['partner_id', 'ilike', 'a@example.com']]], {}, 'res.partner'],
    ['search_count', [[['partner_id', '=', 'a@example.com']]], {}, 'res.partner'],
    ['search_count', [[['create_uid', 'not like', 'admin']]], {}, 'res.users'],
    ['search_count', [[['partner_id', 'child_of', 1]]], {}, 'res.partner'],
    ['search', [[]], { order: 'partner_id.email' }, 'res.partner'],
    ['read', [[1], ['partner_id.email']], {}, 'res.partner'],
    ['export_data', [[1], ['partner_id/email']], {}, 'res.partner'],
    ['export_data', [[1], ['order_line']], {}, 'sale.order.line'],
    ['mapped', [[1], 'partner_id.email'], {}, 'res.partner'],
    ['web_read', [[1], { order_line: { fields: { display_name: {} } } }], {}, 'sale.order.line'],
    ['web_read', [[1], { order_line: { fields: { name: {} }, limit: 5 } }], {}, 'sale.order.line'],
    ['web_read', [[1], { partner_id: { fields: { email: {} } } }], {}, 'res.partner'],
    ['read_group', [[['partner_id.email', '=', 'x']], ['amount_total'], ['state']], {}, 'res.partner'],
    ['read_group', [[], ['amount_total'], ['partner_id.country_id']], {}, 'res.partner'],
    ['search_panel_select_range', ['partner_id'], { expand: true, hierarchize: false }, 'res.partner'],
  ])('%s %j %j', async (method, params, keyword, model) => {
    const { error } = await orders.call(method, 'sale.order', params, keyword);
    expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
    expect(error.message).toContain(ADVICE(model));
  });
});

test('ids and display names of the records to which a field of the model leads stay allowed', async () => {
  for (const [method, params, keyword] of [
    [
      'search_read',
      [[['partner_id', '=', 9]]],
      { fields: ['partner_id', 'order_line'], order: 'partner_id' },
    ],
    ['search_count', [[['partner_id', 'in', [9, 10]]]], {}],
    ['search_count', [[['order_line', '!=', false]]], {}],
    ['search_count', [[['name', 'ilike', 'S0']]], {}],
    ['search_count', [[['state', '=', 'sale']]], {}],
    ['read', [[1]], {}],
    ['web_read', [[1], { partner_id: { fields: { display_name: {} } }, order_line: {} }], {}],
    ['read_group', [[], ['amount_total'], ['partner_id']], {}],
  ] as const) {
    const answer = await orders.call(method, 'sale.order', [...params], keyword);
    expect(answer, `${method} ${JSON.stringify(params)}`).toHaveProperty('result');
  }
});

test('a specification and a group into a model that may be read run', async () => {
  const { call } = await shared.limit({
    models: { 'sale.order': METHODS, 'sale.order.line': ['read'], 'res.partner': ['search_read'] },
  });
  for (const [method, params, keyword] of [
    ['web_read', [[1], { order_line: { fields: { name: {}, price_unit: {} } } }], {}],
    ['web_search_read', [[], { partner_id: { fields: { email: {} } } }], {}],
    ['read_group', [[], ['amount_total'], ['partner_id.country_id']], {}],
    ['read', [[1], ['partner_id']], { context: { show_email: true } }],
  ] as const) {
    // The sandbox cannot group by a path.
    const answer = await call(method, 'sale.order', [...params], keyword);
    expect(answer.error?.data.type, method).not.toBe('policy_denied');
  }
  const { error } = await call('web_read', 'sale.order', [[1], { user_id: { fields: { login: {} } } }]);
  expect(error.message).toContain(ADVICE('res.users'));
});

test('`*` stands for imports, exports and conditions that keep to their model', async () => {
  const own = await shared.limit({ models: { 'crm.lead': ['*'] } });
  const all = await shared.limit({ models: { '*': ['*'] } });
  const calls = (column: string, field: string) =>
    [
      ['export_data', [[1], ['name', column]]],
      ['filtered_domain', [[1], [[field, '!=', false]]]],
    ] as const;
  for (const [method, params] of [
    ...calls('partner_id/id', 'partner_id'),
    ['load', [['name', 'partner_id/.id'], []]],
  ] as const)
    for (const { call } of [own, all]) {
      const { error } = await call(method, 'crm.lead', [...params]);
      expect(error?.data.type, `${method}: ${error?.message}`).not.toBe('policy_denied');
    }
  for (const [method, params] of calls('partner_id/email', 'partner_id.email')) {
    const { error } = await own.call(method, 'crm.lead', [...params]);
    expect(error.message, method).toContain(ADVICE('res.partner'));
  }
  const byName = await own.call('load', 'crm.lead', [['name', 'partner_id'], []]);
  expect(byName.error.message).toContain('searches `res.partner` by name');
  for (const [method, params] of calls('partner_id/email', 'partner_id.email')) {
    const { error } = await all.call(method, 'crm.lead', [...params]);
    expect(error?.data.type, method).not.toBe('policy_denied');
  }
});

test.each([
  ['read', [[1], ['partner_id']], { context: { show_email: true } }, 'res.partner'],
  ['get_views', [[[1, 'form']]], {}, 'ir.ui.view'],
  ['get_views', [[[false, 'form']]], { context: { form_view_ref: 'base.view_users_form' } }, 'ir.ui.view'],
])('names of partners and views need an entry too: %s %j %j', async (method, params, keyword, model) => {
  const { call } = await shared.limit({ models: { 'sale.order': ['read', 'get_views'] } });
  const { error } = await call(method, 'sale.order', params, keyword);
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
  expect(error.message).toContain(`add \`{"${model}": ["read"]}\``);
  const wider = await shared.limit({ models: { 'sale.order': ['read', 'get_views'], [model]: ['read'] } });
  const answer = await wider.call(method, 'sale.order', params, keyword);
  expect(answer.error?.data.type).not.toBe('policy_denied');
});

test('a call without such a path asks the server nothing more', async () => {
  const { call } = await shared.limit({ models: { 'crm.lead': METHODS } });
  const listCalls = () => ({ ...shared.sandbox.requests.calls });
  const before = listCalls();
  await call('search_read', 'crm.lead', [[['name', 'ilike', 'a']]], { fields: ['name', 'partner_id'] });
  const name = 'crm.lead.search_read';
  expect(listCalls()).toEqual({ ...before, [name]: (before[name] ?? 0) + 1 });
});

test('an entry of `models` with a reading method opens the model', async () => {
  const domain = [[['partner_id.email', '!=', false]]];
  const count = async (models: Policy['models']) => {
    const { call } = await shared.limit({ models: { 'sale.order': ['search_count'], ...models } });
    return await call('search_count', 'sale.order', domain);
  };
  for (const models of [
    { 'res.partner': ['read'] },
    { 'res.*': ['search_read'] },
    { 'res.partner': ['web_*'] },
    { '*': ['*'] },
  ])
    expect(await count(models), JSON.stringify(models)).toHaveProperty('result');
  for (const models of [{ 'res.partner': ['search_count', 'write'] }, { '*': ['search_count'] }])
    expect((await count(models)).error?.data.rule, JSON.stringify(models)).toBe('models');
});

test('the rule holds together with rules for fields', async () => {
  const { call } = await shared.limit({
    models: { 'sale.order': METHODS },
    fields: { 'sale.order': { deny: ['note'] } },
  });
  const count = async (path: string) =>
    (await call('search_count', 'sale.order', [[[path, '!=', false]]])).error?.data.rule;
  expect(await count('note')).toBe('fields["sale.order"]');
  expect(await count('partner_id.email')).toBe('models');
  expect(await count('partner_id')).toBeUndefined();
});

test('values that a call writes are no paths', async () => {
  const { call } = await shared.limit({ models: { 'res.partner': ['create'] } });
  const values = { name: 'New', child_ids: [[0, 0, { name: 'Child', email: 'x@example.com' }]] };
  expect(await call('create', 'res.partner', [values])).toHaveProperty('result');
});

test('a path whose model cannot be told is refused, and so is an argument that cannot be read', async () => {
  const { call } = await shared.limit({ models: { 'crm.lead': METHODS } });
  const property = [['lead_properties.customer', '=', 5]];
  const refused = (await call('search_count', 'crm.lead', [property])).error;
  expect(refused.data.rule).toBe('models');
  expect(refused.message).toContain('cannot be told');
  const { error } = await call('search_count', 'crm.lead', [[['partner_id', 'any', 'x']]]);
  expect(error.message).toContain('which ones `domain` leads to cannot be told');
});

test('`*` on all models leads into no fields of models that hold credentials, whatever argument names them', async () => {
  const types = {
    provider_id: { type: 'many2one', relation: 'payment.provider' },
    partner_id: { type: 'many2one', relation: 'res.partner' },
  };
  const sent: string[] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket, request) => {
      const body = request.body.toString();
      const asksTypes = body.includes('"fields_get"');
      if (!asksTypes) sent.push(body);
      answerLikeOdoo(socket, printResult(asksTypes ? JSON.stringify(types) : '[]'));
    }),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url] }));
  const policy = { origins: [upstream.url], models: { '*': ['*', 'web_read_group'] } };
  const { key } = await proxy.app.keys.create({ name: 'open', policy });
  const call = async (action: string, params: unknown[], keyword: object) => {
    const erp_instance = JSON.parse(printInstance(upstream.url));
    const body = { id: 1, action, model_id: 'payment.transaction', params, keyword, erp_instance };
    return (await proxy.call(body, { 'x-proxy-api': key })).json;
  };
  const calls = (path: string, field: string) =>
    [
      ['search_read', [[[`${path}.${field}`, 'like', 'x']]], { fields: ['id'] }],
      ['search_read', [[[path, 'any', [[field, 'like', 'x']]]]], { fields: ['id'] }],
      ['search_panel_select_range', [path], { comodel_domain: [[field, 'like', 'x']] }],
      ['search_panel_select_multi_range', [path], { group_by: field }],
      ['web_read', [[1], { [path]: { fields: { [field]: {} } } }], {}],
    ] as const;
  for (const [method, params, keyword] of calls('provider_id', 'paypal_secret')) {
    const { error } = await call(method, [...params], keyword);
    expect(error?.data, method).toMatchObject({ type: 'policy_denied', rule: 'models' });
    expect(error.message, method).toContain('`payment.provider`');
  }
  expect(sent).toEqual([]);
  for (const [method, params, keyword] of calls('partner_id', 'email')) {
    const { error } = await call(method, [...params], keyword);
    expect(error?.data.type, `${method}: ${error?.message}`).not.toBe('policy_denied');
  }
});

test('a key gets no field with a credential, also by a call that names no fields, unless its policy names the field', async () => {
  const fields = ['name', 'attendance_kiosk_key', 'email'];
  const types = Object.fromEntries(fields.map((name) => [name, { type: 'char' }]));
  const sent: string[][] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket, request) => {
      const { args = [] } = JSON.parse(request.body.toString()).params ?? {};
      const asksTypes = args[4] === 'fields_get';
      if (!asksTypes) sent.push(args[6]?.fields ?? args[5]?.[1] ?? 'all');
      answerLikeOdoo(socket, printResult(asksTypes ? JSON.stringify(types) : '[]'));
    }),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url] }));
  const limit = async (members: Partial<Policy>) => {
    const policy = {
      origins: [upstream.url],
      models: { '*': ['*'], 'res.company': ['copy_data'] },
      ...members,
    };
    const { key } = await proxy.app.keys.create({ name: 'company', policy });
    return async (action: string, params: unknown[], keyword: object = {}) => {
      const erp_instance = JSON.parse(printInstance(upstream.url));
      const body = { id: 1, action, model_id: 'res.company', params, keyword, erp_instance };
      return (await proxy.call(body, { 'x-proxy-api': key })).json;
    };
  };
  const call = await limit({});
  for (const [method, params, keyword] of [
    ['read', [[1], ['attendance_kiosk_key']], {}],
    ['search_count', [[['attendance_kiosk_key', '=like', 'a%']]], {}],
    ['search_read', [[]], { fields: ['name'], order: 'attendance_kiosk_key' }],
    ['copy_data', [[1]], {}],
  ] as const) {
    const { error } = await call(method, [...params], keyword);
    expect(error?.data, method).toMatchObject({ type: 'policy_denied', rule: 'fields' });
  }
  expect(sent).toEqual([]);
  expect(await call('read', [[1]])).toHaveProperty('result');
  expect(await call('search_read', [[]])).toHaveProperty('result');
  expect(sent).toEqual([
    ['name', 'email'],
    ['name', 'email'],
  ]);
  const named = await limit({ fields: { 'res.company': { allow: ['name', 'attendance_kiosk_key'] } } });
  expect(await named('read', [[1], ['attendance_kiosk_key']])).toHaveProperty('result');
  expect(await named('read', [[1]])).toHaveProperty('result');
  expect(sent.slice(2)).toEqual([['attendance_kiosk_key'], ['name', 'attendance_kiosk_key']]);
  const denying = await limit({ fields: { 'res.company': { deny: ['email'] } } });
  expect(await denying('read', [[1]])).toHaveProperty('result');
  expect(sent.slice(4)).toEqual([['name']]);
});

/** Tests commands on related records, checked by the types of fields that the server describes. */
import { readFileSync } from 'node:fs';
import type { Policy } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { describeFields } from '../../../odoo/test/described-models.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, printExecuteKw, printInstance, UPSTREAM_KEY } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';

/** Approvals are stored encrypted. */
const SETTINGS = { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') };

/** Starts a proxy with a key of this policy. `answerFields` answers the question for the fields of a model. */
async function start(
  models: Policy['models'],
  members: Partial<Policy> = {},
  answerFields: (model: string) => string | Promise<string> = describeFields,
) {
  const asked: string[] = [];
  const sent: string[] = [];
  const upstream = await startUpstream(async (socket, { head, body }) => {
    const [, path = ''] = head.split(' ');
    const text = body.toString();
    const [, model] =
      /"([^"]+)",\s*"fields_get"/.exec(text) ?? /^\/json\/2\/(.+)\/fields_get$/.exec(path) ?? [];
    if (model === undefined) sent.push(text);
    else asked.push(model);
    const result = model === undefined ? 'true' : await answerFields(model);
    answerLikeOdoo(socket, path.startsWith('/json/2/') ? result : printResult(result));
  });
  closeAfterTest(upstream);
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url], settings: SETTINGS }));
  const policy = { origins: [upstream.url], models, ...members };
  const { key, record } = await proxy.app.keys.create({ name: 'limited', policy });
  const headers = { 'x-proxy-api': key };
  const print = (model: string, action: string, params: string, keyword = '{}') =>
    printCall('', {
      action: `"${action}"`,
      model_id: `"${model}"`,
      params,
      keyword,
      erp_instance: printInstance(upstream.url),
    });
  const call = async (...parts: Parameters<typeof print>) =>
    (await proxy.call(print(...parts), headers)).json;
  const write = async (values: string, model = 'sale.order') =>
    await call(model, 'write', `[[1], ${values}]`);
  return { proxy, upstream, key, record, policy, headers, print, call, write, asked, sent };
}

const LINE = '{"order_line": [[0, 0, {"price_unit": 1.0, "tax_id": [[6, 0, [1]]]}]]}';
const WITH_LINES = {
  'sale.order': ['write'],
  'sale.order.line': ['create'],
  'account.tax': ['read'],
};

test('lines of an order reach Odoo byte for byte if the policy names what they change and link', async () => {
  const { write, sent, asked } = await start(WITH_LINES);
  await write(LINE);
  await write(LINE);
  const params = `[[1], ${LINE}]`;
  const expected = printExecuteKw({ model: 'sale.order', method: 'write', params });
  expect(sent).toEqual([expected, expected]);
  // The proxy keeps the types, so it does not ask again.
  expect(asked).toEqual(['sale.order', 'sale.order.line']);
});

test.each<[string, Policy['models'], string, string]>([
  ['models', { 'sale.order': ['*'] }, LINE, '{"sale.order.line": ["create"]}'],
  ['models', { 'sale.order': ['*'], 'sale.order.line': ['*'] }, LINE, '{"account.tax": ["read"]}'],
  ['models', { 'sale.order': ['*'] }, '{"picking_ids": [[1, 2, {}]]}', '{"stock.picking": ["write"]}'],
  ['models', { 'sale.*': ['create', 'write'] }, '{"order_line": [[5]]}', '{"sale.order.line": ["unlink"]}'],
  ['models', { 'sale.*': ['create', 'write'] }, '{"order_line": false}', '{"sale.order.line": ["unlink"]}'],
  ['models', { 'sale.order': ['*'] }, '{"message_partner_ids": [[4, 3]]}', '{"mail.followers": ["write"]}'],
  ['models', { 'sale.order': ['*'] }, '{"hidden_ids": [[4, 3]]}', 'describes no such field'],
  ['sensitive_methods', { '*': ['*'] }, '{"message_ids": [[0, 0, {}]]}', '`create` of `mail.message`'],
])('is refused by %s, and says what to add: %s %s', async (rule, models, values, words) => {
  const { write, sent } = await start(models);
  const { error } = await write(values);
  expect(error.data).toMatchObject({ type: 'policy_denied', rule });
  expect(error.message).toContain(words);
  expect(sent).toEqual([]);
});

test('the same on every route, and in each call of a batch', async () => {
  const { proxy, upstream, key, headers, print, sent } = await start({ 'report.paperformat': ['*'] });
  const params = '[[1], {"report_ids": [[0, 0, {}]]}]';
  const one = print('report.paperformat', 'write', params);
  const rule = 'sensitive_methods';
  expect((await proxy.call(one, headers)).json.error.data.rule).toBe(rule);
  expect((await proxy.call(`[${one}]`, headers)).json[0].error.data.rule).toBe(rule);
  const instance = { url: upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
  const base = { id: 'a', model_id: 'report.paperformat', odoo_instance: instance };
  for (const [path, body] of [
    ['/v1/odoo/execute', { ...base, action: 'write', params: JSON.parse(params) }],
    [
      '/v2/odoo/execute',
      { ...base, method: 'write', kwargs: { ids: [1], vals: { report_ids: [[0, 0, {}]] } } },
    ],
  ] as const) {
    const answer = await send(proxy.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(body),
    });
    expect([path, JSON.parse(answer.body.toString()).error.data.rule]).toEqual([path, rule]);
  }
  expect(sent).toEqual([]);
});

test('a call without lists, objects and empty values asks for no types', async () => {
  const { write, call, asked, sent } = await start({ 'sale.order': ['create', 'write', 'action_confirm'] });
  await write('{"name": "a", "amount": 5, "is_locked": true, "partner_id": 3}');
  await call('sale.order', 'create', '[{"name": "a", "note": false}]');
  await call('sale.order', 'action_confirm', '[[1, 2]]', '{"context": {"lang": "de_DE"}}');
  expect(asked).toEqual([]);
  expect(sent).toHaveLength(3);
});

test('records that a context names need their model, and the refusal has the entry', async () => {
  const FORMS = {
    'stock.backorder.confirmation': ['*'],
    'sale.advance.payment.inv': ['*'],
    'account.accrued.orders.wizard': ['create_*'],
  };
  const transfers = '{"context": {"button_validate_picking_ids": [1]}}';
  const orders = '{"context": {"active_ids": [4]}}';
  const { call, sent } = await start(FORMS);
  const confirmed = await call('stock.backorder.confirmation', 'process', '[[1]]', transfers);
  expect(confirmed.error.message).toContain('{"stock.picking": ["write"]}');
  for (const method of ['create', 'default_get', 'create_invoices']) {
    const { error } = await call('sale.advance.payment.inv', method, '[[]]', orders);
    expect([method, error.message]).toEqual([method, expect.stringContaining('{"sale.order": ["read"]}')]);
  }
  const { error } = await call('account.accrued.orders.wizard', 'create_entries', '[[1]]', orders);
  expect(error.message).toContain('Name the model in `active_model`');
  expect(sent).toEqual([]);

  const named = await start({ ...FORMS, 'stock.picking': ['write'], 'sale.order': ['read'] });
  await named.call('stock.backorder.confirmation', 'process', '[[1]]', transfers);
  await named.call('sale.advance.payment.inv', 'create_invoices', '[[1]]', orders);
  expect(named.sent).toHaveLength(2);
});

test('a call whose types cannot be had is not sent', async () => {
  const { write, sent } = await start(WITH_LINES, {}, () => '5');
  const { error } = await write(LINE);
  expect(error.message).toContain('What they change depends on the fields of `sale.order`');
  expect(sent).toEqual([]);
});

test('a large call is checked too', async () => {
  const { write, sent } = await start({ 'sale.order': ['*'] });
  const tags = Array.from({ length: 20_000 }, (_, index) => index);
  const { error } = await write(`{"tag_ids": [${tags}], "picking_ids": [[1, 2, {}]]}`);
  expect(error.message).toContain('{"crm.tag": ["read"]}');
  expect(sent).toEqual([]);
});

test('normalized values are checked as the commands that are sent', async () => {
  const { proxy, headers, print, sent } = await start({
    'sale.order': ['write'],
    'sale.order.line': ['create'],
  });
  const post = async (lines: string) => {
    const body = print('sale.order', 'write', `[[1], {"order_line": ${lines}}]`);
    return (await proxy.call(body, { ...headers, prefer: 'values=normalized' })).json;
  };
  expect((await post('{"create": [{"name": "a"}]}')).result).toBe(true);
  for (const lines of ['{"set": []}', '{"remove": [1]}', '{"clear": true}', '{"delete": [1]}'])
    expect((await post(lines)).error.message).toContain('"sale.order.line"');
  expect(sent).toHaveLength(1);
});

test('a policy that changes while the types are asked for decides', async () => {
  let change = async () => {};
  const { proxy, record, policy, write, sent } = await start(WITH_LINES, {}, async (model) => {
    await change();
    return describeFields(model);
  });
  change = async () => {
    const { 'sale.order.line': _, ...models } = policy.models;
    await proxy.app.keys.update(record.id, 1, { policy: { ...policy, models } });
    change = async () => {};
  };
  const { error } = await write(LINE);
  expect(error.message).toContain('{"sale.order.line": ["create"]}');
  expect(sent).toEqual([]);
});

test('what needs an approval in a call of its own needs it through another record too', async () => {
  const models = { 'sale.order': ['write'], 'sale.order.line': ['write', 'unlink'] };
  const { write, sent } = await start(models, { approve: { 'sale.order.line': ['unlink'] } });
  expect((await write('{"order_line": [[1, 5, {"name": "a"}]]}')).result).toBe(true);
  const { error } = await write('{"order_line": [[1, 5, {"name": "a"}], [2, 6]]}');
  expect(error.data).toMatchObject({ type: 'approval_required', rule: 'approve["sale.order.line"]' });
  expect(sent).toHaveLength(1);
});

describe('a link in a default that is no field of the model', () => {
  const CONTEXT = '{"context": {"default_bank_ids": [[4, 5]]}}';

  test('is refused, unless the policy is for all models', async () => {
    const limited = await start({ 'sale.order': ['*'], 'res.partner.bank': ['*'] });
    const { error } = await limited.call('sale.order', 'action_confirm', '[[1]]', CONTEXT);
    expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
    expect(error.message).toContain('`default_bank_ids` is no field of the model of the call');
    expect(limited.sent).toEqual([]);
    const all = await start({ '*': ['*'] });
    expect((await all.call('sale.order', 'action_confirm', '[[1]]', CONTEXT)).result).toBe(true);
  });

  test('needs each approval for a `write`, as it could be that of any model', async () => {
    const { call, sent } = await start({ '*': ['*'] }, { approve: { 'res.partner.bank': ['write'] } });
    const { error } = await call('sale.order', 'action_confirm', '[[1]]', CONTEXT);
    expect(error.data).toMatchObject({ type: 'approval_required', rule: 'approve["res.partner.bank"]' });
    expect(sent.join()).not.toContain('action_confirm');
    expect((await call('sale.order', 'action_confirm', '[[1]]')).result).toBe(true);
  });

  test('defaults that are single values pass', async () => {
    const { call, asked } = await start({ 'sale.order': ['*'] });
    const context = '{"context": {"default_type": "a", "default_team_id": 5, "default_move_type": "entry"}}';
    expect((await call('sale.order', 'create', '[{"name": "a"}]', context)).result).toBe(true);
    expect((await call('sale.order', 'action_confirm', '[[1]]', context)).result).toBe(true);
    expect(asked).toEqual([]);
  });
});

test('a record of an unknown model needs each approval for reads', async () => {
  const { call } = await start({ '*': ['*'] }, { approve: { '*': ['read'], 'res.partner': ['unlink'] } });
  const { error } = await call('mail.activity', 'write', '[[1], {"res_id": 5}]');
  expect(error?.data).toMatchObject({ type: 'approval_required', rule: 'approve["*"]' });
});

test('a method that writes values of the call needs the approval for `write`', async () => {
  const models = { 'event.booth': ['action_confirm'], 'res.partner': ['update_address'] };
  const { call, sent } = await start(models, { approve: { '*': ['write'] } });
  for (const [model, method, params] of [
    ['event.booth', 'action_confirm', '[[1], {"name": "a"}]'],
    ['res.partner', 'update_address', '[[1], {"street": "a"}]'],
  ] as const) {
    const { error } = await call(model, method, params);
    expect(error?.data).toMatchObject({ type: 'approval_required', rule: 'approve["*"]' });
  }
  expect(sent.join()).not.toMatch(/action_confirm|update_address/);
  expect((await call('event.booth', 'action_confirm', '[[1]]')).result).toBe(true);
});

test('so it does through a value without commands', async () => {
  const models = { 'sale.order': ['write'], 'mail.activity': ['write'] };
  const { write, sent } = await start(models, { approve: { 'mail.activity': ['write'] } });
  const { error } = await write('{"activity_user_id": 3}');
  expect(error.data).toMatchObject({ type: 'approval_required', rule: 'approve["mail.activity"]' });
  expect(sent).toEqual([]);
});

test('the agent of docs/mcp.md that may draft does nothing else by values', async () => {
  const page = readFileSync(new URL('../../../../docs/mcp.md', import.meta.url), 'utf8');
  const [, text = ''] = /An agent that may draft[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? [];
  const { models, fields } = JSON.parse(text) as Policy;
  const { call, write, sent } = await start(models, { fields: fields! });
  const [line] = [LINE.replace('1.0', '2.5')];
  expect((await call('sale.order', 'create', `[${line}]`)).result).toBe(true);
  expect((await write('{"order_line": [[1, 5, {"name": "b"}]]}')).result).toBe(true);
  const invoice = '{"invoice_line_ids": [[0, 0, {"name": "a", "tax_ids": [[6, 0, [1]]]}]]}';
  expect((await call('account.move', 'create', `[${invoice}]`)).result).toBe(true);
  const before = sent.length;
  for (const values of [
    '{"picking_ids": [[1, 4, {"state": "done"}]]}',
    '{"picking_ids": [[2, 4]]}',
    '{"message_partner_ids": [[4, 3]]}',
    '{"message_follower_ids": [[0, 0, {"partner_id": 3}]]}',
    '{"message_ids": [[0, 0, {"body": "a"}]]}',
    '{"activity_ids": [[0, 0, {"user_id": 3}]]}',
    '{"activity_user_id": 3}',
    '{"order_line": [[2, 5]]}',
    '{"order_line": [[6, 0, []]]}',
    '{"order_line": [[1, 5, {"move_ids": [[1, 3, {}]]}]]}',
  ])
    expect([values, (await write(values)).error?.data.type]).toEqual([values, 'policy_denied']);
  const followers = await write('{"message_partner_ids": [[6, 0, [3]]]}', 'account.move');
  expect(followers.error.data.type).toBe('policy_denied');
  expect(sent).toHaveLength(before);
});

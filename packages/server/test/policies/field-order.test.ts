/**
 * Tests that the order of records does not show the values of denied fields, and that the server's order is kept if it
 * names no denied field.
 */
import type { Policy } from '@erp-proxy/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { closeAfterFile, closeAfterTest } from '../close-after-test.ts';
import { printInstance } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { MODELS, startLimited } from './limited-key.ts';

const ORDERS = { 'sale.order': { deny: ['date_order'] } };
const VERSIONS = [14, 15, 16, 17, 18, 19] as const;
const sort = (ids: number[]) => ids.toSorted((a, b) => a - b);

describe.each(VERSIONS)('Odoo %i', (version) => {
  let stage: Awaited<ReturnType<typeof startLimited>>;
  beforeAll(async () => {
    stage = await startLimited({}, version, closeAfterFile);
  });
  const startWith = async (fields: Policy['fields']) => ({
    ...stage,
    ...(await stage.limit({ fields: fields! })),
  });

  test('records without an order come by id if their model sorts by a denied field', async () => {
    const { call, callFreely } = await startWith(ORDERS);
    const free = (await callFreely('search', 'sale.order', [[]])).result;
    const ids = sort(free);
    expect(free).not.toEqual(ids);
    expect((await call('search', 'sale.order', [[]])).result).toEqual(ids);
    expect((await call('search', 'sale.order', [[], 1, 2, null])).result).toEqual(ids.slice(1, 3));
    expect((await call('search', 'sale.order', [], { domain: [], order: '' })).result).toEqual(ids);
    const rows = (await call('search_read', 'sale.order', [[]], { fields: ['name'] })).result;
    expect(rows.map(({ id }: { id: number }) => id)).toEqual(ids);
    // Order lines are sorted by their sales orders.
    const lines = (await call('search', 'sale.order.line', [[]])).result;
    expect(lines).toEqual(sort(lines));
    expect(lines).not.toEqual((await callFreely('search', 'sale.order.line', [[]])).result);
  });

  test('records keep the order of their model if it names no denied field', async () => {
    const { call, callFreely } = await startWith({
      'sale.order': { deny: ['note'] },
      'res.partner': { allow: ['name', 'email'] },
    });
    for (const model of ['sale.order', 'res.partner', 'sale.order.line', 'product.product', 'crm.lead']) {
      const free = (await callFreely('search', model, [[]])).result;
      expect((await call('search', model, [[]])).result).toEqual(free);
      expect((await call('search', model, [[]], { order: 'id desc' })).result).toEqual(sort(free).reverse());
    }
  });

  test('fields that `allow` leaves out sort no search', async () => {
    const { call } = await startWith({ 'sale.order': { allow: ['name', 'order_line'] } });
    const { result } = await call('search', 'sale.order', [[]]);
    expect(result).toEqual(sort(result));
  });

  test('sorting by a field of records follows their order', async () => {
    const { call } = await startWith(ORDERS);
    const { error } = await call('search', 'sale.order.line', [[]], { order: 'order_id' });
    expect(error).toMatchObject({ data: { type: 'policy_denied', rule: 'fields["sale.order"]' } });
    expect(error.message).toContain('Sorting by `order_id` follows the order of `sale.order`');
    const byId = await call('search', 'sale.order.line', [[]], { order: 'order_id.id, id' });
    if (version < 17) expect(byId.error.data.type).toBe('query_invalid');
    else expect(byId.result).toHaveLength(15);
    expect((await call('search', 'sale.order', [[]], { order: 'partner_id' })).result).toHaveLength(9);
  });

  test('a search by name follows the order of its model, and takes no other', async () => {
    const { call } = await startWith(ORDERS);
    const { error } = await call('name_search', 'sale.order', ['']);
    expect(error.message).toBe(
      '`name_search` follows the order of `sale.order`, which uses the field `date_order` of `sale.order`, and this key may not use it. Use `search_read` with an order.',
    );
    const { call: callAllowed } = await startWith({ 'sale.order': { allow: ['name'] } });
    expect((await callAllowed('name_search', 'sale.order', [''])).result).toHaveLength(9);
  });

  test('lists of records follow the order of their model', async () => {
    const { call } = await startWith({ 'sale.order.line': { deny: ['sequence'] } });
    const { error } = await call('read', 'sale.order', [[1], ['order_line']]);
    expect(error.message).toContain('The records in `order_line` follow the order of `sale.order.line`');
    const [order] = (await call('read', 'sale.order', [[1]])).result;
    expect(order).toHaveProperty('partner_id');
    expect(order).not.toHaveProperty('order_line');
    // All lines in the list belong to one sales order, so the order of the sales orders does not matter.
    const { call: callLimited } = await startWith(ORDERS);
    const [lines] = (await callLimited('read', 'sale.order', [[1], ['order_line']])).result;
    expect(lines.order_line).toHaveLength(3);
    const partner = await callLimited('read', 'res.partner', [[10], ['child_ids']]);
    expect(partner.result[0].child_ids).toHaveLength(3);
    const { call: callAllowed } = await startWith({ 'sale.order.line': { allow: ['name'] } });
    const [shown] = (await callAllowed('read', 'sale.order', [[1], ['order_line']])).result;
    expect(shown.order_line).toHaveLength(3);
  });

  test('groups follow the order of their records, unless they have another', async () => {
    const { call } = await startWith({ 'res.users': { deny: ['login'] } });
    const group = (keyword: object) =>
      version < 19
        ? call('read_group', 'sale.order', [[], ['amount_total'], ['user_id']], keyword)
        : call('formatted_read_group', 'sale.order', [[], ['user_id']], {
            aggregates: ['amount_total:sum'],
            ...keyword,
          });
    const { error } = await group({});
    expect(error.message).toContain('Groups by `user_id` follow the order of `res.users`');
    const order = version < 19 ? { orderby: 'amount_total', lazy: false } : { order: 'amount_total:sum' };
    expect((await group(order)).result).toHaveLength(1);
    const panel = await call('search_panel_select_multi_range', 'sale.order', ['user_id']);
    expect(panel.error.message).toContain('Groups by `user_id`');
  });
});

test('a specification can give the order of the records in a field', async () => {
  const { call } = await startLimited({ fields: { 'sale.order.line': { deny: ['sequence'] } } });
  const read = (inner: object) => call('web_read', 'sale.order', [[1], { order_line: inner }]);
  expect((await read({ fields: { name: {} } })).error.message).toContain('follow the order of');
  const { result } = await read({ fields: { name: {} }, order: 'id' });
  expect(result[0].order_line.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
});

test('the order is set on every route, and in each call of a batch', async () => {
  const { proxy, key, instance, makeBody, callFreely } = await startLimited({ fields: ORDERS }, 19);
  const ids = sort((await callFreely('search', 'sale.order', [[]])).result);
  const post = async (path: string, body: object) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await send(`${proxy.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return JSON.parse(answer.body.toString()).result;
  };
  const named = { model_id: 'sale.order', method: 'search', kwargs: { domain: [] }, odoo_instance: instance };
  expect(await post('/v2/odoo/execute', named)).toEqual(ids);
  const old = { id: '1', action: 'search', model_id: 'sale.order', params: [[]], keyword: {} };
  expect(await post('/api/odoo/execute', { ...old, odoo_instance: instance })).toEqual(ids);
  const calls = [makeBody('search', 'sale.order', [[]]), makeBody('search', 'sale.order', [[], 0, 3, false])];
  const { json } = await proxy.call(calls, { 'x-proxy-api': key });
  expect(json.map(({ result }: { result: number[] }) => result)).toEqual([ids, ids.slice(0, 3)]);
});

/**
 * Starts a server that describes no orders, like to a user who may not read `ir.model`, or fails with a status. Counts
 * the questions for orders.
 */
async function startSilentOdoo(fields: NonNullable<Policy['fields']>, status = '200 OK') {
  const sent: string[] = [];
  let questions = 0;
  const upstream = closeAfterTest(
    await startUpstream((socket, request) => {
      const body = request.body.toString();
      if (body.includes('"ir.model"')) questions++;
      else if (!body.includes('"fields_get"')) sent.push(body);
      const fault =
        '{"jsonrpc":"2.0","id":1,"error":{"code":200,"message":"x","data":{"name":"odoo.exceptions.AccessError","message":"no","debug":"","arguments":[],"context":{}}}}';
      const types =
        '{"id": {"type": "integer"}, "name": {"type": "char"}, "sequence": {"type": "integer"}, "secret": {"type": "char"}}';
      if (body.includes('"ir.model"')) answerLikeOdoo(socket, fault, status);
      else answerLikeOdoo(socket, printResult(body.includes('"fields_get"') ? types : '[]'));
    }),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url] }));
  const policy = { origins: [upstream.url], models: MODELS, fields };
  const { key } = await proxy.app.keys.create({ name: 'limited', policy });
  const ask = async (model: string) => {
    const body = `{"id":1,"action":"search","model_id":"${model}","params":[[]],"keyword":{},"erp_instance":${printInstance(upstream.url)}}`;
    return (await proxy.call(JSON.parse(body), { 'x-proxy-api': key })).json;
  };
  const search = async (model: string) => {
    expect((await ask(model)).result).toEqual([]);
    return sent.at(-1);
  };
  return { ask, search, sent, countQuestions: () => questions };
}

test('without an answer of the server, common models keep their order and others with a rule come by id', async () => {
  const { search, countQuestions } = await startSilentOdoo({
    'res.partner': { deny: ['secret'] },
    'x.custom': { deny: ['secret'] },
    'crm.stage': { deny: ['sequence'] },
  });
  expect(await search('res.partner')).not.toContain('"order"');
  expect(await search('x.other')).not.toContain('"order"');
  expect(await search('x.custom')).toContain('"order":"id"');
  expect(await search('crm.stage')).toContain('"order":"id"');
  // The server is asked for orders only once.
  expect(countQuestions()).toBe(1);
});

test('a call is not sent while the server fails to describe the orders, and the message says so', async () => {
  const { ask, sent } = await startSilentOdoo(
    { 'x.custom': { deny: ['secret'] } },
    '503 Service Unavailable',
  );
  const { error } = await ask('x.custom');
  expect(error.data.outcome).toBe('not_sent');
  expect(error.message).toContain('the order of records could not be found. The call was not sent.');
  expect(sent).toEqual([]);
});

/**
 * Tests errors of tools about fields and models that do not exist: they name existing ones, or say that there are none.
 */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { startStage } from './stage.ts';

const READING = ['read', 'search*', 'fields_get'];
const NEXT_FIELD =
  'Search for it by describe_model {"model": "res.partner", "query": "…"}. The app that adds it may not be installed.';
const NOT_INSTALLED = 'The app Invoicing (account.move) is not installed on this server.';

async function startFor(policy: Partial<Policy>) {
  const { call, connect, createKey } = await startStage();
  const client = await connect({ key: await createKey({ instances: ['prod'], models: {}, ...policy }) });
  return (name: string, args: object) => call(name, args, client);
}

test('a field to which none is similar gets no names', async () => {
  const { call } = await startStage();
  const { text } = await call('search_records', { model: 'res.partner', fields: ['customer_rank'] });
  expect(text).toBe(
    `query_invalid: res.partner has no field "customer_rank". No field has a similar name.\nNext: ${NEXT_FIELD}`,
  );
});

test('a field is found by its label, and by its name in other versions', async () => {
  const { call } = await startStage();
  const find = async (model: string, field: string) => {
    const { text } = await call('search_records', { model, fields: [field] });
    return /^Nearest names: (.*)\.$/m.exec(text)?.[1];
  };
  expect(await find('sale.order', 'salesperson')).toBe('user_id');
  expect(await find('sale.order', 'customer_id')).toMatch(/^partner_id\b/);
  expect(await find('res.partner', 'tel')).toMatch(/^phone\b/);
});

test('all unknown fields of a call are named at once, each with what is near', async () => {
  const { call } = await startStage();
  const fields = ['name', 'nmae', 'zebra', 'nmae', 'partner_id.zebra'];
  const domain = [['partnr_id.name', '=', 'x']];
  const { text } = await call('search_records', { model: 'sale.order', fields, domain });
  expect(text).toMatch(
    /^query_invalid: sale\.order has no fields "nmae" \(nearest: name\b[^)]*\), "zebra" \(no similar name\), "partnr_id\.name" \(nearest: partner_id, message_partner_ids\)\.\nNext: Use one of these fields/,
  );
  const many = Array.from({ length: 100 }, (_, index) => `zebra_${index}`);
  const long = await call('search_records', { model: 'sale.order', fields: many });
  expect(long.text.match(/no similar name/g)).toHaveLength(8);
});

test('a read leaves out fields that do not exist, and names them', async () => {
  const { call } = await startStage();
  const fields = ['name', 'zebra', 'order_line.name', 'order_line.product_uom_qyt', 'partnr_id.name'];
  const { data } = await call('read_records', { model: 'sale.order', ids: [4], fields });
  expect(data.unknown_fields).toEqual([
    'zebra (no similar name)',
    'partnr_id (nearest: partner_id, message_partner_ids)',
    expect.stringMatching(/^order_line\.product_uom_qyt \(nearest: product_uom_qty\b/),
  ]);
  expect(Object.keys(data.records[0])).toEqual(['id', 'name', 'order_line']);
  expect(Object.keys(data.records[0].order_line[0])).toEqual(['id', 'name']);
  const many = ['name', ...Array.from({ length: 99 }, (_, index) => `zebra_${index}`)];
  const search = await call('search_records', { model: 'sale.order', query: 'S00004', fields: many });
  expect(search.data.records).toEqual([{ id: 4, name: 'S00004' }]);
  expect(search.data.unknown_fields).toHaveLength(9);
  expect(search.data.unknown_fields.at(-1)).toBe('… (99 in all)');
  const args = { model: 'sale.order', ids: [4], fields: ['name', 'order_line.zebra'] };
  expect((await call('read_records', args)).data.records[0].order_line).toEqual([expect.any(Number)]);
});

test('a well-known model that the server lacks names its app', async () => {
  const { call } = await startStage();
  for (const tool of ['search_records', 'count_records', 'describe_model']) {
    const { text } = await call(tool, { model: 'account.move' });
    expect(text).toMatch(/^model_not_found: .*account\.move.*$/m);
    expect(text.split('\n').slice(1)).toEqual([`Next: ${NOT_INSTALLED} Tell the user.`]);
  }
  const { data } = await call('list_models', { query: 'invoices' });
  expect(data.models).toEqual([]);
  expect(data.hint).toMatch(NOT_INSTALLED);
});

test('an unknown model to which none is similar gets no names', async () => {
  const { call } = await startStage();
  const { text } = await call('count_records', { model: 'zebra.stripes' });
  expect(text).toMatch(/ No model has a similar name\.\nNext: Find the model by list_models/);
});

test('nothing is said about a model that the policy hides', async () => {
  const call = await startFor({ models: { 'res.*': READING, 'ir.model': READING } });
  for (const model of ['account.move', 'sale.order']) {
    const { text } = await call('count_records', { model });
    expect(text).toMatch(/^policy_denied: /);
    expect(text).not.toMatch(/installed/);
  }
  const invoices = (await call('list_models', { query: 'invoice' })).data;
  const orders = (await call('list_models', { query: 'quotation' })).data;
  expect(invoices.hint).toMatch(/its policy allows only some models/);
  expect(invoices).toEqual(orders);
});

test('list_models says whether the policy restricts models, and what the policy names and the server lacks', async () => {
  const { call } = await startStage();
  expect((await call('list_models', { query: 'zebra' })).data.hint).toMatch(/may read all models/);
  const all = await startFor({ models: { '*': READING } });
  expect((await all('list_models', { query: 'zebra' })).data.hint).toMatch(/may read all models/);
  const some = await startFor({ models: { 'account.move': READING, 'ir.model': READING } });
  const { hint } = (await some('list_models', { query: 'invoice' })).data;
  expect(hint).toMatch(NOT_INSTALLED);
  expect(hint).toMatch(/its policy allows only some models/);
});

test('a list of models that the policy cuts does not say that an app is missing', async () => {
  const call = await startFor({ models: { '*': READING }, limit_max: 1 });
  const { data } = await call('list_models', { query: 'order' });
  expect(data.hint ?? '').not.toMatch(/Sales|Sales Order/);
});

test('an unknown instance gets those of the key', async () => {
  const { call } = await startStage();
  const { text } = await call('count_records', { model: 'res.partner', instance: 'zebra' });
  expect(text).toMatch(/^invalid_params: .*\nNearest names: prod\./);
});

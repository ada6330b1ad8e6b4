/** Tests that `query` of `search_records` finds records by the names that the tools show. */
import { describe, expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';
import { EACH_VERSION, startStage } from './stage.ts';

interface Row {
  id: number;
  display_name: string;
}

describe.each(EACH_VERSION)('Odoo %i over %s', (version, protocol) => {
  test.each(['product.product', 'res.partner', 'sale.order', 'product.category', 'res.users'])(
    'each record of %s is found by the name that is shown',
    async (model) => {
      const { call } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
      const search = async (args: object) =>
        (await call('search_records', { model, fields: ['display_name'], limit: 30, ...args })).data
          .records as Row[];
      const all = await search({ limit: 8 });
      expect(all.length).toBeGreaterThan(0);
      for (const { id, display_name: query } of all) {
        const found = await search({ query });
        expect(
          found.map((row) => row.id),
          query,
        ).toContain(id);
      }
      expect(await search({ query: 'no such name' })).toEqual([]);
    },
  );
});

test('lines of orders are found by their product and their order', async () => {
  const { call } = await startStage();
  const search = async (query: string) =>
    (await call('search_records', { model: 'sale.order.line', query, fields: ['order_id', 'product_id'] }))
      .data.records as { order_id: { name: string }; product_id: { name: string } }[];
  const [line] = await search('S00004');
  expect(line?.order_id.name).toBe('S00004');
  const name = line?.product_id.name as string;
  expect(name).toMatch(/^\[.+\] ./);
  expect((await search(name)).map((found) => found.product_id.name)).toContain(name);
});

test('a search by text compares nothing of a model that the policy does not let be read', async () => {
  const { call, connect, createKey } = await startStage();
  const models = { 'sale.order': ['search_read', 'fields_get'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models }) });
  const found = await call('search_records', { model: 'sale.order', query: 'S00004' }, client);
  expect(found.isError, found.text).toBe(false);
  expect(found.data.records).toMatchObject([{ id: 4 }]);
});

test('Odoo’s search by name bounds no page, and conditions hold for it too', async () => {
  const { call, sandbox } = await startStage();
  const query = 'deco';
  const search = async (args: object) =>
    (await call('search_records', { model: 'res.partner', query, fields: ['name'], ...args })).data;
  const all = await search({});
  const first = await search({ limit: 1 });
  const second = await search({ limit: 1, offset: first.next });
  expect([...first.records, ...second.records]).toEqual(all.records.slice(0, 2));
  expect((await search({ domain: [['id', '=', 0]] })).records).toEqual([]);
  expect(sandbox.requests.calls['res.partner.name_search']).toBe(4);
});

test.each([undefined, { '*': { deny: ['email'] } }])(
  'a text that could name a variant, where variants have no values of attributes: fields %j',
  async (fields) => {
    const { call, connect, createKey } = await startStage();
    const policy = {
      instances: ['prod'],
      models: { '*': ['*'] },
      ...(fields === undefined ? {} : { fields }),
    };
    const client = await connect({ key: await createKey(policy) });
    const query = 'Conference Chair (Steel)';
    const found = await call('search_records', { model: 'sale.order.line', query }, client);
    expect(found.isError, found.text).toBe(false);
  },
);

test('a rule for a field that shows the values of variants leaves the other conditions', async () => {
  const char = { type: 'char', store: true, searchable: true };
  const relation = { type: 'many2many', relation: 'product.template.attribute.value', store: true };
  const value = { type: 'many2one', relation: 'product.attribute.value', store: true };
  const fields = {
    id: { type: 'integer', store: true },
    display_name: { ...char, store: false },
    name: char,
    product_template_attribute_value_ids: relation,
    product_attribute_value_id: value,
  };
  const shown = { related: 'product_attribute_value_id.name', depends: ['product_attribute_value_id.name'] };
  const policy = {
    instances: ['prod'],
    models: { '*': ['*'] },
    fields: { 'product.attribute.value': { deny: ['name'] } },
  };
  const post = await startWithScript((socket, { body }) => {
    const { args = [] } = JSON.parse(body.toString()).params ?? {};
    const isValue = args[3] === 'product.template.attribute.value';
    const described = isValue ? { ...fields, name: { ...char, ...shown } } : fields;
    const result = args[4] === 'fields_get' ? described : [{ id: 1, name: 'x' }];
    answerLikeOdoo(socket, printResult(JSON.stringify(result)));
  }, policy);
  const given = { model: 'product.product', query: 'Chair (Steel)', fields: ['name'] };
  const params = { name: 'search_records', arguments: given };
  const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  expect(text).not.toContain('policy_denied');
  expect(text).toContain('\\"records\\":[');
});

/** Tests datetimes in the time zone of the user, which tools also take. */
import { describe, expect, test } from 'vitest';
import { expectCpuBelow } from '../time.ts';
import { startScriptedTools } from './scripted-odoo.ts';
import { EACH_VERSION, startStage } from './stage.ts';

// Midnight in Brussels.
const UTC = '2026-05-31 22:00:00';
const LOCAL = '2026-06-01T00:00:00+02:00';
const ORDER = { model: 'sale.order', fields: ['date_order'] };

describe.each(EACH_VERSION)('Odoo %i over %s', (version, protocol) => {
  const start = async () => {
    const stage = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    stage.sandbox.putRaw('sale.order', 1, { date_order: UTC });
    return stage;
  };

  test('each tool shows a datetime in the zone of the user', async () => {
    const { call } = await start();
    const domain = [['id', '=', 1]];
    expect((await call('search_records', { ...ORDER, domain })).data.records[0].date_order).toBe(LOCAL);
    expect((await call('read_records', { ...ORDER, ids: [1] })).data.records[0].date_order).toBe(LOCAL);
    const lines = {
      model: 'sale.order.line',
      domain: [['order_id', '=', 1]],
      fields: ['order_id.date_order'],
    };
    expect((await call('search_records', lines)).data.records[0].order_id.date_order).toBe(LOCAL);
    expect((await call('list_changes', { ...ORDER, domain })).data.changes[0].record.date_order).toBe(LOCAL);
    const latest = { model: 'sale.order', domain, measures: ['date_order:max'] };
    expect((await call('aggregate_records', latest)).data.groups[0]['date_order:max']).toBe(LOCAL);
  });

  test('a shown datetime can be sent back, in a domain and as a value', async () => {
    const { call } = await start();
    const equal = { model: 'sale.order', domain: [['date_order', '=', LOCAL]] };
    expect((await call('count_records', equal)).data.count).toBe(1);
    const values = { date_order: '2026-12-01T00:00:00+01:00' };
    const updated = await call('update_records', { model: 'sale.order', ids: [1], values });
    expect(updated.data.records[0]).toMatchObject(values);
    expect((await call('count_records', equal)).data.count).toBe(0);
    const { data } = await call('create_record', {
      model: 'sale.order',
      values: { partner_id: 10, ...values },
    });
    expect(data.records[0]).toMatchObject(values);
  });
});

test.each([
  [18, 0],
  [19, 1],
] as const)('Odoo %i finds %i records by their shown `write_date`', async (version, equal) => {
  const clock = () => Math.floor(Date.now() / 1000) * 1000 + 500;
  const { call } = await startStage({ version, clock });
  const model = 'res.partner';
  const { id } = (await call('create_record', { model, values: { name: 'Ann' } })).data;
  const { data } = await call('read_records', { model, ids: [id], fields: ['write_date'] });
  const count = async (operator: string) => {
    const domain = [
      ['id', '=', id],
      ['write_date', operator, data.records[0].write_date],
    ];
    return (await call('count_records', { model, domain })).data.count;
  };
  expect([await count('='), await count('>=')]).toEqual([equal, 1]);
});

test('it stays in UTC for a key that may not ask for the time zone', async () => {
  const { call, sandbox, connect, createKey } = await startStage();
  sandbox.putRaw('sale.order', 1, { date_order: UTC });
  const key = await createKey({
    instances: ['prod'],
    models: { 'sale.order': ['search_read', 'fields_get'] },
  });
  const client = await connect({ key });
  const found = await call('search_records', { ...ORDER, domain: [['id', '=', 1]] }, client);
  expect(found.data.records[0].date_order).toBe('2026-05-31T22:00:00Z');
});

test('what reaches Odoo unchanged is described as UTC', async () => {
  const { connect } = await startStage();
  const { tools } = await (await connect()).listTools();
  const describe = (tool: string, argument: string) => {
    const { properties = {} } = tools.find(({ name }) => name === tool)?.inputSchema ?? {};
    return (properties[argument] as { description: string }).description;
  };
  expect(describe('call_method', 'arguments')).toMatch(/Datetimes here and in `keyword` in UTC/);
  expect(describe('create_record', 'context')).toMatch(/Datetimes in UTC/);
});

test('more groups than fit cost no more than in UTC, however many there are', async () => {
  const names = Array.from('abcdefghij');
  const described = names.map((name) => [name, { type: 'datetime', string: name, store: true }]);
  const row = Object.fromEntries(names.map((name) => [name, UTC]));
  const rows = JSON.stringify(Array.from({ length: 2900 }, () => row));
  const prepare = async (tz: string) => {
    const answers = { context_get: JSON.stringify({ tz }), read_group: rows };
    const fields = JSON.stringify(Object.fromEntries(described));
    const call = await startScriptedTools((method) => answers[method as 'read_group'] ?? fields);
    const measures = names.map((name) => `${name}:max`);
    return async () => {
      const { text } = await call('aggregate_records', { model: 'x.event', measures });
      expect(text).toContain(tz === 'UTC' ? '"a:max":"2026-05-31T22:00:00Z"' : `"a:max":"${LOCAL}"`);
    };
  };
  // An earlier version took more than ten times as long.
  await expectCpuBelow(3, await prepare('Europe/Brussels'), await prepare('UTC'));
});

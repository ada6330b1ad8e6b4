/** Tests days and times with a zone in domains: what they mean for a datetime, and what the answer says about it. */
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { EACH_VERSION, type Stage, type StageOptions, startStage } from './stage.ts';

const READING = ['search*', 'read', 'read_group', 'formatted_read_group'];
/**
 * In Brussels: the last second of 24 October, the first and last second of the 25th, and the first second of the 26th.
 */
const TIMES = ['2026-10-24 21:59:59', '2026-10-24 22:00:00', '2026-10-25 22:59:59', '2026-10-25 23:00:00'];
const ZONE = 'Europe/Brussels';
const MARK = ['client_order_ref', '=', 'days'];

interface Orders extends Stage {
  /** The positions in TIMES of the orders that match the conditions. */
  find(conditions: unknown[], client?: Client): Promise<number[]>;
  /** The answer of a tool for the orders with these TIMES. */
  ask(tool: string, conditions: unknown[], args?: object, client?: Client): ReturnType<Stage['call']>;
}

async function startWithOrders(options: StageOptions): Promise<Orders> {
  const stage = await startStage(options);
  const order_line = { create: [{ product_id: 5 }] };
  const values = TIMES.map((date_order) => ({
    partner_id: 10,
    date_order,
    client_order_ref: 'days',
    order_line,
  }));
  const { ids } = (await stage.call('create_record', { model: 'sale.order', values })).data;
  const ask: Orders['ask'] = (tool, conditions, args = {}, client) =>
    stage.call(tool, { model: 'sale.order', domain: [MARK, ...conditions], ...args }, client);
  return {
    ...stage,
    ask,
    async find(conditions, client) {
      const { data, text } = await ask('search_records', conditions, { fields: ['id'], order: 'id' }, client);
      expect(data, text).toHaveProperty('records');
      return data.records.map(({ id }: { id: number }) => ids.indexOf(id));
    },
  };
}

describe.each(EACH_VERSION)('Odoo %i over %s', (version, protocol) => {
  let orders: Orders;
  beforeAll(async () => {
    orders = await startWithOrders({
      version,
      settings: { 'upstream.protocol': protocol },
      isShared: true,
    });
  });

  test('a day is that of the user, also if clocks are changed on it', async () => {
    const { find, ask } = orders;
    expect(await find([['date_order', '>=', '2026-10-25']])).toEqual([1, 2, 3]);
    expect(await find([['date_order', '>', '2026-10-25']])).toEqual([3]);
    expect(await find([['date_order', '<', '2026-10-25']])).toEqual([0]);
    expect(await find([['date_order', '<=', '2026-10-25']])).toEqual([0, 1, 2]);
    const day = [
      ['date_order', '>=', '2026-10-25'],
      ['date_order', '<', '2026-10-26'],
    ];
    expect(await find(day)).toEqual([1, 2]);
    expect(await find(['!', '&', ...day])).toEqual([0, 3]);
    expect(await find(['|', ['date_order', '<', '2026-10-25'], ['date_order', '>', '2026-10-25']])).toEqual([
      0, 3,
    ]);
    expect((await ask('search_records', day)).data).toMatchObject({ time_zone: ZONE });
    expect((await ask('count_records', day)).data).toEqual({ count: 2, time_zone: ZONE });
    const total = { measures: ['date_order:min'] };
    expect((await ask('aggregate_records', day, total)).data).toMatchObject({
      groups: [{ 'date_order:min': '2026-10-25T00:00:00+02:00', count: 2 }],
      time_zone: ZONE,
    });
    const changes = await ask('list_changes', day, { fields: ['name'] });
    expect(changes.data).toMatchObject({ changes: [{}, {}], time_zone: ZONE });
    const { cursor } = changes.data;
    const later = await ask('list_changes', day, { fields: ['name'], since: cursor });
    expect(later.data).toMatchObject({ more: false, time_zone: ZONE });
  });

  test('a time with a zone is that time, and the answer needs to say nothing', async () => {
    const { find, ask } = orders;
    expect(await find([['date_order', '>=', '2026-10-25T00:00:00+02:00']])).toEqual([1, 2, 3]);
    expect(await find([['date_order', '<', '2026-10-26T00:00:00+01:00']])).toEqual([0, 1, 2]);
    expect(await find([['date_order', '=', '2026-10-24T22:00:00Z']])).toEqual([1]);
    expect(await find([['date_order', '!=', '2026-10-24T18:00:00-0400']])).toEqual([0, 2, 3]);
    const list = ['2026-10-25T00:00:00.000+02', '2026-10-25 23:00:00'];
    expect(await find([['date_order', 'in', list]])).toEqual([1, 3]);
    expect(await find([['date_order', 'not in', list]])).toEqual([0, 2]);
    const { data } = await ask('count_records', [['date_order', '>=', '2026-10-25T00:00:00+02:00']]);
    expect(data).toEqual({ count: 3 });
  });

  test('the field of a path counts, and not that of its beginning', async () => {
    const { call } = orders;
    const count = async (...conditions: unknown[]) => {
      const domain = [['order_id.client_order_ref', '=', 'days'], ...conditions];
      return (await call('count_records', { model: 'sale.order.line', domain })).data;
    };
    const day = '2026-10-25';
    expect(await count(['order_id.date_order', '>=', day])).toEqual({ count: 3, time_zone: ZONE });
    expect(await count(['order_id.date_order', '>', '2026-10-25T00:00:00+02:00'])).toEqual({ count: 2 });
    if (version >= 17) {
      const inner = [['date_order', '<=', day]];
      expect(await count(['order_id', 'any', inner])).toEqual({ count: 3, time_zone: ZONE });
    }
  });
});

test('what Odoo understands by itself stays as it is', async () => {
  const { find, call } = await startWithOrders({});
  // The time is in UTC, as in every domain of Odoo.
  expect(await find([['date_order', '>=', '2026-10-24 22:00:00']])).toEqual([1, 2, 3]);
  expect(await find([['date_order', '!=', false]])).toEqual([0, 1, 2, 3]);
  const count = async (model: string, ...domain: unknown[]) =>
    (await call('count_records', { model, domain })).data;
  // A date field has no time zone.
  const deadline = '2026-12-15';
  const lead = { name: 'Seats', date_deadline: deadline };
  await call('create_record', { model: 'crm.lead', values: lead });
  const named = ['name', '=', 'Seats'];
  expect(await count('crm.lead', named, ['date_deadline', '=', deadline])).toEqual({ count: 1 });
  expect(await count('crm.lead', named, ['date_deadline', '>', deadline])).toEqual({ count: 0 });
  expect(await count('crm.lead', ['name', 'in', ['2026-12-15', '2026-12-15T00:00:00Z']])).toEqual({
    count: 0,
  });
});

test('a day of a datetime by `=` would be a second in UTC: the error has the conditions', async () => {
  const { ask, find } = await startWithOrders({});
  for (const [operator, value] of [
    ['=', '2026-10-25'],
    ['!=', '2026-10-25'],
    ['in', ['2026-10-25T00:00:00Z', '2026-10-25']],
    ['not in', ['2026-10-25']],
  ]) {
    const { text } = await ask('search_records', [['date_order', operator, value]]);
    expect(text).toBe(
      'query_invalid: "date_order" is a datetime, which no day is equal to.\n' +
        'Next: For that day, send two conditions: ["date_order",">=","2026-10-25"], ["date_order","<=","2026-10-25"].',
    );
  }
  const conditions = [
    ['date_order', '>=', '2026-10-25'],
    ['date_order', '<=', '2026-10-25'],
  ];
  expect(await find(conditions)).toEqual([1, 2]);
});

test('times that do not exist, and too many days, are refused', async () => {
  const { ask } = await startWithOrders({});
  for (const time of ['2026-02-30T00:00:00Z', '2026-01-01T25:00:00+02:00']) {
    const { text } = await ask('count_records', [['date_order', '>', time]]);
    expect(text).toMatch(/^query_invalid: There is no time "2026.*\nNext: /);
  }
  const compare = (count: number) =>
    ask('count_records', Array(count).fill(['date_order', '>', '2026-10-24']));
  expect((await compare(100)).data).toEqual({ count: 3, time_zone: ZONE });
  expect((await compare(101)).text).toMatch(/^invalid_params: .*more than 100 days and times.*\nNext: /);
  const list = (count: number) =>
    ask('count_records', [['date_order', 'in', Array(count).fill('2026-10-25T00:00:00+02:00')]]);
  expect((await list(100)).data).toEqual({ count: 1 });
  expect((await list(101)).text).toMatch(/^invalid_params: .*more than 100 days and times/);
  // Odoo itself refuses this date.
  expect((await ask('count_records', [['date_order', '>', '2026-13-01']])).isError).toBe(true);
});

describe('policies', () => {
  const connectWith = async ({ createKey, connect }: Stage, models: object, more: object = {}) =>
    connect({ key: await createKey({ instances: ['prod'], models, ...more } as never) });

  test('the time zone is the one that the policy sets, and UTC if it is not known', async () => {
    const stage = await startWithOrders({});
    const condition = [['date_order', '>=', '2026-10-25']];
    const models = { 'sale.order': [...READING, 'fields_get'] };
    const unknown = await connectWith(stage, models);
    expect((await stage.ask('count_records', condition, {}, unknown)).data).toEqual({
      count: 2,
      time_zone: 'UTC',
    });
    const tz = 'Asia/Tokyo';
    const set = await connectWith(stage, models, { context: { tz } });
    expect((await stage.ask('count_records', condition, {}, set)).data).toEqual({ count: 4, time_zone: tz });
  });

  test('without the types of fields, days stay, and times with a zone are refused', async () => {
    const stage = await startWithOrders({});
    const client = await connectWith(stage, {
      'sale.order': READING,
      'sale.order.line': [...READING, 'fields_get'],
    });
    const ask = async (condition: unknown[]) =>
      (await stage.ask('count_records', [condition], {}, client)) as { data: unknown; text: string };
    expect((await ask(['date_order', '>=', '2026-10-25'])).data).toEqual({ count: 2 });
    const refused = await ask(['date_order', 'in', [1, '2026-10-25T00:00:00+02:00']]);
    expect(refused.text).toMatch(/^policy_denied: .*type of "date_order".*\nNext: .*"2026-10-24 22:00:00"/);
    const inner = [['date_order', '>', '2026-10-25T00:00:00+02:00']];
    for (const condition of [
      ['order_id', 'any', inner],
      ['order_id.date_order', '>', inner[0]![2]],
    ]) {
      const args = { model: 'sale.order.line', domain: [condition] };
      expect((await stage.call('count_records', args, client)).text).toMatch(/^policy_denied: .*type of/);
    }
  });

  test('a denied field is denied, however it is compared', async () => {
    const stage = await startWithOrders({});
    const models = { '*': [...READING, 'fields_get'] };
    const client = await connectWith(stage, models, { fields: { 'sale.order': { deny: ['date_order'] } } });
    for (const value of ['2026-10-25', '2026-10-25T00:00:00Z']) {
      for (const [model, path] of [
        ['sale.order', 'date_order'],
        ['sale.order.line', 'order_id.date_order'],
      ]) {
        const args = { model, domain: [[path, '>=', value]] };
        const { isError, text } = await stage.call('count_records', args, client);
        expect(isError, text).toBe(true);
      }
    }
  });
});

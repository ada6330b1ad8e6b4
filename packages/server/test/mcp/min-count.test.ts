/** Tests `min_count` of `aggregate_records`: only groups of at least this size, page by page. */
import { describe, expect, test } from 'vitest';
import { EACH_VERSION, type Stage, startStage } from './stage.ts';

interface Group {
  city: string;
  count: number;
}

/** Number of partners for each city. */
const CITIES: Record<string, number> = {
  Aalst: 3,
  Boom: 5,
  Chimay: 4,
  Deinze: 4,
  Eeklo: 4,
  Ghent: 2,
  Huy: 1,
};
const MODEL = 'res.partner';
const LARGE = [
  { city: 'Boom', count: 5 },
  { city: 'Chimay', count: 4 },
  { city: 'Deinze', count: 4 },
  { city: 'Eeklo', count: 4 },
];

async function addPartners({ call }: Stage) {
  const values = Object.entries(CITIES).flatMap(([city, count]) =>
    Array.from({ length: count }, (_, n) => ({ name: `${city} ${n}`, city, ref: 'sizes', credit_limit: n })),
  );
  await call('create_record', { model: MODEL, values });
}

const ARGS = { model: MODEL, domain: [['ref', '=', 'sizes']], group_by: ['city'] };

describe.each(EACH_VERSION)('Odoo %i over %s', (version, protocol) => {
  test('gives the groups of at least this many records, each on one page', async () => {
    const stage = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    await addPartners(stage);
    const ask = async (args: object) => (await stage.call('aggregate_records', { ...ARGS, ...args })).data;
    expect((await ask({ min_count: 4 })).groups).toEqual(LARGE);
    expect(await ask({ min_count: 4 })).not.toHaveProperty('next');
    for (const order of ['', ' ']) expect((await ask({ min_count: 4, order })).groups).toEqual(LARGE);
    for (const limit of [1, 2, 3, 4]) {
      const found: Group[] = [];
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const page = await ask({ min_count: 4, limit, offset });
        expect(page.groups.length).toBeGreaterThan(0);
        found.push(...page.groups);
        offset = page.next;
      }
      expect(found).toEqual(LARGE);
    }
    expect((await ask({ min_count: 6 })).groups).toEqual([]);
    expect((await ask({ min_count: 1 })).groups).toHaveLength(7);
    const ordered = await ask({ min_count: 4, order: 'city desc' });
    expect(ordered.groups.map(({ city }: Group) => city)).toEqual(['Boom', 'Eeklo', 'Deinze', 'Chimay']);
    const total = await ask({ min_count: 4, measures: ['credit_limit:max'], order: 'credit_limit:max' });
    expect(total.groups.map(({ city }: Group) => city)).toEqual(['Boom', 'Chimay', 'Deinze', 'Eeklo']);
    const all = { model: 'sale.order', group_by: ['partner_id', 'date_order:month'], min_count: 1 };
    const orders = (await stage.call('aggregate_records', all)).data.groups as { count: number }[];
    expect(orders.reduce((sum, { count }) => sum + count, 0)).toBe(9);
  });
});

test('a number that is none is refused', async () => {
  const { call } = await startStage();
  for (const min_count of [0, -1, 1.5, 'x']) {
    const { text } = await call('aggregate_records', { ...ARGS, min_count });
    expect(text).toMatch(/^invalid_params: `min_count`: /);
  }
});

test('a policy holds: its limit of records, and the fields by which groups are ordered', async () => {
  const stage = await startStage();
  await addPartners(stage);
  const models = { '*': ['read_group', 'fields_get'] };
  const ask = async (args: object, policy: object) => {
    const key = await stage.createKey({ instances: ['prod'], models, ...policy });
    return stage.call('aggregate_records', args, await stage.connect({ key }));
  };
  const readPages = async (args: object): Promise<string[][]> => {
    const { groups, next } = (await ask({ ...ARGS, ...args }, { limit_max: 2 })).data;
    const cities = groups.map(({ city }: Group) => city);
    return next === undefined ? [cities] : [cities, ...(await readPages({ ...args, offset: next }))];
  };
  expect(await readPages({ min_count: 5 })).toEqual([['Boom']]);
  expect(await readPages({ min_count: 4 })).toEqual([['Boom', 'Chimay'], ['Deinze', 'Eeklo'], []]);
  expect(await readPages({})).toEqual([['Aalst', 'Boom'], ['Chimay', 'Deinze'], ['Eeklo', 'Ghent'], ['Huy']]);
  const oneField = await ask(
    { ...ARGS, domain: [], min_count: 5 },
    { fields: { [MODEL]: { allow: ['city'] } } },
  );
  expect(oneField.data.groups).toEqual([expect.objectContaining({ count: expect.any(Number) }), LARGE[0]]);
  const byPartner = { model: 'sale.order', group_by: ['partner_id'] };
  const fields = { [MODEL]: { deny: ['ref', 'email'] } };
  const plain = await ask({ ...byPartner, order: 'count desc' }, { fields });
  const large = await ask({ ...byPartner, min_count: 2 }, { fields });
  const isLarge = ({ count }: { count: number }) => count >= 2;
  expect(large.data.groups, large.text).toEqual(plain.data.groups.filter(isLarge));
});

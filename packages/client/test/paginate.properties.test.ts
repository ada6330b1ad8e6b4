/**
 * Tests that `paginate` returns each record that exists throughout exactly once, in order, while records are created,
 * changed and deleted between its requests. On a failure fast-check prints the seed.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import type { Client } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Models } from './models.fixture.ts';

let gateway: Gateway;
let client: Client<Models>;
beforeAll(async () => {
  gateway = await startGateway(18, { settings: { 'log.level': 'warn' } });
  client = gateway.connect<Models>();
});
afterAll(() => gateway.close());

/** Few different values, so that many records have equal or empty values in the order. */
const row = fc.record({
  ref: fc.constantFrom('a', 'b', false as const),
  color: fc.integer({ min: 0, max: 2 }),
  country_id: fc.constantFrom(20, 233, false as const),
});
const change = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), row }),
  fc.record({ kind: fc.constant('update' as const), at: fc.nat(), row }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }),
);

test('every record that exists throughout is given once, in order, for any order', async () => {
  const partners = client.model('res.partner');
  const orders = fc.constantFrom(
    undefined,
    'id desc',
    'ref',
    'color desc',
    'country_id, ref desc',
    'create_date desc',
    'ref desc, id desc',
  );
  const example = fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 12 }),
    order: orders,
    pageSize: fc.integer({ min: 1, max: 5 }),
    // The changes to make after each record that is taken.
    changes: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(example, async ({ rows, order, pageSize, changes }) => {
      gateway.odoo.reset();
      const ids = await partners.createMany(rows.map((values) => ({ ...values, name: 'P', email: 'page' })));
      const domain = [['email', '=', 'page']] as const;
      const inOrder = await partners.search(domain, { order: `${order ?? 'id'}, id` });
      const alive = new Set(ids);
      const changed = new Set<number>();
      const removed = new Set<number>();
      const given: number[] = [];
      const apply = async (one: (typeof changes)[number][number]) => {
        if (one.kind === 'create') {
          alive.add(await partners.create({ ...one.row, name: 'P', email: 'page' }));
          return;
        }
        const id = [...alive][one.at % alive.size];
        if (id === undefined) return;
        if (one.kind === 'update') {
          changed.add(id);
          await partners.update(id, one.row);
        } else {
          alive.delete(id);
          removed.add(id);
          await partners.delete(id);
        }
      };
      for await (const { id } of partners.paginate(domain, { fields: ['name'], order, pageSize })) {
        given.push(id);
        for (const one of changes[given.length - 1] ?? []) await apply(one);
      }
      expect(new Set(given).size).toBe(given.length);
      const throughout = ids.filter((id) => !removed.has(id));
      expect(throughout.filter((id) => !given.includes(id))).toEqual([]);
      const isUnchanged = (id: number) => throughout.includes(id) && !changed.has(id);
      expect(given.filter(isUnchanged)).toEqual(inOrder.filter(isUnchanged));
    }),
    { numRuns: countCases(60) },
  );
});

test('a policy that allows few records at once hides none, or the call fails', async () => {
  const { key } = await gateway.proxy.app.keys.create({
    name: 'few',
    policy: { origins: [gateway.odoo.url], models: { '*': ['*'] }, limit_max: 3 },
  });
  const partners = gateway.connect<Models>({ key }).model('res.partner');
  const all = await client.model('res.partner').search([['id', '<', 30]], { order: 'id' });
  expect(all.length).toBeGreaterThan(6);
  const rows = await partners.paginate([['id', '<', 30]], { fields: ['name'] }).toArray();
  expect(rows.map(({ id }) => id)).toEqual(all);
  expect(await partners.paginate([], { fields: ['name'] }).toArray({ limit: 5 })).toHaveLength(5);
  const ordered = partners.paginate([['id', '<', 30]], { fields: ['name'], order: 'name' });
  await expect(ordered.toArray()).rejects.toThrow(/at most 3 records at once/);
  expect(await ordered.toArray({ limit: 2 })).toHaveLength(2);
});

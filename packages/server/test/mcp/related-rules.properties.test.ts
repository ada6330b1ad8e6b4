/**
 * Tests that no answer of a tool that reads has a value that a policy denies of the models to which paths lead. Values
 * that the policy allows are there. Policies and paths are random; the number after "seed" repeats a run, as SEED.
 */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { createRandom } from '../seeded-random.ts';
import { startStage } from './stage.ts';

const ROUNDS = countCases(30);
const ORDER = 1;
const PARTNER = 10;
/** By model: fields, each with a value that occurs nowhere else. */
const MARKS: Record<string, Record<string, string>> = {
  'res.partner': {
    email: 'mark-a@example.com',
    phone: 'mark-b',
    city: 'mark-c',
    ref: 'mark-d',
    vat: 'mark-e',
  },
  'sale.order.line': { name: 'mark-f', price_unit: '70.125', discount: '12.625' },
  'res.partner.category': { name: 'mark-g' },
};
/** The model of the records that are read, the field that leads to other records, and their model. */
const STEPS = [
  ['sale.order', 'partner_id', 'res.partner'],
  ['sale.order', 'order_line', 'sale.order.line'],
  ['res.partner', 'category_id', 'res.partner.category'],
  ['res.partner', 'child_ids', 'res.partner'],
] as const;

test('no path shows what a policy denies of the model to which it leads', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`related records: seed ${seed}\n`);
  const random = createRandom(seed);
  const chance = (probability: number) => random() < probability;
  const some = (names: readonly string[]) => names.filter(() => chance(0.4));
  const { call, connect, createKey } = await startStage();

  const { name: tag, ...marks } = { ...MARKS['res.partner'], ...MARKS['res.partner.category'] };
  const made = await call('create_record', { model: 'res.partner.category', values: { name: tag } });
  const children = { create: [{ name: 'Contact', ...marks }] };
  const values = { ...marks, category_id: { set: [made.data.id] }, child_ids: children };
  await call('update_records', { model: 'res.partner', ids: [PARTNER], values });
  const line = { product_id: 1, name: 'mark-f', price_unit: 70.125, discount: 12.625 };
  await call('update_records', {
    model: 'sale.order',
    ids: [ORDER],
    values: { order_line: { create: [line] }, partner_id: PARTNER },
  });

  const counts = { shown: 0, hidden: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const readable = new Set([
      'sale.order',
      ...some(Object.keys(MARKS)),
      ...(chance(0.5) ? ['res.partner'] : []),
    ]);
    const models: Policy['models'] = {};
    for (const model of readable) {
      const isMain = model === 'sale.order' || model === 'res.partner';
      models[model] = ['read', 'search_read', ...(isMain || chance(0.5) ? ['fields_get'] : [])];
    }
    const denied: Record<string, string[]> = {};
    for (const [model, fields] of Object.entries(MARKS)) {
      // Every third round has no rules: all requested fields must then be shown.
      if (round % 3 > 0 && chance(0.6))
        denied[model] = some(Object.keys(fields)).filter((field) => field !== 'name' || chance(0.3));
    }
    const fields = Object.fromEntries(
      Object.entries(denied)
        .filter(([, names]) => names.length > 0)
        .map(([model, deny]) => [model, { deny }]),
    );
    const policy: Policy = {
      instances: ['prod'],
      models,
      ...(Object.keys(fields).length > 0 ? { fields } : {}),
    };
    const client = await connect({ key: await createKey(policy) });
    for (const [main, field, model] of STEPS) {
      const asked = some(Object.keys(MARKS[model] ?? {}));
      const paths = asked.map((name) => `${field}.${name}`);
      if (paths.length === 0) continue;
      const id = main === 'sale.order' ? ORDER : PARTNER;
      const isRead = chance(0.5);
      const args = {
        model: main,
        fields: paths,
        ...(isRead ? { ids: [id] } : { domain: [['id', '=', id]] }),
      };
      const { text } = await call(isRead ? 'read_records' : 'search_records', args, client);
      const told = JSON.stringify({ seed, round, policy, args, text });
      for (const [owner, marked] of Object.entries(MARKS)) {
        for (const [name, mark] of Object.entries(marked)) {
          const mayRead = readable.has(owner) && denied[owner]?.includes(name) !== true;
          if (mayRead) continue;
          counts.hidden++;
          expect(text.includes(mark), `${owner}.${name}: ${told}`).toBe(false);
        }
      }
      const isAllowed = asked.every((name) => denied[model]?.includes(name) !== true);
      if (readable.has(main) && readable.has(model) && isAllowed && Object.keys(fields).length === 0) {
        counts.shown++;
        for (const name of asked) expect(text.includes(MARKS[model]?.[name] ?? ''), told).toBe(true);
      }
    }
  }
  expect(counts.shown).toBeGreaterThan(0);
  expect(counts.hidden).toBeGreaterThan(0);
});

test('a relation that is refused keeps its ids, and the answer says why', async () => {
  const { call, connect, createKey } = await startStage();
  const models = { 'sale.order': ['read', 'search_read', 'fields_get'], 'res.users': ['read'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models }) });
  const fields = ['name', 'order_line.price_unit', 'partner_id.email', 'user_id.login'];
  const { data, isError } = await call('read_records', { model: 'sale.order', ids: [1], fields }, client);
  expect(isError).toBe(false);
  expect(data.records[0]).toEqual({
    id: 1,
    name: 'S00001',
    order_line: expect.arrayContaining([expect.any(Number)]),
    partner_id: { id: 10, name: 'Deco Addict' },
    user_id: { id: 2, name: 'Mitchell Admin', login: 'admin' },
  });
  expect(data.not_read).toEqual({
    order_line: expect.stringMatching(/^policy_denied: [\s\S]*sale\.order\.line[\s\S]*\nNext: /),
    partner_id: expect.stringMatching(/^policy_denied: [\s\S]*res\.partner[\s\S]*\nNext: /),
  });
});

test('a field that a rule denies is refused before the records are read', async () => {
  const { call, connect, createKey, sandbox } = await startStage();
  const policy: Policy = {
    instances: ['prod'],
    models: { '*': ['read', 'search_read', 'fields_get'] },
    fields: { 'res.partner': { deny: ['email'] } },
  };
  const client = await connect({ key: await createKey(policy) });
  const args = { model: 'sale.order', fields: ['partner_id.email'] };
  const { text, isError } = await call('search_records', args, client);
  expect(isError).toBe(true);
  expect(text).toMatch(/^policy_denied: The field "email" of res\.partner is not available to this key\./);
  expect(sandbox.requests.calls).not.toHaveProperty('sale.order.search_read');
});

test('the limit of a policy bounds related records, and the answer says that some are not shown', async () => {
  const { call, connect, createKey } = await startStage();
  const model = 'res.partner';
  const children = { create: [{ name: 'One' }, { name: 'Two' }, { name: 'Three' }] };
  const parent = await call('create_record', { model, values: { name: 'Parent', child_ids: children } });
  const models = { [model]: ['read', 'fields_get'] };
  const client = await connect({ key: await createKey({ instances: ['prod'], models, limit_max: 2 }) });
  const { data } = await call(
    'read_records',
    { model, ids: [parent.data.id], fields: ['child_ids.name'] },
    client,
  );
  const shown = data.records[0].child_ids;
  expect(shown).toHaveLength(3);
  expect(shown.filter((child: object) => 'name' in child)).toHaveLength(2);
  expect(data.clipped).toEqual(['child_ids']);
  expect(data).not.toHaveProperty('rest');
});

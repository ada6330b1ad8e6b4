/**
 * Tests non-interference: two databases that differ only in the values of denied fields give the same bytes, whatever
 * method of the tables a key calls to read. Policies, values and calls are random. Denied fields include fields that
 * decide the order of records.
 */
import type { FieldRule } from '@erp-proxy/contract';
import { FIELD_METHODS } from '@erp-proxy/odoo/fields';
import { FieldRules } from '@erp-proxy/policy/fields';
import type { Sandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { CallMaker, type RandomCall, type Vocabulary } from './field-calls.ts';
import { WORDS } from './field-words.ts';
import { askThrough, startEqualSandboxes } from './sandbox-calls.ts';

const POLICIES = Number(process.env['POLICIES'] ?? 5);
/** Number of calls of each method under each policy. */
const CALLS = Number(process.env['CALLS'] ?? 4);
const NOW = Date.UTC(2026, 10, 22);

/** Methods that change records. fields.properties.heavy.test.ts calls them. */
const WRITES =
  /create|write|^update|copy|unlink|archive|toggle|^load$|web_save|resequence|message_|translations|name_create/;
/** The other methods, without methods of a single model that the sandbox lacks. */
const METHODS = FIELD_METHODS.filter(
  (name) => !WRITES.test(name) && (!name.includes('/') || name.replace(/\/.*$/, '') in WORDS),
);
/** Methods that return ids of records, whose order a call can choose. */
const SEARCHES = ['search', 'search_fetch', 'sorted'];

type Kind = 'text' | 'number' | 'digit' | 'time';
type Json = string | number;

/**
 * Fields whose values differ between the databases if a policy denies them. `ordered`: the fields of the model's order.
 */
const HIDEABLE: Record<
  string,
  { ids: readonly number[]; fields: Record<string, Kind>; ordered: readonly string[] }
> = {
  'res.partner': {
    ids: [9, 10, 11, 15, 16, 21, 22, 23],
    fields: {
      name: 'text',
      email: 'text',
      city: 'text',
      ref: 'text',
      vat: 'text',
      barcode: 'text',
      phone: 'text',
      credit_limit: 'number',
    },
    ordered: ['name'],
  },
  'res.partner.category': { ids: [1, 2, 3], fields: { name: 'text', color: 'number' }, ordered: ['name'] },
  'product.template': {
    ids: [1, 2, 3, 4],
    fields: { name: 'text', standard_price: 'number' },
    ordered: ['name'],
  },
  'product.product': { ids: [1, 2, 3, 4], fields: { default_code: 'text' }, ordered: ['default_code'] },
  'sale.order': {
    ids: [1, 2, 3, 4, 5],
    fields: { name: 'text', note: 'text', client_order_ref: 'text', date_order: 'time' },
    ordered: ['date_order'],
  },
  'sale.order.line': {
    ids: [1, 2, 3, 4, 5, 6],
    fields: { name: 'text', sequence: 'number' },
    ordered: ['sequence'],
  },
  'crm.lead': {
    ids: [1, 2, 3],
    fields: { name: 'text', probability: 'number', priority: 'digit' },
    ordered: ['priority'],
  },
  'crm.stage': {
    ids: [1, 2, 3, 4],
    fields: { name: 'text', sequence: 'number' },
    ordered: ['sequence', 'name'],
  },
  'crm.tag': { ids: [1, 2], fields: { name: 'text', color: 'number' }, ordered: [] },
};
const GUESSES = ['A1', '%A%', 'B', 5, '2026-05-05 00:00:00'];

test.each([14, 15, 16, 17, 18, 19] as const)(
  'databases of Odoo %i that differ in denied values give the same answers',
  async (version) => {
    const { random, sandboxes } = await startEqualSandboxes(version, NOW);
    const urls = sandboxes.map(({ url }) => url);
    const settings = { 'upstream.protocol': 'auto' };
    const proxy = closeAfterTest(await startProxy({ allow: urls, settings }));
    const seen = { answered: 0, denied: 0, failed: 0 };
    const answered = new Set<string>();
    const leaks: unknown[] = [];
    let differences = 0;
    for (let count = 0; count < POLICIES; count++) {
      const hidesOrders = random() < 0.3;
      const { fields, hidden } = makePolicy(random, hidesOrders);
      const { key } = await proxy.app.keys.create({
        name: `policy ${count}`,
        policy: { origins: urls, models: NAMED, fields },
      });
      for (const sandbox of sandboxes) {
        sandbox.reset();
        fill(sandbox, hidden, random);
      }
      const ask = (call: RandomCall, with_: string, route: 'execute' | 'json2') =>
        Promise.all(
          sandboxes.map((sandbox) => askThrough(proxy, sandbox, { call, key: with_, route, prefer: false })),
        );
      for (const [model, names] of hidden) {
        const call = { model, method: 'read', params: [HIDEABLE[model]!.ids, names], keyword: {} };
        const [one, other] = names.length === 0 ? [] : await ask(call, proxy.key, 'execute');
        if (one !== other) differences++;
      }
      for (const call of hidesOrders ? makeSearches(random, fields) : makeCalls(random, fields)) {
        const route = version === 19 && random() < 0.3 ? 'json2' : 'execute';
        const [one = '', other = ''] = await ask(call, key, route);
        if (one.includes('"policy_denied"')) seen.denied++;
        else if (one.includes('"error"')) seen.failed++;
        else {
          seen.answered++;
          answered.add(call.method);
        }
        if (one !== other) leaks.push({ fields, route, call, one, other });
      }
    }
    process.stdout.write(`${JSON.stringify({ ...seen, differences, methods: answered.size })}\n`);
    expect(leaks.slice(0, 3)).toEqual([]);
    expect(seen.answered).toBeGreaterThan((POLICIES * METHODS.length * CALLS) / 10);
    expect(differences, 'a key without a policy sees the hidden values').toBeGreaterThan(0);
    expect(answered).toContain('search');
  },
);

/** Policies name these methods for all models and for each model, because some methods need an entry without `*`. */
const NAMES = [...new Set(FIELD_METHODS.map((name) => name.replace(/^.*\//, '')))];
const NAMED = {
  '*': ['*', ...NAMES],
  ...Object.fromEntries(Object.keys(WORDS).map((model) => [model, NAMES])),
};

type Random = () => number;
type Fields = Record<string, FieldRule>;

/** Makes rules for some models. `hidden`: the fields that they deny. `hidesOrders`: also fields that decide orders. */
function makePolicy(random: Random, hidesOrders: boolean): { fields: Fields; hidden: Map<string, string[]> } {
  const models = pickSome(random, Object.keys(HIDEABLE), 3);
  const fields: Fields = {};
  const hidden = new Map<string, string[]>();
  for (const model of models) {
    const { fields: known, ordered } = HIDEABLE[model]!;
    const names = Object.keys(known);
    if (random() < 0.6) {
      const deny = pickSome(random, names, 3);
      fields[model] = { deny };
      hidden.set(model, deny);
      continue;
    }
    const allow = pickSome(random, [...names, ...Object.keys(WORDS[model]!.relations)], 6);
    fields[model] = { allow };
    // A field that `allow` leaves out may decide the order where a call cannot choose one (docs/policies.md#order).
    hidden.set(
      model,
      names.filter((name) => !allow.includes(name) && (hidesOrders || !ordered.includes(name))),
    );
  }
  return { fields, hidden };
}

/**
 * Makes calls, most of which name only fields that the policy allows, with few conditions, so that enough of them are
 * answered with records. They are on the models of the policy, and on models with a field that leads to them.
 */
function makeCalls(random: Random, fields: Fields): RandomCall[] {
  const any = new CallMaker(random, WORDS, GUESSES);
  const careful = new CallMaker(random, keepAllowed(fields), GUESSES, 0.2);
  const all = Object.keys(WORDS);
  const near = listNear(fields);
  return METHODS.flatMap((method) =>
    Array.from({ length: CALLS }, (_, index) =>
      index % 4 === 3 ? any.makeOf(method, all) : careful.makeOf(method, near),
    ),
  );
}

function listNear(fields: Fields): string[] {
  const leads = (model: string) =>
    Object.values(WORDS[model]!.relations).some((relation) => relation in fields);
  return Object.keys(WORDS).filter((model) => model in fields || leads(model));
}

/** Makes the same number of calls that list records, by fields of their own model. */
function makeSearches(random: Random, fields: Fields): RandomCall[] {
  const words = Object.entries(keepAllowed(fields)).map(([model, known]) => [
    model,
    { ...known, relations: {} },
  ]);
  const maker = new CallMaker(random, Object.fromEntries(words) as Vocabulary, GUESSES, 0.2);
  const near = listNear(fields);
  return Array.from({ length: METHODS.length * CALLS }, (_, index) =>
    maker.makeOf(SEARCHES[index % SEARCHES.length]!, near),
  );
}

function keepAllowed(fields: Fields): Vocabulary {
  const rules = new FieldRules(fields);
  const isAllowed = (model: string) => (field: string) => rules.findDenying(model, field) === null;
  return Object.fromEntries(
    Object.entries(WORDS).map(([model, words]) => {
      const allowed = words.fields.filter(isAllowed(model));
      const relations = Object.entries(words.relations).filter(([field]) => isAllowed(model)(field));
      return [
        model,
        {
          ids: words.ids,
          fields: allowed.length > 0 ? allowed : ['id'],
          relations: Object.fromEntries(relations),
        },
      ];
    }),
  );
}

/** Gives the hidden fields random values, which differ between the databases. */
function fill(sandbox: Sandbox, hidden: ReadonlyMap<string, readonly string[]>, random: Random): void {
  const transaction = sandbox.begin();
  for (const [model, names] of hidden) {
    const { ids, fields } = HIDEABLE[model]!;
    for (const id of ids) {
      const values = Object.fromEntries(names.map((name) => [name, makeValue(fields[name]!, random, id)]));
      if (names.length > 0) transaction.write(model, [id], values);
    }
  }
  transaction.commit();
}

function makeValue(kind: Kind, random: Random, id: number): Json {
  const digit = Math.floor(random() * 4);
  switch (kind) {
    case 'number':
      return Math.floor(random() * 100);
    case 'digit':
      return String(digit);
    case 'time':
      return `2026-0${1 + digit}-1${Math.floor(random() * 10)} 00:00:00`;
    case 'text':
      return `${'ABCD'[digit]}${id}`;
  }
}

/** Picks at least one and at most `max` of the items, in their order. */
function pickSome<Item>(random: Random, items: readonly Item[], max: number): Item[] {
  const count = 1 + Math.floor(random() * max);
  const left = [...items];
  while (left.length > count) left.splice(Math.floor(random() * left.length), 1);
  return left;
}

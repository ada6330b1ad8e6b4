/**
 * Tests that no answer to a call depends on the value of a field that its key may not use. The same random calls are
 * sent through the proxy to two sandboxes that differ only in the values of denied fields: the answers must be equal,
 * and none may contain such a value.
 */
import type { Policy } from '@erp-proxy/contract';
import { FIELD_METHODS } from '@erp-proxy/odoo/fields';
import type { Sandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { CallMaker, type RandomCall } from './field-calls.ts';
import { WORDS } from './field-words.ts';
import { type Asked, askThrough, startEqualSandboxes } from './sandbox-calls.ts';

const CALLS = Number(process.env['CALLS'] ?? 250);
/** Calls change records, so the data are restored after this number of calls. */
const CALLS_OF_DATA = 70;
const NOW = Date.UTC(2026, 10, 22);
const CANARY = 'CANARY';
/** Matches denied values, but not the values without a number that callers guess. */
const HIDDEN = /CANARY-[ABZ]\d|[78]{2}0\d\d/;
const GUESS = `${CANARY}-A`;

const POLICIES: Policy['fields'][] = [
  {
    'res.partner': { deny: ['vat', 'barcode', 'credit_*', 'phone', 'comment'] },
    'product.template': { deny: ['standard_price'] },
    'sale.order': { deny: ['note'] },
  },
  {
    'res.partner': { allow: ['name', 'email', 'city', 'is_company', 'parent_id', 'child_ids'] },
    'product.*': { allow: ['name', 'default_code', 'l*_price', 'product_tmpl_id'] },
    'sale.order': { allow: ['name', 'state', 'partner_id', 'order_line', 'amount_*'] },
  },
  { '*': { deny: ['vat', 'barcode', 'credit_limit', 'phone', 'comment', 'standard_price', 'note'] } },
];

test.each([14, 15, 16, 17, 18, 19] as const)(
  'answers of Odoo %i do not depend on denied fields',
  async (version) => {
    const { random, sandboxes } = await startEqualSandboxes(version, NOW);
    const restore = async () => {
      for (const [index, sandbox] of sandboxes.entries()) {
        sandbox.reset();
        await hideValues(sandbox, index);
      }
    };
    const urls = sandboxes.map(({ url }) => url);
    const proxy = closeAfterTest(
      await startProxy({ allow: urls, settings: { 'upstream.protocol': 'auto' } }),
    );
    const keys = await Promise.all(
      POLICIES.map((fields) => {
        const policy = { origins: urls, models: MODELS, fields: fields! };
        return proxy.app.keys.create({ name: 'limited', policy });
      }),
    );
    const askBoth = (asked: Asked) =>
      Promise.all(sandboxes.map((sandbox) => askThrough(proxy, sandbox, asked)));
    await restore();
    for (const call of version < 19 ? [...REVEALING, ...REVEALING_BEFORE_19] : REVEALING) {
      const [one, other] = await askBoth({ call, key: proxy.key, route: 'execute', prefer: false });
      expect(one, `a key without a policy sees a difference: ${JSON.stringify(call)}`).not.toBe(other);
    }
    const maker = new CallMaker(random, WORDS, [GUESS, `%${CANARY}%`, 'contact21@wood.example.com', 501]);
    const seen = { answered: 0, denied: 0, failed: 0 };
    const leaks: unknown[] = [];
    for (let count = 0; count < CALLS && leaks.length < 3; count++) {
      if (count % CALLS_OF_DATA === 0) await restore();
      const call = maker.make();
      const policy = Math.floor(random() * POLICIES.length);
      const route = version === 19 && random() < 0.3 ? 'json2' : 'execute';
      const prefer = random() < 0.2;
      const [one = '', other = ''] = await askBoth({ call, key: keys[policy]!.key, route, prefer });
      if (one.includes('"policy_denied"')) seen.denied++;
      else if (one.includes('"error"')) seen.failed++;
      else seen.answered++;
      if (one !== other || HIDDEN.test(one)) leaks.push({ policy, route, call, one, other });
    }
    process.stdout.write(`${JSON.stringify(seen)}\n`);
    expect(leaks).toEqual([]);
    expect(seen.answered).toBeGreaterThan(CALLS / 20);
    expect(seen.denied).toBeGreaterThan(CALLS / 5);
  },
);

/** Policies name these methods for all models and for each model, because some methods need an entry without `*`. */
const METHODS = [...new Set(FIELD_METHODS.map((name) => name.replace(/^.*\//, '')))];
const MODELS: Policy['models'] = {
  '*': ['*', ...METHODS],
  ...Object.fromEntries(Object.keys(WORDS).map((model) => [model, METHODS])),
};

/** Calls whose answers depend on denied fields. */
const REVEALING: RandomCall[] = [
  { model: 'res.partner', method: 'read', params: [[10]], keyword: {} },
  { model: 'res.partner', method: 'search', params: [[['vat', '=', GUESS]]], keyword: {} },
  { model: 'res.partner', method: 'search', params: [[['parent_id.vat', '=', GUESS]]], keyword: {} },
  { model: 'res.partner', method: 'search', params: [[['id', '<', 24]]], keyword: { order: 'vat' } },
  { model: 'res.partner', method: 'name_search', params: [GUESS], keyword: {} },
  { model: 'res.users', method: 'read', params: [[2], ['vat']], keyword: {} },
  { model: 'product.product', method: 'read', params: [[1], ['standard_price']], keyword: {} },
  {
    model: 'res.users',
    method: 'search_panel_select_multi_range',
    params: ['partner_id'],
    keyword: { group_by: 'vat', comodel_domain: [['id', '<', 24]], expand: true },
  },
  {
    model: 'sale.order',
    method: 'search_panel_select_range',
    params: ['partner_id'],
    keyword: { comodel_domain: [['vat', '=', GUESS]], expand: true, hierarchize: false },
  },
  {
    model: 'res.partner',
    method: 'search_panel_select_multi_range',
    params: ['category_id'],
    keyword: { group_by: 'color', group_domain: { 1: [['credit_limit', '>', 800]] }, enable_counters: true },
  },
];

/** Calls whose answers depend on denied fields, of methods that are private from 19 on. */
const REVEALING_BEFORE_19: RandomCall[] = [
  { model: 'res.partner', method: 'mapped', params: [[10], 'vat'], keyword: {} },
  { model: 'res.partner', method: 'filtered_domain', params: [[10], [['vat', '=', GUESS]]], keyword: {} },
  { model: 'res.partner', method: 'sorted', params: [[9, 10, 15, 16], 'credit_limit'], keyword: {} },
  { model: 'res.partner', method: 'filtered', params: [[21, 22, 23], 'phone'], keyword: {} },
];

/** Gives the denied fields values, which differ and sort differently in the two sandboxes. */
async function hideValues(sandbox: Sandbox, index: number): Promise<void> {
  const letter = index === 0 ? 'A' : 'B';
  const mark = (id: number) =>
    `${CANARY}-${(id % 3 === 0) === (index === 0) ? 'A' : letter === 'A' ? 'Z' : 'B'}${id}`;
  for (const id of [1, 3, 8, 9, 10, 15, 16, 21, 22, 23]) {
    const vat = id === 10 ? `${CANARY}-${letter}` : mark(id);
    // `filtered` only tells whether there is a value.
    const phone = id === 23 && index === 1 ? false : mark(id + 1);
    const values = { vat, barcode: `${mark(id)}.`, phone, comment: `<p>${mark(id)}</p>` };
    await write(sandbox, 'res.partner', id, { ...values, credit_limit: index === 0 ? 500 + id : 900 - id });
  }
  for (const id of [1, 2, 3]) {
    await write(sandbox, 'product.template', id, { standard_price: index === 0 ? 77_000 + id : 88_011 - id });
    await write(sandbox, 'sale.order', id, { note: mark(id) });
  }
}

async function write(sandbox: Sandbox, model: string, id: number, values: object): Promise<void> {
  const { userId, apiKey } = sandbox.users.admin;
  const args = [sandbox.db, userId, apiKey, model, 'write', [[id], values]];
  const body = { jsonrpc: '2.0', id: 1, params: { service: 'object', method: 'execute_kw', args } };
  const answer = await fetch(`${sandbox.url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(await answer.json()).toMatchObject({ result: true });
}

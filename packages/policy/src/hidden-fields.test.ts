/** Tests that a policy must allow fields that hold credentials by their names. */
import type { Policy } from '@erp-proxy/contract';
import { listFieldUses } from '@erp-proxy/odoo/fields';
import type { FieldType } from '@erp-proxy/odoo/values';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../odoo/test/read-arguments.ts';
import { compilePolicy } from './compile.ts';
import { type AllowedFields, decidePaths, finish, hideCredentials } from './decide-fields.ts';

const field = (type: string, relation: string | null = null): FieldType => ({
  type,
  relation,
  related: null,
  inverse: null,
  computedFrom: [],
});
const TYPES = new Map([
  ['sale.order', new Map([['company_id', field('many2one', 'res.company')]])],
  [
    'res.company',
    new Map([
      ['name', field('char')],
      ['gelato_api_key', field('char')],
      ['parent_id', field('many2one', 'res.company')],
    ]),
  ],
]);
const KNOWN = { types: TYPES, orders: null };

function compile(members: Partial<Policy>) {
  return compilePolicy({ instances: ['prod'], models: { '*': ['*'] }, ...members });
}

function ask(model: string, method: string, params: unknown[], keyword: object = {}) {
  const call = readArguments(JSON.stringify(params), JSON.stringify(keyword));
  return { model, method, uses: listFieldUses(model, method, call, 'read') };
}

/** The rule and message of the denial; null: the call is allowed. */
function decide(members: Partial<Policy>, ...call: Parameters<typeof ask>) {
  const decided = finish(decidePaths(compile(members), ask(...call), KNOWN));
  return decided.kind === 'denied' ? `${decided.rule}: ${decided.message}` : null;
}

const CALLS: readonly Parameters<typeof ask>[] = [
  ['res.company', 'read', [[1], ['name', 'gelato_api_key']]],
  ['res.company', 'search_count', [[['gelato_api_key', '=like', 'a%']]]],
  ['res.company', 'search_count', [[['id.gelato_api_key', '=like', 'a%']]]],
  ['res.company', 'search', [[]], { order: 'gelato_api_key' }],
  ['res.company', 'read_group', [[], ['name'], ['gelato_api_key']]],
  ['res.company', 'export_data', [[1], ['parent_id/gelato_api_key']]],
  ['res.company', 'web_save', [[1], {}, { gelato_api_key: {} }]],
  ['sale.order', 'search_count', [[['company_id.gelato_api_key', '!=', false]]]],
  ['sale.order', 'search_count', [[['company_id', 'any', [['gelato_api_key', '!=', false]]]]]],
  ['sale.order', 'web_read', [[1], { company_id: { fields: { gelato_api_key: {} } } }]],
];

describe('a call that names a field with a credential', () => {
  test.each(CALLS)('%s %s %j is refused unless `fields` allows the field by name', (...call) => {
    for (const models of [{ '*': ['*'] }, { 'res.company': ['*', 'read'], 'sale.order': ['*'] }]) {
      expect(decide({ models }, ...call)).toMatch(
        /^fields: .*`res.company` that holds a credential: a key may use it only where `fields`/,
      );
      const allow = ['*', 'gelato_api_key'];
      expect(decide({ models, fields: { 'res.company': { allow } } }, ...call)).toBeNull();
    }
  });

  test.each([
    { 'res.company': { allow: ['*'] } },
    { 'res.company': { allow: ['gelato_*'] } },
    { 'res.*': { allow: ['*', 'gelato_api_key'] } },
    { 'res.company': { deny: ['vat'] } },
  ])('is refused with %j', (fields) => {
    expect(decide({ fields }, ...CALLS[0]!)).not.toBeNull();
  });

  test('may write it', () => {
    expect(decide({}, 'res.company', 'write', [[1], { gelato_api_key: 'x' }])).toBeNull();
  });
});

test('fields of the same name in other models, and models that a policy must name, are not hidden', () => {
  expect(decide({}, 'sale.order', 'read', [[1], ['gelato_api_key']])).toBeNull();
  const models = { 'payment.provider': ['read'] };
  expect(decide({ models }, 'payment.provider', 'read', [[1], ['stripe_secret_key']])).toBeNull();
});

describe('a call that names no fields', () => {
  const list = (members: Partial<Policy>, listed: AllowedFields, ...call: Parameters<typeof ask>) =>
    hideCredentials(compile(members), ask(...call), listed, KNOWN);
  const all: AllowedFields = { kind: 'all' };

  test('gets all fields but those with credentials', () => {
    expect(list({}, all, 'res.company', 'read', [[1]])).toEqual({
      kind: 'listed',
      fields: ['name', 'parent_id'],
    });
    const listed: AllowedFields = { kind: 'listed', fields: ['name', 'gelato_api_key'] };
    expect(list({}, listed, 'res.company', 'search_read', [])).toEqual({ kind: 'listed', fields: ['name'] });
    const fields = { 'res.company': { allow: ['*', 'gelato_api_key'] } };
    // Other fields of the table stay hidden, but this server has none of them.
    expect(list({ fields }, all, 'res.company', 'read', [[1]])).toEqual(all);
  });

  test('is refused if the method cannot list fields', () => {
    expect(list({}, all, 'res.company', 'copy_data', [[1]])).toMatchObject({
      kind: 'denied',
      rule: 'fields',
    });
    expect(list({}, all, 'sale.order', 'copy_data', [[1]])).toEqual(all);
  });

  test('of aggregates and descriptions, which show no credential, stays as it is', () => {
    expect(list({}, all, 'res.company', 'read_group', [[], [], ['name']])).toEqual(all);
    expect(list({}, all, 'res.company', 'fields_get', [])).toEqual(all);
  });
});

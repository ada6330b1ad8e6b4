import type { Policy } from '@erp-proxy/contract';
import { listFieldUses } from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../odoo/test/read-arguments.ts';
import { compilePolicy } from './compile.ts';
import { decidePaths, finish } from './decide-fields.ts';

const field = (type: string, relation: string | null = null): FieldType => ({
  type,
  relation,
  related: null,
  inverse: null,
  computedFrom: [],
});
const TYPES = new Map<string, FieldTypes>([
  [
    'x.order',
    new Map([
      ['id', field('integer')],
      ['ordered_on', field('datetime')],
      ['title', field('char')],
      ['display_name', field('char')],
      ['partner_id', field('many2one', 'res.partner')],
      ['company_id', field('many2one', 'res.company')],
      ['carrier_id', field('many2one', 'delivery.carrier')],
      ['parent_id', field('many2one', 'x.order')],
      ['line_ids', field('one2many', 'x.line')],
      ['source', field('reference')],
      ['res_id', field('many2one_reference')],
      ['properties', field('properties')],
      ['analytic_distribution', field('json')],
    ]),
  ],
  ['x.line', new Map([['order_id', field('many2one', 'x.order')]])],
  ['res.partner', new Map([['user_ids', field('one2many', 'res.users')]])],
  ['product.product', new Map([['seller_ids', field('one2many', 'product.supplierinfo')]])],
]);

/** The message of the denial, or the field that the server does not describe; null: the call is allowed. */
function check(
  method: string,
  params: unknown,
  { models = {}, keyword = {} }: { models?: Policy['models']; keyword?: object } = {},
) {
  const policy = compilePolicy({ instances: ['prod'], models: { 'x.order': ['search'], ...models } });
  const call = readArguments(JSON.stringify(params), JSON.stringify(keyword));
  const request = { model: 'x.order', uses: listFieldUses('x.order', method, call, 'read') };
  const decided = finish(decidePaths(policy, request, { types: TYPES, orders: null }));
  if (decided.kind === 'denied') {
    const unknown = decided.unknown ?? null;
    return unknown === null ? decided.message : `unknown: ${unknown.model}.${unknown.field}`;
  }
  expect(decided.lacking.types).toEqual(new Map());
  return null;
}
const search = (condition: unknown, models: Policy['models'] = {}) =>
  check('search', [[condition]], { models });

describe('a path', () => {
  test.each([
    [['partner_id.id', '=', 5]],
    [['id.partner_id', '=', 5]],
    [['ordered_on.month_number', '=', 3]],
    [['parent_id.parent_id.title', '=', 'x']],
    [['parent_id', 'child_of', 5]],
    [['id', 'child_of', 5]],
    [['title', 'ilike', 'x']],
    // The search compares only the name, which the call shows anyway.
    [['company_id', 'ilike', 'x']],
  ])('within the own model, and to ids and names, is allowed: %j', (condition) => {
    expect(search(condition)).toBeNull();
  });

  test.each([
    [['partner_id.email', '=', 5], 'reads a field of `res.partner`'],
    [['id.partner_id.email', '=', 5], 'reads a field of `res.partner`'],
    [['parent_id.partner_id.email', '=', 5], 'reads a field of `res.partner`'],
    [['line_ids.order_id', '=', 5], 'reads a field of `x.line`'],
    [['line_ids', 'any', [['order_id', '=', 5]]], 'reads a field of `x.line`'],
    [['partner_id.display_name', 'like', 'x'], 'searches `res.partner` by name'],
    [['partner_id', 'like', 5], 'searches `res.partner` by name'],
    [['partner_id', 'child_of', 'x'], 'follows the parents in `res.partner`'],
    [['source.name', '=', 5], 'cannot be told'],
    [['source', 'like', 'x'], 'cannot be told'],
    [['res_id.name', '=', 5], 'cannot be told'],
    [['properties.customer', '=', 5], 'cannot be told'],
    [['title', 'any', [['login', '=', 'x']]], 'cannot be told'],
    [['display_name', 'any', [['login', '=', 'x']]], 'cannot be told'],
    [['title', 'child_of', 'x'], 'cannot be told'],
    [['analytic_distribution', 'ilike', 'x'], 'searches `account.analytic.account` by name'],
  ])('into another model is refused: %j', (condition, message) => {
    expect(search(condition)).toContain(message);
  });

  test.each([
    ['unknown.name', 'x.order.unknown'],
    ['unknown', 'x.order.unknown'],
    ['parent_id.unknown.partner_id.name', 'x.order.unknown'],
  ])('through the field %s, which the server does not describe, is refused with its name', (path, field) => {
    expect(search([path, '=', 'x'])).toBe(`unknown: ${field}`);
  });

  test('through a model that the server does not describe to this user is refused without it', () => {
    const policy = compilePolicy({ instances: ['prod'], models: { 'x.order': ['search'] } });
    const uses = listFieldUses('x.order', 'search', readArguments('[[["a.b", "=", 5]]]', '{}'), 'read');
    const known = { types: new Map([['x.order', new Map()]]), orders: null };
    expect(finish(decidePaths(policy, { model: 'x.order', uses }, known))).toMatchObject({ unknown: null });
  });

  test('needs every model on its way', () => {
    const condition = ['partner_id.user_ids.login', '=', 5];
    const users = { 'res.users': ['read'] };
    expect(search(condition, users)).toContain('`res.partner`');
    expect(search(condition, { 'res.partner': ['read'] })).toContain('`res.users`');
    expect(search(condition, { ...users, 'res.partner': ['read'] })).toBeNull();
  });

  test('into a model that is sensitive to read needs an entry that names model and method', () => {
    const condition = ['carrier_id.margin', '=', 5];
    expect(search(condition, { 'delivery.*': ['*'], 'delivery.carrier': ['*'] })).toContain(
      '`delivery.carrier`',
    );
    expect(search(condition, { 'delivery.carrier': ['search_read'] })).toBeNull();
  });
});

describe('if all models may be read, a path to fields', () => {
  const ALL = { '*': ['*'] };
  test.each([
    [['carrier_id.margin', '=', 5], '`delivery.carrier`'],
    [['parent_id.carrier_id.margin', '=', 5], '`delivery.carrier`'],
    [['carrier_id', 'any', [['margin', '=', 5]]], '`delivery.carrier`'],
    [['title', 'any', [['carrier_id.margin', '=', 5]]], 'cannot be told'],
    [['unknown.name', '=', 5], 'unknown: x.order.unknown'],
  ])('of a model that must be named to be read is refused: %j', (condition, message) => {
    expect(search(condition, ALL)).toContain(message);
    expect(search(['partner_id.email', '=', 5], ALL)).toBeNull();
  });

  test.each([
    [['carrier_id', 'ilike', 'x']],
    [['carrier_id.display_name', 'ilike', 'x']],
    [['carrier_id.id', '=', 5]],
    [['properties.customer', '=', 5]],
    [['ordered_on.month_number', '=', 3]],
    [['unknown', '=', 'x']],
  ])('of others, and to names, is allowed: %j', (condition) => {
    expect(search(condition, ALL)).toBeNull();
  });

  test('of a model that the policy names is allowed', () => {
    const named = { ...ALL, 'delivery.carrier': ['read'] };
    expect(search(['carrier_id.margin', '=', 5], named)).toBeNull();
  });
});

test('a domain in the context leads from the model that Odoo searches by it', () => {
  const ask = (condition: unknown, models: Policy['models'] = {}) =>
    check('search', [[]], { models, keyword: { context: { suggest_domain: [condition] } } });
  expect(ask(['seller_ids.price', '>', 5])).toContain('`product.supplierinfo`');
  expect(ask(['seller_ids', '=', 'Azure'])).toContain('`product.supplierinfo`');
  expect(ask(['seller_ids.price', '>', 5], { 'product.supplierinfo': ['read'] })).toBeNull();
  expect(ask(['default_code', '=', 'a'])).toBeNull();
});

describe('a search by name needs the models whose fields it compares', () => {
  const searchFor = (model: string, models: Policy['models']) => {
    const policy = compilePolicy({ instances: ['prod'], models: { [model]: ['name_search'], ...models } });
    const uses = listFieldUses(model, 'name_search', readArguments('["BE0477"]', '{}'), 'read');
    const decided = finish(decidePaths(policy, { model, uses }, { types: TYPES, orders: null }));
    return decided.kind === 'denied' ? decided.message : null;
  };

  test('stock.quant, whose owners are searched for by name', () => {
    const others = { 'stock.*': ['read', 'search_read'], 'product.product': ['read'] };
    expect(searchFor('stock.quant', others)).toContain('searches `res.partner` by name');
    expect(searchFor('stock.quant', { ...others, 'res.partner': ['read'] })).toBeNull();
  });

  test.each(['any', 'not any', 'ANY', 'child_of'])('and is refused with the operator %s', (operator) => {
    expect(check('name_search', [[['login', '=', 'x']], [], operator])).toContain('`operator` leads to');
  });

  test('but not for the name that a many2one field shows', () => {
    expect(searchFor('account.move', {})).toBeNull();
    // The search compares the name of a currency, and its full name.
    expect(searchFor('product.pricelist', {})).toBeNull();
    expect(searchFor('sale.order.line', {})).toBeNull();
  });
});

test('names of records are shown behind a many2one field alone', () => {
  expect(check('export_data', [[1], ['partner_id', 'title', 'res_id']])).toBeNull();
  expect(check('export_data', [[1], ['line_ids']])).toContain('shows names of `x.line`');
  expect(check('read_group', [[], ['title:count'], ['partner_id']])).toBeNull();
  expect(check('read_group', [[], [], ['line_ids']])).toContain('shows names of `x.line`');
  expect(check('read', [[1]])).toBeNull();
});

test('an import that finds records by name searches their model', () => {
  expect(check('load', [['title', 'line_ids/order_id/id'], []])).toBeNull();
  expect(check('load', [['partner_id'], []])).toContain('searches `res.partner` by name');
});

test('values that are written are not checked', () => {
  expect(check('create', [{ partner_id: [0, 0, { email: 'x' }] }])).toBeNull();
});

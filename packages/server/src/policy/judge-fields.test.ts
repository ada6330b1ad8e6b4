/** Which fields the rules of a policy allow, with and without the types of fields. */
import type { Policy } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { NAME_SEARCH, PARENTS } from '../odoo/fields/field-sources.ts';
import type { Tail } from '../odoo/fields/field-uses.ts';
import type { FieldType, FieldTypes } from '../odoo/values/field-types.ts';
import { compilePolicy } from './compile.ts';
import { FieldRules } from './field-rules.ts';
import { FieldJudge } from './judge-fields.ts';
import { mayNameField } from './may-name.ts';

const char: FieldType = { type: 'char', relation: null, related: null };
const to = (relation: string, type = 'many2one'): FieldType => ({ type, relation, related: null });
const related = (path: string): FieldType => ({ ...char, related: path.split('.') });

const TYPES = new Map<string, FieldTypes>([
  [
    'sale.order',
    new Map([
      ['name', char],
      ['partner_id', to('res.partner')],
      ['user_id', to('res.users')],
      ['country_id', to('res.country')],
      ['line_ids', to('sale.order.line', 'one2many')],
      ['source', { ...char, type: 'reference' }],
      ['day', { ...char, type: 'date' }],
      ['x_vat', related('partner_id.vat')],
      ['x_deep', related('user_id.partner_id.vat')],
      ['x_code', related('country_id.code')],
      ['company_id', to('res.company')],
      ['x_company_vat', related('company_id.vat')],
      ['gone_id', to('gone.model')],
      ['x_gone', related('gone_id.vat')],
      ['x_gone_name', related('gone_id.street')],
    ]),
  ],
  [
    'res.users',
    new Map([
      ['partner_id', to('res.partner')],
      ['vat', related('partner_id.vat')],
      ['login', char],
    ]),
  ],
  [
    'res.partner',
    new Map([
      ['name', char],
      ['vat', char],
      ['parent_id', to('res.partner')],
    ]),
  ],
  [
    'res.company',
    new Map([
      ['partner_id', to('res.partner')],
      ['vat', related('partner_id.vat')],
    ]),
  ],
  // A model that the user may not use.
  ['gone.model', new Map()],
  ['res.country', new Map([['code', char]])],
  ['sale.order.line', new Map([['name', char]])],
]);

const DENY = { 'res.partner': { deny: ['vat', 'signup_*'] } };
const ALLOW = { 'res.partner': { allow: ['name', 'email*'] } };

/** The rule that denies the path; null: allowed. */
function judge(fields: NonNullable<Policy['fields']>, model: string, path: string, tail: Tail = null) {
  const judged = new FieldJudge(new FieldRules(fields), TYPES).judge(model, { path: path.split('.'), tail });
  return judged?.rule.name ?? null;
}

const RULE = 'fields["res.partner"]';

describe.each([
  // With `deny`, with `allow`.
  ['res.partner', 'vat', null, RULE, RULE],
  ['res.partner', 'signup_token', null, RULE, RULE],
  ['res.partner', 'email', null, null, null],
  ['res.partner', 'id', null, null, null],
  ['res.partner', 'street', null, null, RULE],
  ['res.partner', 'display_name', null, null, null],
  ['res.partner', NAME_SEARCH, null, RULE, RULE],
  ['sale.order', 'vat', null, null, null],
  ['sale.order', 'partner_id.vat', null, RULE, RULE],
  ['sale.order', 'partner_id.name', null, null, null],
  ['sale.order', 'partner_id.parent_id.vat', null, RULE, RULE],
  ['sale.order', 'user_id.partner_id.vat', null, RULE, RULE],
  ['sale.order', 'user_id.login', null, null, null],
  ['sale.order', 'user_id.vat', null, RULE, RULE],
  ['sale.order', 'line_ids.street', null, null, null],
  ['sale.order', 'day.month_number', null, null, null],
  // The model is not known: every rule applies.
  ['sale.order', 'source.vat', null, RULE, RULE],
  ['sale.order', 'source.street', null, null, RULE],
  ['sale.order', 'no_field.vat', null, RULE, RULE],
  // A field that has the value of another one.
  ['sale.order', 'x_vat', null, RULE, RULE],
  ['sale.order', 'x_deep', null, RULE, RULE],
  ['sale.order', 'x_code', null, null, null],
  ['sale.order', 'x_company_vat', null, RULE, RULE],
  ['sale.order', 'x_gone', null, RULE, RULE],
  ['sale.order', 'x_gone_name', null, null, RULE],
  ['res.users', 'vat', null, RULE, RULE],
  ['res.users', 'login', null, null, null],
  // Names of related records, and searches by name.
  ['sale.order', 'partner_id', 'shown', null, null],
  ['sale.order', 'partner_id', 'searched', RULE, RULE],
  ['sale.order', 'country_id', 'searched', null, null],
  ['sale.order', 'name', 'searched', null, null],
  ['sale.order', 'partner_id', 'parents', null, RULE],
] as const)('%s %s → %s', (model, path, tail, denied, notAllowed) => {
  test('with deny', () => expect(judge(DENY, model, path, tail)).toBe(denied));
  test('with allow', () => expect(judge(ALLOW, model, path, tail)).toBe(notAllowed));
});

test('a computed field is denied with the field that it shows, and allowed by its name', () => {
  const deny = (field: string) => ({ 'res.partner': { deny: [field] } });
  expect(judge(deny('email'), 'res.partner', 'email_normalized')).toBe(RULE);
  expect(judge(deny('image_1920'), 'res.partner', 'avatar_128')).toBe(RULE);
  expect(judge(deny('email_normalized'), 'res.partner', 'email')).toBe(null);
  expect(judge({ 'res.partner': { allow: ['email_normalized'] } }, 'res.partner', 'email_normalized')).toBe(
    null,
  );
});

test('names of records are denied with the fields that they show', () => {
  const hidden = { 'res.partner': { deny: ['name'] } };
  expect(judge(hidden, 'res.partner', 'display_name')).toBe(RULE);
  expect(judge(hidden, 'res.partner', 'commercial_company_name')).toBe(RULE);
  expect(judge(hidden, 'sale.order', 'partner_id', 'shown')).toBe(RULE);
  expect(judge(hidden, 'sale.order', 'line_ids', 'shown')).toBe(null);
  expect(judge({ 'res.partner': { allow: ['email'] } }, 'sale.order', 'partner_id', 'named')).toBe(RULE);
});

test.each([
  ['account.move', 'ref', 'account.move'],
  ['account.move.line', 'move_name', 'account.move.line'],
  ['purchase.order', 'partner_ref', 'purchase.order'],
  ['sale.order.line', 'ref', 'res.partner'],
  ['account.analytic.account', 'name', 'res.partner'],
  ['res.partner', 'parent_id', 'res.partner'],
])('the display name of %s is denied with %s of %s, which it shows', (model, field, of) => {
  const rule = `fields["${of}"]`;
  expect(judge({ [of]: { deny: [field] } }, model, 'display_name')).toBe(rule);
  expect(judge({ [of]: { deny: ['x_other'] } }, model, 'display_name')).toBe(null);
});

test('a hierarchy is denied with the field that leads to the parent', () => {
  const rules = (model: string, field: string) => ({ [model]: { deny: [field] } });
  expect(judge(rules('res.partner', 'parent_id'), 'res.partner', PARENTS)).toBe(RULE);
  expect(judge(rules('res.partner', 'parent_id'), 'sale.order', 'partner_id', 'parents')).toBe(RULE);
  expect(judge(rules('stock.location', 'location_id'), 'stock.location', PARENTS)).not.toBe(null);
  expect(judge(rules('stock.location', 'parent_id'), 'stock.location', PARENTS)).toBe(null);
});

test('several rules of a model hold together', () => {
  const fields = { 'res.*': { deny: ['vat'] }, 'res.partner': { allow: ['name', 'vat'] } };
  expect(judge(fields, 'res.partner', 'vat')).toBe('fields["res.*"]');
  expect(judge(fields, 'res.partner', 'email')).toBe(RULE);
  expect(judge(fields, 'res.partner', 'name')).toBe(null);
});

test('the model of a rule is inherited, also where the types do not tell', () => {
  const rules = new FieldRules(DENY);
  const judgeOf = (model: string, field: string) =>
    new FieldJudge(rules, new Map()).judge(model, { path: [field], tail: null })?.rule.name ?? null;
  expect(judgeOf('res.users', 'vat')).toBe(RULE);
  expect(judgeOf('res.users', 'login')).toBe(null);
  const own = new FieldRules({ ...DENY, 'res.users': { allow: ['login', 'vat'] } });
  expect(new FieldJudge(own, new Map()).judge('res.users', { path: ['vat'], tail: null })).toBe(null);
});

test('asks for the types that a path needs, one model after the other', () => {
  const known = new Map<string, FieldTypes>();
  const judgeNow = () => {
    const now = new FieldJudge(new FieldRules(DENY), known);
    return { denied: now.judge('sale.order', { path: ['user_id', 'partner_id', 'vat'], tail: null }), now };
  };
  expect(judgeNow().denied).toBe(null);
  expect([...judgeNow().now.lacking]).toEqual([['sale.order', new Set(['user_id'])]]);
  known.set('sale.order', TYPES.get('sale.order')!);
  expect([...judgeNow().now.lacking.keys()]).toEqual(['res.users']);
  known.set('res.users', TYPES.get('res.users')!);
  expect(judgeNow().denied).toMatchObject({ model: 'res.partner', field: 'vat' });
});

test('asks for no types of models that can carry no denied value', () => {
  const known = new Map([['sale.order', TYPES.get('sale.order')!]]);
  const lackingFor = (fields: NonNullable<Policy['fields']>, field: string) => {
    const judge = new FieldJudge(new FieldRules(fields), known);
    judge.judge('sale.order', { path: [field], tail: null });
    return [...judge.lacking.keys()];
  };
  expect(lackingFor(DENY, 'x_code')).toEqual([]);
  expect(lackingFor(DENY, 'x_company_vat')).toEqual(['res.company']);
  expect(lackingFor(ALLOW, 'x_code')).toEqual(['res.country']);
});

test('a default of the context is denied whatever model it is for', () => {
  const judged = (fields: NonNullable<Policy['fields']>) =>
    new FieldJudge(new FieldRules(fields), TYPES).judge('sale.order', {
      path: ['vat'],
      tail: null,
      model: null,
    });
  expect(judged(DENY)?.rule.name).toBe(RULE);
  // Else each default of an order would be denied by a rule that lists the fields of partners.
  expect(judged(ALLOW)).toBe(null);
});

test('a key is not shown the names of fields that it may not use', () => {
  const policy = compilePolicy({ instances: ['prod'], models: { 'res.*': ['*'] }, fields: DENY });
  expect(mayNameField(policy, 'res.partner', 'name')).toBe(true);
  expect(mayNameField(policy, 'res.partner', 'vat')).toBe(false);
  expect(mayNameField(policy, 'res.users', 'vat')).toBe(false);
  expect(mayNameField(policy, 'sale.order', 'name')).toBe(false);
  expect(mayNameField(null, 'res.partner', 'vat')).toBe(true);
});

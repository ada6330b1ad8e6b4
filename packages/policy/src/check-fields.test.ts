/** Tests which fields the rules of a policy allow, with and without the types of fields. */
import type { FieldRule, Policy } from '@erp-proxy/contract';
import { type FieldUse, NAME_SEARCH, PARENTS, type Tail } from '@erp-proxy/odoo/fields';
import type { FieldType, FieldTypes } from '@erp-proxy/odoo/values';
import { describe, expect, test } from 'vitest';
import { FieldCheck, type Known, NOTHING_KNOWN } from './check-fields.ts';
import { compilePolicy } from './compile.ts';
import { FieldRules } from './field-rules.ts';
import { mayNameField } from './may-name.ts';

const char: FieldType = { type: 'char', relation: null, related: null, inverse: null, computedFrom: [] };
const to = (relation: string, type = 'many2one'): FieldType => ({
  type,
  relation,
  related: null,
  inverse: null,
  computedFrom: [],
});
const computed = (...paths: string[]): FieldType => ({
  ...char,
  computedFrom: paths.map((path) => path.split('.')),
});
const related = (path: string): FieldType => ({ ...char, related: path.split('.') });

const TYPES = new Map<string, FieldTypes>([
  [
    'sale.order',
    new Map([
      ['name', char],
      ['partner_id', to('res.partner')],
      ['user_id', to('res.users')],
      ['country_id', to('res.country')],
      ['line_ids', { ...to('sale.order.line', 'one2many'), inverse: 'order_id' }],
      ['source', { ...char, type: 'reference' }],
      ['props', { ...char, type: 'properties' }],
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
      ['order_ids', { ...to('sale.order', 'one2many'), inverse: 'partner_id' }],
      // The dependencies of the display name as Odoo declares them from 17 on.
      ['display_name', computed('complete_name', 'email', 'vat', 'state_id', 'country_id')],
      ['complete_name', char],
      ['email', char],
    ]),
  ],
  [
    'res.company',
    new Map([
      ['partner_id', to('res.partner')],
      ['vat', related('partner_id.vat')],
    ]),
  ],
  // A model of an unknown module.
  [
    'x.member',
    new Map([
      ['display_name', computed('x_number')],
      ['x_number', char],
      ['x_secret', char],
      ['x_label', computed('x_secret', 'x_label', 'parent_id.x_label')],
      ['x_badge', computed('x_label')],
      ['x_one', computed('x_other', 'x_secret')],
      ['x_other', computed('x_one')],
      ['x_nested', related('parent_id.x_badge')],
      ['x_of_nested', computed('x_nested')],
      ['x_vats', computed('partner_ids.vat')],
      ['x_deep_vats', computed('parent_id.partner_ids.vat')],
      ['x_hidden', computed('x_undescribed')],
      ['x_plain', computed('x_number')],
      ['x_normalized', computed('gone_id.email_normalized')],
      ['gone_id', to('gone.model')],
      ['x_greeting', computed('partner_id')],
      ['x_count', { ...computed('partner_id'), type: 'integer' }],
      ['partner_id', to('res.partner')],
      ['parent_id', to('x.member')],
      ['partner_ids', to('res.partner', 'many2many')],
    ]),
  ],
  [
    'x.visit',
    new Map([
      ['member_id', to('x.member')],
      ['display_name', computed('member_id', 'member_id.partner_id')],
    ]),
  ],
  [
    'x.card',
    new Map([
      ['display_name', computed('partner_id.vat', 'partner_id.complete_name')],
      ['partner_id', to('res.partner')],
    ]),
  ],
  // The dependencies of display names as Odoo 17 to 19 declare them.
  ['account.tax', new Map([['display_name', computed('name', 'type_tax_use', 'tax_scope')]])],
  [
    'stock.lot',
    new Map([['display_name', computed('name', 'use_expiration_date', 'expiration_date', 'alert_date')]]),
  ],
  [
    'stock.location',
    new Map([
      ['display_name', computed('name', 'location_id.complete_name', 'usage')],
      ['location_id', to('stock.location')],
    ]),
  ],
  ['uom.uom', new Map([['display_name', computed('name', 'relative_factor', 'relative_uom_id')]])],
  // A model that the user may not use.
  ['gone.model', new Map()],
  ['res.country', new Map([['code', char]])],
  [
    'sale.order.line',
    new Map([
      ['name', char],
      ['order_id', to('sale.order')],
    ]),
  ],
]);

/** The orders as `ir.model` describes them. */
const ORDERS = new Map([
  ['sale.order', 'day desc, id desc'],
  ['sale.order.line', 'order_id, sequence, id'],
  ['res.partner', 'complete_name ASC, id DESC'],
  ['res.users', 'name, login'],
  ['x.by_partner', 'partner_id.id, name'],
]);
const KNOWN: Known = { types: TYPES, orders: ORDERS };

const DENY = { 'res.partner': { deny: ['vat', 'signup_*'] } };
const ALLOW = { 'res.partner': { allow: ['name', 'email*'] } };

/** The rule that denies the path; null: allowed. */
function check(fields: NonNullable<Policy['fields']>, model: string, path: string, tail: Tail = null) {
  const checked = new FieldCheck(new FieldRules(fields), KNOWN).check(model, { path: path.split('.'), tail });
  return checked?.rule.name ?? null;
}

const RULE = 'fields["res.partner"]';

describe.each([
  // The columns: model, path, tail, the denying rule with `deny`, the denying rule with `allow`.
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
  // From 19 on, `id` leads to the record itself in a domain.
  ['res.partner', 'id.vat', null, RULE, RULE],
  ['sale.order', 'partner_id.id.vat', null, RULE, RULE],
  ['sale.order', 'id.partner_id.vat', null, RULE, RULE],
  ['sale.order', 'partner_id.id', null, null, null],
  // The model is not known: every rule applies.
  ['sale.order', 'source.vat', null, RULE, RULE],
  ['sale.order', 'source.street', null, null, RULE],
  ['sale.order', 'no_field.vat', null, RULE, RULE],
  // Conditions on the records of a field that leads to no records.
  ['sale.order', 'name.vat', null, RULE, RULE],
  ['sale.order', 'name', 'parents', null, RULE],
  // The name after the field is the name of a property, which can lead to records of any model.
  ['sale.order', 'props', 'shown', null, null],
  ['sale.order', 'props.vat', null, null, null],
  ['sale.order', 'props.vat', 'searched', null, null],
  ['sale.order', 'props.a.vat', null, RULE, RULE],
  ['sale.order', 'partner_id.order_ids.props.a.street', 'named', null, RULE],
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
  test('with deny', () => expect(check(DENY, model, path, tail)).toBe(denied));
  test('with allow', () => expect(check(ALLOW, model, path, tail)).toBe(notAllowed));
});

test('a computed field is denied with the field that it shows, and allowed by its name', () => {
  const deny = (field: string) => ({ 'res.partner': { deny: [field] } });
  expect(check(deny('email'), 'res.partner', 'email_normalized')).toBe(RULE);
  expect(check(deny('image_1920'), 'res.partner', 'avatar_128')).toBe(RULE);
  expect(check(deny('amount_total'), 'res.partner', 'tax_totals')).toBe(RULE);
  expect(check(deny('email_normalized'), 'res.partner', 'email')).toBe(null);
  expect(check({ 'res.partner': { allow: ['email_normalized'] } }, 'res.partner', 'email_normalized')).toBe(
    null,
  );
});

test('a list of the records that lead to a record is denied with the field by which they do', () => {
  const hidden = { 'sale.order.line': { deny: ['order_id'] } };
  expect(check(hidden, 'sale.order', 'line_ids')).toBe('fields["sale.order.line"]');
  expect(check(hidden, 'res.partner', 'order_ids.line_ids')).toBe('fields["sale.order.line"]');
  expect(check(hidden, 'res.partner', 'order_ids')).toBe(null);
  expect(check({ ...hidden, 'sale.order': { allow: ['line_ids'] } }, 'sale.order', 'line_ids')).toBe(null);
  expect(check({ 'sale.order.line': { allow: ['name'] } }, 'sale.order', 'line_ids')).toBe(null);
});

describe('a denied field under another name of its record', () => {
  const byTable = (of: string, denied: string, model: string, field: string) =>
    new FieldCheck(new FieldRules({ [of]: { deny: [denied] } }), NOTHING_KNOWN).check(model, {
      path: [field],
      tail: null,
    })?.rule.name ?? null;
  test.each([
    ['ir.attachment', 'datas', 'ir.attachment', 'index_content'],
    ['ir.attachment', 'datas', 'ir.attachment', 'checksum'],
    ['ir.attachment', 'datas', 'ir.attachment', 'file_size'],
    ['ir.attachment', 'datas', 'ir.attachment', 'store_fname'],
    ['ir.attachment', 'datas', 'ir.attachment', 'db_datas'],
    ['ir.attachment', 'raw', 'ir.attachment', 'datas'],
    ['product.product', 'default_code', 'product.product', 'code'],
    ['project.task', 'description', 'project.task', 'html_field_history'],
    ['product.product', 'default_code', 'product.product', 'partner_ref'],
    ['res.partner.bank', 'acc_number', 'res.partner.bank', 'sanitized_acc_number'],
    ['product.product', 'standard_price', 'sale.order.line', 'purchase_price'],
    ['product.product', 'standard_price', 'sale.order.line', 'margin'],
    ['res.partner', 'email', 'crm.lead', 'email_from'],
    ['res.partner', 'street', 'crm.lead', 'street'],
    ['res.partner', 'email', 'event.registration', 'email'],
    ['product.template', 'default_code', 'product.template', 'website_url'],
    ['product.template', 'default_code', 'product.product', 'website_url'],
    ['product.*', 'default_code', 'ir.attachment', 'res_name'],
    ['res.partner', 'name', 'mail.activity', 'res_name'],
    ['account.move', 'ref', 'mail.message', 'record_name'],
    ['sale.order', 'amount_total', 'sale.order', 'amount_undiscounted'],
    ['sale.order', 'amount_total', 'sale.order', 'amount_to_invoice'],
    // The code of a line of payment methods is related to the code of its method.
    ['account.payment.method', 'code', 'account.journal', 'selected_payment_method_codes'],
    ['account.payment.method.line', 'code', 'account.journal', 'selected_payment_method_codes'],
    // Queries.
    ['account.move.line', 'amount_residual', 'res.partner', 'credit'],
    ['account.move.line', 'amount_residual', 'res.partner', 'debit'],
    ['mail.activity', 'summary', 'account.journal', 'json_activity_data'],
    ['account.bank.statement.line', 'amount', 'account.journal', 'kanban_dashboard'],
    // Views of the database.
    ['sale.order.line', 'margin', 'sale.report', 'margin'],
    ['account.move.line', 'balance', 'account.invoice.report', 'price_subtotal'],
    ['mail.message', 'body', 'crm.activity.report', 'body'],
    ['pos.order.line', 'price_subtotal', 'report.pos.order', 'price_subtotal_excl'],
    ['account.move', 'ref', 'purchase.bill.union', 'reference'],
    ['account.move', 'name', 'purchase.bill.union', 'display_name'],
    // Names of records.
    ['account.move.line', 'name', 'purchase.bill.line.match', 'display_name'],
    ['hr.attendance', 'worked_hours', 'hr.attendance', 'display_name'],
    ['product.attribute.value', 'name', 'product.product', 'display_name'],
    ['product.attribute.value', 'name', 'sale.order.line', 'display_name'],
    ['product.template', 'name', 'ir.model.data', 'display_name'],
    // Numbers that a user may change, and that repeat another one.
    ['gamification.karma.tracking', 'new_value', 'res.users', 'karma'],
    ['hr.expense', 'total_amount', 'hr.expense', 'total_amount_currency'],
    ['stock.move.line', 'quantity', 'stock.move', 'quantity'],
    // By other means.
    ['blog.blog', 'seo_name', 'blog.post', 'website_url'],
    ['res.users', 'karma', 'res.users', 'rank_id'],
    ['res.users', 'karma', 'res.users', 'next_rank_id'],
    ['res.users', 'karma', 'gamification.karma.tracking', 'new_value'],
  ])('of %s, %s is denied as %s %s', (of, denied, model, field) => {
    expect(byTable(of, denied, model, field)).toBe(`fields["${of}"]`);
    expect(byTable(of, 'x_other', model, field)).toBe(null);
  });

  test('the name of a record of any model can be allowed by its own name', () => {
    const hidden = { 'res.partner': { deny: ['name'] } };
    expect(check(hidden, 'rating.rating', 'parent_res_name')).toBe(RULE);
    expect(
      check(
        { ...hidden, 'rating.rating': { allow: ['parent_res_name'] } },
        'rating.rating',
        'parent_res_name',
      ),
    ).toBe(null);
    expect(check({ 'res.partner': { deny: ['vat'] } }, 'rating.rating', 'parent_res_name')).toBe(null);
  });

  test('what writes a field is shown, but not what that one is computed from', () => {
    expect(byTable('ir.attachment', 'file_size', 'ir.attachment', 'checksum')).toBe(null);
  });

  const stored = (...paths: string[]): FieldType => ({ ...computed(...paths), isStored: true });
  const types = new Map<string, FieldTypes>([
    [
      'res.partner',
      new Map([
        ['peppol_endpoint', stored('vat', 'country_code')],
        ['x_vat_copy', stored('vat')],
        ['partner_share', stored('user_ids.share')],
        ['vat', char],
      ]),
    ],
    ['ir.attachment', new Map([['raw', computed('store_fname', 'db_datas')]])],
    ['sale.order', new Map([['pricelist_id', { ...stored('partner_id'), type: 'many2one' }]])],
  ]);
  const byServer = (fields: NonNullable<Policy['fields']>, model: string, field: string) =>
    new FieldCheck(new FieldRules(fields), { types, orders: ORDERS }).check(model, {
      path: [field],
      tail: null,
    })?.rule.name ?? null;

  test('a stored field shows all on which it depends, if the table says so or does not know it', () => {
    const vat = { 'res.partner': { deny: ['vat'] } };
    expect(byServer(vat, 'res.partner', 'peppol_endpoint')).toBe(RULE);
    expect(byServer(vat, 'res.partner', 'x_vat_copy')).toBe(RULE);
    expect(byServer({ 'ir.attachment': { deny: ['datas'] } }, 'ir.attachment', 'raw')).not.toBe(null);
  });

  test('a stored field of Odoo does not show what only decides its first value', () => {
    expect(byServer({ 'sale.order': { deny: ['partner_id'] } }, 'sale.order', 'pricelist_id')).toBe(null);
  });

  test('a rule that allows the other name by itself allows it', () => {
    const fields = {
      'product.*': { deny: ['standard_price'] },
      'sale.order.line': { allow: ['purchase_price'] },
    };
    expect(byServer(fields, 'sale.order.line', 'purchase_price')).toBe(null);
  });
});

test('names of records are denied with the fields that they show', () => {
  const hidden = { 'res.partner': { deny: ['name'] } };
  expect(check(hidden, 'res.partner', 'display_name')).toBe(RULE);
  expect(check(hidden, 'res.partner', 'commercial_company_name')).toBe(RULE);
  expect(check(hidden, 'sale.order', 'partner_id', 'shown')).toBe(RULE);
  expect(check(hidden, 'sale.order', 'line_ids', 'shown')).toBe(null);
  expect(check({ 'res.partner': { allow: ['email'] } }, 'sale.order', 'partner_id', 'named')).toBe(RULE);
});

test('the names that properties show are denied with those of records of any model', () => {
  const checkOf = (path: string, more: Pick<FieldUse, 'tail' | 'isListed' | 'isOrdered'>) => {
    const rules = new FieldRules({ 'res.partner': { deny: ['name'] } });
    return new FieldCheck(rules, KNOWN).check('sale.order', { path: path.split('.'), ...more })?.rule.name;
  };
  for (const tail of ['shown', 'named', 'grouped'] as const) {
    expect(checkOf('props', { tail })).toBe(RULE);
    expect(checkOf('props.a', { tail })).toBe(RULE);
  }
  expect(checkOf('props', { tail: null, isListed: true })).toBe(RULE);
  // `web_read` ignores an order that is given for the records of properties.
  expect(checkOf('props', { tail: null, isOrdered: true })).toBe(RULE);
  expect(checkOf('props.a', { tail: null })).toBe(undefined);
  expect(checkOf('props.a', { tail: 'sorted' })).toBe(undefined);
});

test.each([
  ['account.move', 'ref', 'account.move'],
  ['account.move.line', 'move_name', 'account.move.line'],
  ['purchase.order', 'partner_ref', 'purchase.order'],
  ['sale.order.line', 'ref', 'res.partner'],
  ['sale.order.line', 'name', 'sale.order'],
  ['account.move.line', 'name', 'account.move'],
  ['loyalty.card', 'name', 'loyalty.program'],
  ['account.analytic.account', 'name', 'res.partner'],
  ['res.partner', 'parent_id', 'res.partner'],
  ['loyalty.card', 'code', 'loyalty.card'],
  ['mail.blacklist', 'email', 'mail.blacklist'],
  ['phone.blacklist', 'number', 'phone.blacklist'],
  ['payment.transaction', 'reference', 'payment.transaction'],
])('the display name of %s is denied with %s of %s, which it shows', (model, field, of) => {
  const rule = `fields["${of}"]`;
  expect(check({ [of]: { deny: [field] } }, model, 'display_name')).toBe(rule);
  expect(check({ [of]: { deny: ['x_other'] } }, model, 'display_name')).toBe(null);
});

test('a hierarchy is denied with the field that leads to the parent', () => {
  const rules = (model: string, field: string) => ({ [model]: { deny: [field] } });
  expect(check(rules('res.partner', 'parent_id'), 'res.partner', PARENTS)).toBe(RULE);
  expect(check(rules('res.partner', 'parent_id'), 'sale.order', 'partner_id', 'parents')).toBe(RULE);
  expect(check(rules('stock.location', 'location_id'), 'stock.location', PARENTS)).not.toBe(null);
  expect(check(rules('stock.location', 'parent_id'), 'stock.location', PARENTS)).toBe(null);
});

test('several rules of a model hold together', () => {
  const fields = { 'res.*': { deny: ['vat'] }, 'res.partner': { allow: ['name', 'vat'] } };
  expect(check(fields, 'res.partner', 'vat')).toBe('fields["res.*"]');
  expect(check(fields, 'res.partner', 'email')).toBe(RULE);
  expect(check(fields, 'res.partner', 'name')).toBe(null);
});

test('the model of a rule is inherited, also where the types do not tell', () => {
  const rules = new FieldRules(DENY);
  const checkOf = (model: string, field: string) =>
    new FieldCheck(rules, NOTHING_KNOWN).check(model, { path: [field], tail: null })?.rule.name ?? null;
  expect(checkOf('res.users', 'vat')).toBe(RULE);
  expect(checkOf('res.users', 'login')).toBe(null);
  const own = new FieldRules({ ...DENY, 'res.users': { allow: ['login', 'vat'] } });
  expect(new FieldCheck(own, NOTHING_KNOWN).check('res.users', { path: ['vat'], tail: null })).toBe(null);
});

test('the address of a company is that of its partner; its name and searches by it are its own', () => {
  const checkOf = (denied: string, path: string, tail: Tail = null) =>
    check({ 'res.partner': { deny: [denied] } }, 'sale.order', path, tail);
  expect(checkOf('city', 'company_id.city')).toBe(RULE);
  expect(checkOf('city', 'company_id.name')).toBe(null);
  for (const denied of ['email', 'vat', 'parent_id', 'company_name']) {
    expect(checkOf(denied, 'company_id', 'searched')).toBe(null);
    expect(checkOf(denied, 'company_id', 'shown')).toBe(null);
    expect(checkOf(denied, 'company_id', 'parents')).toBe(null);
  }
});

test('a product shows the fields of its variant, also in its name and in searches by name', () => {
  const checkOf = (denied: string, field: string) => {
    const rules = new FieldRules({ 'product.product': { deny: [denied] } });
    const use = { path: [field], tail: null };
    return new FieldCheck(rules, NOTHING_KNOWN).check('product.template', use)?.rule.name ?? null;
  };
  const rule = 'fields["product.product"]';
  expect(checkOf('standard_price', 'standard_price')).toBe(rule);
  expect(checkOf('barcode', NAME_SEARCH)).toBe(rule);
  expect(checkOf('default_code', 'display_name')).toBe(rule);
  expect(checkOf('lst_price', 'lst_price')).toBe(null);
  expect(checkOf('standard_price', 'display_name')).toBe(null);
});

test.each([
  ['stock.move', 'stock.picking', 'origin'],
  ['stock.picking.type', 'stock.warehouse', 'name'],
  ['lunch.supplier', 'res.partner', 'phone'],
  ['mrp.bom', 'mrp.bom', 'code'],
])('the display name of %s shows the field of %s: %s', (model, other, field) => {
  const rules = new FieldRules({ [other]: { deny: [field] } });
  const denied = new FieldCheck(rules, NOTHING_KNOWN).check(model, { path: ['display_name'], tail: null });
  expect(denied?.rule.name).toBe(`fields["${other}"]`);
});

test('a field that is related to a field of a model without rules is followed', () => {
  const fields = new Map([
    ['user_id', to('res.users')],
    ['x_tax', related('user_id.x_number')],
    ['x_sum', computed('user_id.x_number')],
  ]);
  const rules = new FieldRules({ 'res.partner': { deny: ['vat'] } });
  const check = new FieldCheck(rules, { types: new Map([['x.invoice', fields]]), orders: null });
  expect(check.check('x.invoice', { path: ['x_tax'], tail: null })).toBe(null);
  expect(check.lacking).toEqual(new Map([['res.users', new Set(['x_number'])]]));
});

test('a search by name is denied with what the display name shows', () => {
  expect(check({ 'x.member': { deny: ['x_number'] } }, 'x.card', 'partner_id', 'searched')).toBe(null);
  expect(check({ 'x.member': { deny: ['x_number'] } }, 'x.visit', 'member_id', 'searched')).toBe(
    'fields["x.member"]',
  );
  expect(check({ 'res.partner': { deny: ['name'] } }, 'x.member', 'partner_id', 'searched')).toBe(RULE);
});

test('a condition on a field with a search method is denied with what the method compares', () => {
  const compare = (model: string, field: string, fields: NonNullable<Policy['fields']>) => {
    const clause = { kind: 'domain', base: 0 } as const;
    const use = { path: [field], tail: 'searched', clause } as const;
    return new FieldCheck(new FieldRules(fields), KNOWN).check(model, use)?.rule.name ?? null;
  };
  const denied = { 'account.analytic.account': { deny: ['code'] } };
  expect(compare('sale.order.line', 'analytic_distribution', denied)).toBe(
    'fields["account.analytic.account"]',
  );
  expect(compare('event.event', 'address_search', { 'res.partner': { deny: ['city'] } })).toBe(RULE);
  expect(compare('event.event', 'address_search', { 'res.partner': { deny: ['vat'] } })).toBe(null);
  const country = { 'res.country': { deny: ['code'] } };
  expect(compare('event.event', 'address_search', country)).toBe('fields["res.country"]');
  const state = { 'res.country.state': { deny: ['name'] } };
  expect(compare('event.event', 'address_search', state)).toBe('fields["res.country.state"]');
});

describe('a search by name is denied with the fields of other models that it compares', () => {
  const search = (model: string, fields: NonNullable<Policy['fields']>) =>
    new FieldCheck(new FieldRules(fields), KNOWN).check(model, { path: [NAME_SEARCH], tail: null })?.rule
      .name ?? null;

  test.each([
    ['sale.order.line', 'sale.order', 'name'],
    ['account.move', 'res.partner', 'name'],
    // Its search by name also searches for partners and products by name.
    ['stock.quant', 'res.partner', 'vat'],
    ['account.move.line', 'product.product', 'barcode'],
    ['account.move.line', 'res.partner', 'name'],
    // Variants are searched for by the names of their templates, and templates by the barcodes of their variants.
    ['account.move.line', 'product.template', 'name'],
    ['mrp.bom', 'product.product', 'barcode'],
  ])('%s compares %s.%s', (model, other, field) => {
    const rule = `fields["${other}"]`;
    expect(search(model, { [other]: { deny: [field] } })).toBe(rule);
    expect(search(model, { [other]: { allow: ['id'] } })).toBe(rule);
  });

  test.each([
    ['sale.order.line', 'sale.order', 'note'],
    ['sale.order.line', 'res.partner', 'vat'],
    ['account.move', 'res.partner', 'vat'],
    ['product.category', 'sale.order', 'name'],
  ])('%s does not compare %s.%s', (model, other, field) => {
    expect(search(model, { [other]: { deny: [field] } })).toBe(null);
  });
});

test('vendors in the context are checked by `deny` alone, since other calls have them too', () => {
  const use = { path: ['product_code'], tail: null, model: 'product.supplierinfo', onlyDeny: true } as const;
  const checkUse = (fields: NonNullable<Policy['fields']>) =>
    new FieldCheck(new FieldRules(fields), KNOWN).check('res.partner', use)?.rule.name ?? null;
  expect(checkUse({ 'product.*': { allow: ['name'] } })).toBe(null);
  expect(checkUse({ 'product.*': { deny: ['product_code'] } })).toBe('fields["product.*"]');
});

test('asks for the types that a path needs, one model after the other', () => {
  const known = new Map<string, FieldTypes>();
  const checkNow = () => {
    const now = new FieldCheck(new FieldRules(DENY), { types: known, orders: ORDERS });
    return { denied: now.check('sale.order', { path: ['user_id', 'partner_id', 'vat'], tail: null }), now };
  };
  expect(checkNow().denied).toBe(null);
  expect([...checkNow().now.lacking]).toEqual([['sale.order', new Set(['user_id'])]]);
  known.set('sale.order', TYPES.get('sale.order')!);
  expect([...checkNow().now.lacking.keys()]).toEqual(['res.users']);
  known.set('res.users', TYPES.get('res.users')!);
  expect(checkNow().denied).toMatchObject({ model: 'res.partner', field: 'vat' });
});

test('asks for the model of a related field, and else for no types of models that can carry no denied value', () => {
  const computedField: [string, FieldType] = ['x_computed', computed('country_id.code')];
  const known = new Map([['sale.order', new Map([...TYPES.get('sale.order')!, computedField])]]);
  const lackingFor = (fields: NonNullable<Policy['fields']>, field: string) => {
    const check = new FieldCheck(new FieldRules(fields), { types: known, orders: ORDERS });
    check.check('sale.order', { path: [field], tail: null });
    return [...check.lacking.keys()];
  };
  expect(lackingFor(DENY, 'x_computed')).toEqual([]);
  expect(lackingFor(DENY, 'x_code')).toEqual(['res.country']);
  expect(lackingFor(DENY, 'x_company_vat')).toEqual(['res.company']);
  expect(lackingFor(ALLOW, 'x_code')).toEqual(['res.country']);
});

test('a default of the context is denied whatever model it is for', () => {
  const checked = (fields: NonNullable<Policy['fields']>) =>
    new FieldCheck(new FieldRules(fields), KNOWN).check('sale.order', {
      path: ['vat'],
      tail: null,
      model: null,
    });
  expect(checked(DENY)?.rule.name).toBe(RULE);
  // Otherwise a rule that lists the fields of partners would deny each default of an order.
  expect(checked(ALLOW)).toBe(null);
});

test('a key is not shown the names of fields that it may not use', () => {
  const policy = compilePolicy({ instances: ['prod'], models: { 'res.*': ['*'] }, fields: DENY });
  expect(mayNameField(policy, 'res.partner', 'name')).toBe(true);
  expect(mayNameField(policy, 'res.partner', 'vat')).toBe(false);
  expect(mayNameField(policy, 'res.users', 'vat')).toBe(false);
  expect(mayNameField(policy, 'sale.order', 'name')).toBe(false);
  expect(mayNameField(null, 'res.partner', 'vat')).toBe(true);
});

/** The rule and field that deny the order of the model's records: `rule: model.field`. */
function checkOrder(fields: NonNullable<Policy['fields']>, model: string, known: Known = KNOWN) {
  const denied = new FieldCheck(new FieldRules(fields), known).checkOwnOrder(model);
  return denied === null || denied === 'unknown' ? denied : `${denied.model}.${denied.field}`;
}

describe('the order of a model', () => {
  const deny = (model: string, field: string) => ({ [model]: { deny: [field] } });

  test('is denied with the fields that it names, also those of related models', () => {
    expect(checkOrder(deny('sale.order', 'day'), 'sale.order')).toBe('sale.order.day');
    expect(checkOrder(deny('sale.order', 'name'), 'sale.order')).toBe(null);
    expect(checkOrder(deny('sale.order', 'day'), 'sale.order.line')).toBe('sale.order.day');
    expect(checkOrder(deny('res.partner', 'name'), 'res.partner')).toBe('res.partner.complete_name');
    expect(checkOrder(deny('res.partner', 'vat'), 'res.partner')).toBe(null);
    expect(checkOrder({ 'sale.order': { allow: ['name'] } }, 'sale.order')).toBe('sale.order.day');
    expect(checkOrder({ 'sale.order': { allow: ['day'] } }, 'sale.order')).toBe(null);
  });

  test('by a complete name is allowed with the fields of the display name', () => {
    expect(checkOrder({ 'res.partner': { allow: ['name', 'parent_id'] } }, 'res.partner')).toBe(null);
    expect(checkOrder({ 'res.partner': { allow: ['email'] } }, 'res.partner')).toBe(
      'res.partner.complete_name',
    );
    expect(checkOrder(deny('res.partner', 'complete_name'), 'res.partner')).toBe('res.partner.complete_name');
  });

  test('is unknown for a model with a rule that neither the server nor the table describes', () => {
    expect(checkOrder(deny('res.country', 'x'), 'res.country', { types: TYPES, orders: new Map() })).toBe(
      null,
    );
    expect(checkOrder(deny('x.custom', 'x'), 'x.custom')).toBe('unknown');
    expect(checkOrder(deny('res.country', 'x'), 'x.custom')).toBe(null);
  });

  test('is asked for before it is checked', () => {
    const check = new FieldCheck(new FieldRules(deny('sale.order', 'day')), { types: TYPES, orders: null });
    expect(check.checkOwnOrder('sale.order')).toBe(null);
    expect(check.lacksOrders).toBe(true);
  });

  test('that leads to a related model follows its ids with `.id`', () => {
    const types = new Map([...TYPES, ['x.by_partner', new Map([['partner_id', to('res.partner')]])]]);
    const known = { types, orders: ORDERS };
    expect(checkOrder(deny('res.partner', 'complete_name'), 'x.by_partner', known)).toBe(null);
  });

  test('is denied by a field that has the value of a denied field of a related model', () => {
    const line = new Map([
      ['move_id', to('x.move')],
      ['move_name', related('move_id.name')],
    ]);
    const types = new Map([
      ['x.line', line],
      ['x.move', new Map([['name', char]])],
    ]);
    const known = { types, orders: new Map([['x.line', 'move_name desc, id']]) };
    expect(checkOrder(deny('x.move', 'name'), 'x.line', known)).toBe('x.line.move_name');
    expect(checkOrder(deny('x.move', 'ref'), 'x.line', known)).toBe(null);
  });

  test('that leads over many models is checked at once, and each model once', () => {
    const names = Array.from({ length: 60 }, (_, index) => `f${index}`);
    const fields = new Map(names.map((name, index) => [name, to(`x.m${index}`)] as const));
    const types = new Map(names.map((_, index) => [`x.m${index}`, fields]));
    const orders = new Map(names.map((_, index) => [`x.m${index}`, names.join(', ')]));
    const known = { types, orders };
    expect(checkOrder(deny('x.m0', 'other'), 'x.m0', known)).toBe(null);
    expect(checkOrder(deny('x.m7', 'f59'), 'x.m0', known)).toBe('x.m7.f59');
    // The inverse field of each list has the same value in all records of the list.
    const lists = names.map(
      (name, index) => [name, { ...to('x.m0', 'one2many'), inverse: `f${index}` }] as const,
    );
    const check = new FieldCheck(new FieldRules(deny('x.m7', 'other')), {
      types: new Map([...types, ['x.lists', new Map(lists)]]),
      orders,
    });
    for (const name of names)
      expect(check.check('x.lists', { path: [name], tail: null, isListed: true })).toBe(null);
  });

  test('is denied by a field after one that leads to a model whose order is not known', () => {
    const rules = { ...deny('x.plan', 'secret'), ...deny('x.account', 'code') };
    const types = new Map([...TYPES, ['x.account', new Map([['plan_id', to('x.plan')]])]]);
    const known = { types, orders: new Map([['x.account', 'plan_id, code']]) };
    expect(checkOrder(rules, 'x.account', known)).toBe('x.account.code');
    expect(checkOrder(deny('x.plan', 'secret'), 'x.account', known)).toBe('unknown');
  });
});

describe('where a caller cannot choose the order', () => {
  const checked = (
    fields: NonNullable<Policy['fields']>,
    model: string,
    field: string,
    use: { tail?: Tail; isListed?: true },
  ) => {
    const check = new FieldCheck(new FieldRules(fields), KNOWN);
    return check.check(model, { path: [field], tail: null, ...use })?.order ?? null;
  };
  const orders = { 'sale.order': { deny: ['day'] } };
  const lines = { 'sale.order.line': { deny: ['sequence'] } };

  test('lists of records are denied, except by what refers to the record that has the list', () => {
    const listed = { isListed: true } as const;
    expect(checked(lines, 'sale.order', 'line_ids', listed)).toEqual({
      kind: 'listed',
      model: 'sale.order.line',
    });
    expect(checked(orders, 'sale.order', 'line_ids', listed)).toBe(null);
    expect(checked(orders, 'res.partner', 'order_ids', listed)).toMatchObject({ kind: 'listed' });
    expect(checked(lines, 'sale.order', 'line_ids', {})).toBe(null);
  });

  test('groups of records are denied', () => {
    const users = { 'res.users': { deny: ['login'] } };
    expect(checked(users, 'sale.order', 'user_id', { tail: 'grouped' })).toMatchObject({ kind: 'grouped' });
    expect(checked(users, 'sale.order', 'user_id', { tail: 'named' })).toBe(null);
    expect(checked(users, 'sale.order', 'user_id', { tail: 'sorted' })).toMatchObject({ kind: 'sorted' });
  });

  test('what `allow` leaves out is not denied, except to sort by it', () => {
    const users = { 'res.users': { allow: ['name'] } };
    expect(checked(users, 'sale.order', 'user_id', { tail: 'grouped' })).toBe(null);
    expect(
      checked({ 'sale.order.line': { allow: ['name'] } }, 'sale.order', 'line_ids', { isListed: true }),
    ).toBe(null);
    expect(checked(users, 'sale.order', 'user_id', { tail: 'sorted' })).toMatchObject({ kind: 'sorted' });
  });
});

describe('a field that the server computes from a denied field', () => {
  const number = { 'x.member': { deny: ['x_number'] } };
  const secret = { 'x.member': { deny: ['x_secret', 'x_undescribed'] } };
  test.each([
    ['x.member', 'display_name', null, number, true],
    ['x.visit', 'member_id', 'shown', number, true],
    ['x.visit', 'member_id', 'named', secret, false],
    ['x.member', 'x_plain', null, number, true],
    ['x.member', 'x_plain', null, secret, false],
    // Computed through other computed fields, one of which depends on itself.
    ['x.member', 'x_label', null, secret, true],
    ['x.member', 'x_badge', null, secret, true],
    ['x.visit', 'member_id.x_badge', null, secret, true],
    ['x.member', 'x_badge', null, number, false],
    ['x.member', 'x_other', null, secret, true],
    ['x.member', 'x_nested', null, secret, true],
    ['x.member', 'x_of_nested', null, secret, true],
    // The user may not read the denied field, so the server does not describe it.
    ['x.member', 'x_hidden', null, secret, true],
    // The server computes it from fields of related records.
    ['x.member', 'x_vats', null, DENY, true],
    ['x.member', 'x_deep_vats', null, DENY, true],
    ['x.member', 'x_deep_vats', null, number, false],
    // The record on the way is of a model that the user may not use.
    ['x.member', 'x_normalized', null, { 'res.partner': { deny: ['email'] } }, true],
    // A text that depends on a record can show its name, and nothing else of it.
    ['x.member', 'x_greeting', null, { 'res.partner': { deny: ['name'] } }, true],
    ['x.member', 'x_greeting', null, DENY, false],
    ['x.member', 'x_count', null, { 'res.partner': { deny: ['name'] } }, false],
    ['x.visit', 'display_name', null, number, true],
    ['x.visit', 'display_name', null, { 'res.partner': { deny: ['name'] } }, true],
    ['x.visit', 'display_name', null, { 'res.partner': { allow: ['email'] } }, true],
    ['x.visit', 'display_name', null, { 'res.partner': { allow: ['name'] } }, false],
    // A rule that allows the display name of a partner allows no other field in the display name of a card.
    ['x.card', 'display_name', null, { 'res.partner': { allow: ['display_name'] } }, true],
    ['x.card', 'display_name', null, { 'res.partner': { allow: ['display_name', 'vat'] } }, false],
    ['x.card', 'display_name', null, { 'x.card': { allow: ['display_name'] }, ...ALLOW }, false],
    // Fields that display names declare as dependencies, but show only if the context asks for them.
    ['account.tax', 'display_name', null, { 'account.tax': { allow: ['name', 'amount'] } }, false],
    ['stock.lot', 'display_name', null, { 'stock.lot': { allow: ['name'] } }, false],
    ['stock.location', 'display_name', null, { 'stock.location': { allow: ['name'] } }, false],
    ['uom.uom', 'display_name', null, { 'uom.uom': { allow: ['name'] } }, false],
    // The display name of a partner shows its email only if the context asks for it.
    ['res.partner', 'display_name', null, { 'res.partner': { deny: ['email', 'vat'] } }, false],
    ['res.partner', 'display_name', null, { 'res.partner': { allow: ['name'] } }, false],
    // Fields that `allow` leaves out deny the display name, unless `allow` names it. Other computed fields must be
    // named.
    ['x.member', 'display_name', null, { 'x.member': { allow: ['name', 'x_secret'] } }, true],
    ['x.member', 'display_name', null, { 'x.member': { allow: ['display_name'] } }, false],
    ['x.member', 'display_name', null, { 'x.member': { allow: ['name', 'x_number'] } }, false],
    ['x.member', 'x_badge', null, { 'x.member': { allow: ['x_badge'] } }, false],
    [
      'x.member',
      'x_vats',
      null,
      { 'x.member': { allow: ['x_vats'] }, 'res.partner': { allow: ['name'] } },
      false,
    ],
    ['x.member', 'x_vats', null, { 'x.member': { allow: ['x_vats'] }, ...DENY }, true],
  ] as const)('%s %s, %s, by %j: %s', (model, path, tail, fields, isDenied) => {
    expect(check(fields as unknown as NonNullable<Policy['fields']>, model, path, tail) !== null).toBe(
      isDenied,
    );
  });

  test('is the display name of a partner to which a module adds a code', () => {
    const partner = new Map(TYPES.get('res.partner'));
    partner.set('display_name', computed('complete_name', 'email', 'city', 'x_code')).set('x_code', char);
    const known = { types: new Map(TYPES).set('res.partner', partner), orders: ORDERS };
    const check = (rule: FieldRule) =>
      new FieldCheck(new FieldRules({ 'res.partner': rule }), known).check('sale.order', {
        path: ['partner_id'],
        tail: 'named',
      });
    expect(check({ deny: ['x_code'] })?.rule.name).toBe(RULE);
    expect(check({ deny: ['city'] })?.rule.name).toBe(RULE);
    expect(check({ deny: ['email'] })).toBeNull();
    expect(check({ allow: ['name'] })?.rule.name).toBe(RULE);
    expect(check({ allow: ['name', 'city', 'x_code'] })).toBeNull();
    expect(check({ allow: ['display_name'] })).toBeNull();
  });

  test('does not make the check ask for the fields of every model on the way', () => {
    const types = new Map([['x.member', TYPES.get('x.member')!]]);
    const checked = new FieldCheck(new FieldRules(secret), { types, orders: ORDERS });
    for (const field of types.get('x.member')!.keys())
      checked.check('x.member', { path: [field], tail: null });
    expect([...checked.lacking.keys()]).toEqual([]);
  });

  test('is searched for once among those of a display name, however often records show it', () => {
    let read = 0;
    const paths = Array.from({ length: 1000 }, (_, n) => [`c${n}`]);
    const counted: typeof paths = new Proxy(paths, {
      get: (target, name) => {
        read += 1;
        return Reflect.get(target, name);
      },
    });
    const wide = new Map([
      ['display_name', { ...char, computedFrom: counted }],
      ['parent_id', to('x.wide')],
    ]);
    const known: Known = { types: new Map([['x.wide', wide]]), orders: ORDERS };
    const checked = new FieldCheck(
      new FieldRules({ 'x.wide': { allow: ['name', 'parent_id', 'c*'] } }),
      known,
    );
    for (let n = 0; n < 100; n += 1)
      expect(checked.check('x.wide', { path: ['parent_id'], tail: 'shown' })).toBeNull();
    // An iteration also reads the length.
    expect(read).toBeLessThan(3 * paths.length);
  });

  test('is found in time linear in the fields, however they depend on each other', () => {
    const count = 50_000;
    const chain = Array.from(
      { length: count },
      (_, n) => [`c${n}`, computed(`c${(n + 1) % count}`)] as const,
    );
    const known: Known = { types: new Map([['x.chain', new Map(chain)]]), orders: ORDERS };
    const check = (deny: string) => {
      const checked = new FieldCheck(new FieldRules({ 'x.chain': { deny: [deny] } }), known);
      return chain.filter(([field]) => checked.check('x.chain', { path: [field], tail: null }) !== null)
        .length;
    };
    expect(check('vat')).toBe(0);
    expect(check('c0')).toBe(count);
  });
});

test('a field that is inherited with the one from which it is computed is denied with it', () => {
  const version = new Map([
    ['wage', char],
    ['contract_wage', computed('wage')],
    ['final_yearly_costs', computed('contract_wage')],
    ['job_title', char],
  ]);
  const types = new Map<string, FieldTypes>([
    ['hr.version', version],
    [
      'hr.employee',
      new Map([
        ['version_id', to('hr.version')],
        ...[...version.keys()].map((name): [string, FieldType] => [name, related(`version_id.${name}`)]),
      ]),
    ],
  ]);
  const deny = { 'hr.employee': { deny: ['wage'] } };
  const check = new FieldCheck(new FieldRules(deny), { types, orders: null });
  const denies = (model: string, field: string) => check.check(model, { path: [field], tail: null }) !== null;
  expect(denies('hr.employee', 'wage')).toBe(true);
  expect(denies('hr.employee', 'contract_wage')).toBe(true);
  expect(denies('hr.employee', 'final_yearly_costs')).toBe(true);
  expect(denies('hr.employee', 'job_title')).toBe(false);
  expect(denies('hr.version', 'contract_wage')).toBe(false);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RECORDED_VERSIONS, readRecordedModels } from '../../server/test/data/recorded-fields.ts';
import { chooseShown, readFields } from './fields.ts';

/** The field names of recorded records, by version and model, from real servers with demo data. */
const RECORDED: Record<string, Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../server/test/data/first-records-14-to-19.json', import.meta.url), 'utf8'),
);
for (const version of RECORDED_VERSIONS) {
  for (const [model, fields] of readRecordedModels(version))
    RECORDED[version.split('.')[0]!]![model] ??= [...fields.keys(), 'display_name'].join(' ');
}
/** The fields that people look at first, by model. One field of each group must be shown. */
const NEEDED: Record<string, string[][]> = {
  'account.move': [['move_type'], ['amount_total'], ['amount_residual'], ['partner_id'], ['currency_id']],
  'account.move.line': [['account_id'], ['debit'], ['credit'], ['move_id']],
  'crm.lead': [['expected_revenue'], ['email_from'], ['stage_id']],
  'crm.stage': [['is_won'], ['sequence']],
  'mail.activity': [['summary'], ['res_name'], ['res_model'], ['date_deadline'], ['user_id']],
  'mail.message': [['body'], ['author_id'], ['date']],
  'product.product': [['display_name'], ['lst_price'], ['qty_available']],
  'product.supplierinfo': [['product_tmpl_id'], ['price'], ['partner_id', 'name']],
  'product.template': [['list_price'], ['default_code']],
  'project.task': [['portal_user_names', 'user_id'], ['stage_id'], ['project_id']],
  'purchase.order': [['amount_total'], ['date_planned']],
  'sale.order.line': [['order_id'], ['product_id'], ['product_uom_qty'], ['price_subtotal']],
  'stock.move': [['product_id'], ['product_uom_qty'], ['location_dest_id']],
  'stock.picking': [['origin'], ['scheduled_date'], ['picking_type_id']],
  'stock.quant': [['product_id'], ['location_id'], ['quantity']],
};
const CASES = Object.entries(RECORDED).flatMap(([version, models]) =>
  Object.keys(models).map((model) => [version, model] as const),
);

test.each(CASES)('Odoo %s: what is shown of %s says what the record is about', (version, model) => {
  const names = RECORDED[version]![model]!.split(' ');
  const described = Object.fromEntries(names.map((name) => [name, { type: 'char' }]));
  const shown = chooseShown(readFields(described), model);
  expect(names).toEqual(expect.arrayContaining(shown));
  for (const group of NEEDED[model] ?? [])
    expect(
      shown.filter((name) => group.includes(name)),
      `${group}`,
    ).toHaveLength(1);
});

test('every model with expectations was recorded', () => {
  const recorded = new Set(CASES.map(([, model]) => model));
  for (const model of Object.keys(NEEDED)) expect(recorded, model).toContain(model);
});

test.each([
  ['18 and later', 'first_name last_name', ['name', 'first_name', 'last_name', 'email']],
  ['before 18', '', ['name', 'email']],
])('of a mailing contact %s, the parts of the name are shown if it has them', (_, more, first) => {
  const names = `active color company_name country_id create_date email ${more} id message_bounce name`.split(
    ' ',
  );
  const described = Object.fromEntries(names.map((name) => [name, { type: 'char' }]));
  expect(chooseShown(readFields(described), 'mailing.contact').slice(0, first.length)).toEqual(first);
});

/** The first name that an error suggests for a wrong one, among the recorded fields of Odoo 18. */
import { findNearestNames } from '@erp-proxy/text';
import { expect, test } from 'vitest';
import { readRecordedModels } from '../../server/test/data/recorded-fields.ts';
import { listOtherNames } from './other-names.ts';

const models = readRecordedModels('18.0');

test.each([
  ['res.partner', 'emial', 'email'],
  ['res.partner', 'e_mail', 'email'],
  ['res.partner', 'phone_number', 'phone'],
  ['res.partner', 'street_2', 'street2'],
  ['res.partner', 'zip_code', 'zip'],
  ['res.partner', 'zipcode', 'zip'],
  ['res.partner', 'postal_code', 'zip'],
  ['res.partner', 'countryId', 'country_id'],
  ['res.partner', 'parent', 'parent_id'],
  ['res.partner', 'vat_number', 'vat'],
  ['res.partner', 'tax_id', 'vat'],
  ['res.partner', 'tags', 'category_id'],
  ['res.partner', 'categories', 'category_id'],
  ['res.partner', 'children', 'child_ids'],
  ['res.partner', 'isCompany', 'is_company'],
  ['res.partner', 'created_at', 'create_date'],
  ['res.partner', 'updated_at', 'write_date'],
  ['sale.order', 'order_lines', 'order_line'],
  ['sale.order', 'order_line_ids', 'order_line'],
  ['sale.order', 'total', 'amount_total'],
  ['sale.order', 'amount', 'amount_total'],
  ['sale.order', 'order_date', 'date_order'],
  ['sale.order', 'status', 'state'],
  ['sale.order', 'parnter_id', 'partner_id'],
  ['sale.order', 'customer', 'partner_id'],
  ['sale.order', 'invoice_state', 'invoice_status'],
  ['sale.order', 'delivery_date', 'commitment_date'],
  ['sale.order', 'customer_reference', 'client_order_ref'],
  ['sale.order.line', 'quantity', 'product_uom_qty'],
  ['sale.order.line', 'price', 'price_unit'],
  ['sale.order.line', 'taxes', 'tax_id'],
  ['account.move', 'due_date', 'invoice_date_due'],
  ['account.move', 'amount_due', 'amount_residual'],
  ['account.move', 'invoice_lines', 'invoice_line_ids'],
  ['account.move', 'refrence', 'ref'],
  ['product.template', 'sales_price', 'list_price'],
  ['product.template', 'cost', 'standard_price'],
  ['product.template', 'category', 'categ_id'],
  ['product.template', 'sku', 'default_code'],
  ['product.template', 'internal_reference', 'default_code'],
  ['product.template', 'stock', 'qty_available'],
  ['product.template', 'image', 'image_1920'],
  ['crm.lead', 'email', 'email_from'],
  ['crm.lead', 'planned_revenue', 'expected_revenue'],
  ['crm.lead', 'sales_team', 'team_id'],
])('of %s: %s stands for %s', (model, name, field) => {
  const known = [...(models.get(model)?.keys() ?? [])].sort();
  const listOtherTexts = (each: string) => listOtherNames('field', each);
  expect(known).not.toContain(name);
  expect(findNearestNames(name, known, 5, { listOtherTexts })[0]).toBe(field);
});

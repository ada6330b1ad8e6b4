/** Models of the sandbox with some of their fields and records, for random calls. */
import type { Vocabulary } from './field-calls.ts';

export const WORDS: Vocabulary = {
  'res.partner': {
    ids: [9, 10, 15, 16, 21, 22, 23],
    fields: [
      'name',
      'email',
      'city',
      'ref',
      'vat',
      'barcode',
      'credit_limit',
      'phone',
      'comment',
      'is_company',
      'type',
    ],
    relations: {
      parent_id: 'res.partner',
      child_ids: 'res.partner',
      user_id: 'res.users',
      user_ids: 'res.users',
      category_id: 'res.partner.category',
    },
  },
  'res.partner.category': {
    ids: [1, 2, 3],
    fields: ['name', 'color'],
    relations: { partner_ids: 'res.partner' },
  },
  'crm.lead': {
    ids: [1, 2, 3],
    fields: ['name', 'priority', 'probability', 'date_deadline'],
    relations: { stage_id: 'crm.stage', partner_id: 'res.partner', tag_ids: 'crm.tag' },
  },
  'crm.stage': { ids: [1, 2, 3], fields: ['name', 'sequence'], relations: {} },
  'crm.tag': { ids: [1, 2], fields: ['name', 'color'], relations: {} },
  'res.users': { ids: [2, 6], fields: ['name', 'login', 'vat'], relations: { partner_id: 'res.partner' } },
  'res.company': { ids: [1], fields: ['name', 'vat', 'email'], relations: { partner_id: 'res.partner' } },
  'product.template': { ids: [1, 2], fields: ['name', 'list_price', 'standard_price'], relations: {} },
  'product.product': {
    ids: [1, 2],
    fields: ['name', 'default_code', 'lst_price', 'standard_price'],
    relations: { product_tmpl_id: 'product.template' },
  },
  'sale.order': {
    ids: [1, 2, 3],
    fields: ['name', 'state', 'amount_total', 'note', 'client_order_ref', 'date_order'],
    relations: { partner_id: 'res.partner', user_id: 'res.users', order_line: 'sale.order.line' },
  },
  'sale.order.line': {
    ids: [1, 2],
    fields: ['name', 'sequence', 'product_uom_qty', 'price_unit'],
    relations: { order_id: 'sale.order', product_id: 'product.product' },
  },
};

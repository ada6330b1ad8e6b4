/** Some models for tests, in the form that `erp-proxy types` writes. */
export interface Models {
  'res.country': ResCountry;
  'res.partner': ResPartner;
  'sale.order': SaleOrder;
}

interface ResCountry {
  id: { type: 'integer'; readonly: true };
  code: { type: 'char' };
  name: { type: 'char'; required: true };
}

interface ResPartner {
  id: { type: 'integer'; readonly: true };
  /** Active */
  active: { type: 'boolean' };
  child_ids: { type: 'one2many'; relation: 'res.partner' };
  category_id: { type: 'many2many'; relation: 'res.partner.category' };
  color: { type: 'integer' };
  comment: { type: 'html' };
  country_id: { type: 'many2one'; relation: 'res.country' };
  create_date: { type: 'datetime'; readonly: true };
  credit_limit: { type: 'float' };
  email: { type: 'char' };
  image_1920: { type: 'binary' };
  name: { type: 'char'; required: true };
  parent_id: { type: 'many2one'; relation: 'res.partner' };
  ref: { type: 'char' };
  type: { type: 'selection'; values: 'contact' | 'invoice' | 'delivery' | 'other' };
  user_id: { type: 'many2one'; relation: 'res.users' };
}

interface SaleOrder {
  id: { type: 'integer'; readonly: true };
  amount_total: { type: 'monetary'; readonly: true };
  name: { type: 'char'; required: true };
  partner_id: { type: 'many2one'; relation: 'res.partner'; required: true; noDefault: true };
  state: { type: 'selection'; values: 'draft' | 'sent' | 'sale' | 'cancel'; readonly: true };
}

/**
 * Fields whose value is the value of other fields, as data: names of records, models that inherit the fields of another
 * one, and fields that have the same name in many models. Not listed are fields that Odoo declares as `related`, since
 * `fields_get` describes them, and the fields in computed-fields-table.ts. Contains no decisions.
 */

/** Used like the name of a field, for a search by name in a model: it compares fields that depend on the model. */
export const NAME_SEARCH = ' name search';

/** Used like the name of a field, for the field that leads to the parent of a record. */
export const PARENTS = ' parents';

/** Models whose records have all fields of another record (`_inherits`). */
export const INHERITED_MODELS: ReadonlyMap<string, readonly string[]> = new Map([
  ['res.users', ['res.partner']],
  ['product.product', ['product.template']],
  ['hr.employee', ['resource.resource', 'hr.version']],
  ['hr.employee.public', ['hr.employee', 'resource.resource']],
  ['account.bank.statement.line', ['account.move']],
  ['account.payment', ['account.move']],
  ['account.setup.bank.manual.config', ['res.partner.bank']],
  ['ir.cron', ['ir.actions.server']],
  ['mail.mail', ['mail.message']],
  ['product.document', ['ir.attachment']],
  ['quotation.document', ['ir.attachment']],
  ['mrp.document', ['ir.attachment']],
  ['website.page', ['ir.ui.view']],
  ['website.controller.page', ['ir.ui.view']],
  ['mailing.mailing', ['utm.source']],
  ['hr.recruitment.source', ['utm.source']],
]);

/**
 * Rows as in computed-fields-table.ts, which add to them: fields that a user may change, and that repeat another field,
 * and the value of a stock, which Odoo sums by a query over what was valued at the cost of the product (14 to 18).
 */
export const FURTHER_FIELDS = `
account.move date=invoice_date
sale.order prepayment_percent=res.company:prepayment_percent
product.product avg_cost=standard_price total_value=standard_price value_svl=standard_price
stock.lot avg_cost=standard_price,product.product:standard_price value_svl=standard_price,product.product:standard_price
`;

/** The address of a partner. */
const ADDRESS: readonly string[] = ['street', 'street2', 'zip', 'city', 'state_id', 'country_id'];
/** Fields that a model computes from fields of its partner, and does not declare as related. */
const FIELDS_OF_PARTNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['res.company', ADDRESS],
  ['crm.lead', ADDRESS],
  ['event.registration', ['name', 'email', 'phone', 'mobile', 'company_name']],
]);

/**
 * Fields that a product with one variant computes from the variant. Its name and the search by name use some of them.
 */
const FIELDS_OF_VARIANTS: ReadonlySet<string> = new Set([
  'barcode',
  'default_code',
  'standard_price',
  'volume',
  'weight',
  'display_name',
  NAME_SEARCH,
]);

/** Models from which a model takes the value of its field of this name, whatever `fields_get` says. */
export function listSameFields(model: string, field: string): readonly string[] {
  if (FIELDS_OF_PARTNERS.get(model)?.includes(field)) return ['res.partner'];
  if (model === 'product.template' && FIELDS_OF_VARIANTS.has(field)) return ['product.product'];
  return INHERITED_MODELS.get(model) ?? NONE;
}

/** The fields that the display name of a record shows. */
const NAME_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['res.partner.bank', ['acc_number']],
  ['res.bank', ['name', 'bic']],
  ['product.template', ['name', 'default_code']],
  ['product.product', ['name', 'default_code']],
  ['account.account', ['name', 'code']],
  ['ir.model.fields', ['field_description', 'model']],
  ['mail.message', ['record_name', 'subject']],
  ['account.move', ['name', 'ref', 'state', 'move_type']],
  ['account.move.line', ['name', 'ref', 'move_id', 'move_name', 'product_id']],
  ['account.analytic.account', ['name', 'code', 'partner_id']],
  ['purchase.order', ['name', 'partner_ref']],
  ['sale.order.line', ['name', 'order_id', 'product_id', 'order_partner_id']],
  ['loyalty.card', ['code', 'program_id']],
  ['mail.blacklist', ['email']],
  ['phone.blacklist', ['number']],
  ['payment.transaction', ['reference']],
  ['mrp.bom', ['code', 'product_tmpl_id']],
]);
/**
 * Fields of related records that the display name of a record shows, such as the order's number in the name of a line.
 */
const NAME_FIELDS_OF_OTHERS: ReadonlyMap<string, readonly { model: string; field: string }[]> = new Map([
  [
    'sale.order.line',
    [
      { model: 'sale.order', field: 'name' },
      { model: 'res.partner', field: 'ref' },
      { model: 'res.partner', field: 'name' },
      { model: 'product.product', field: 'name' },
      { model: 'product.template', field: 'name' },
    ],
  ],
  ['account.move.line', [{ model: 'account.move', field: 'name' }]],
  ['loyalty.card', [{ model: 'loyalty.program', field: 'name' }]],
  [
    'stock.move',
    [
      { model: 'stock.picking', field: 'origin' },
      { model: 'product.product', field: 'default_code' },
      { model: 'stock.location', field: 'name' },
    ],
  ],
  ['stock.picking.type', [{ model: 'stock.warehouse', field: 'name' }]],
  ['fleet.vehicle.model', [{ model: 'fleet.vehicle.model.brand', field: 'name' }]],
  ['lunch.supplier', [{ model: 'res.partner', field: 'phone' }]],
  [
    'account.analytic.line',
    [
      { model: 'project.project', field: 'name' },
      { model: 'project.task', field: 'name' },
    ],
  ],
  ['account.analytic.account', [{ model: 'res.partner', field: 'name' }]],
]);
/** Fields whose value can be seen in the display name of some records: `Azure Interior, Brandon Freeman`. */
const SIMILAR_NAME_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['res.partner', ['parent_id']],
  ['hr.leave', ['duration_display']],
  ['res.partner.bank', ['bank_name', 'bank_id']],
]);
const USUAL_NAME_FIELDS = ['name'];
/** Models whose display name shows other fields than the usual ones. */
export const SPECIAL_NAME_MODELS: readonly string[] = [...NAME_FIELDS.keys(), ...SIMILAR_NAME_FIELDS.keys()];
/** Fields that show the name of a record of any model, in attachments, activities, messages and ratings. */
const RECORD_NAMES: ReadonlySet<string> = new Set(['res_name', 'parent_res_name', 'record_name']);

/** Whether the field shows the name of a record of any model. The name of an external id is that of its record. */
export function showsAnyName(model: string, field: string): boolean {
  return RECORD_NAMES.has(field) || (model === 'ir.model.data' && field === 'display_name');
}

/** Fields that show the same as the name of a record. */
const NAMES: readonly string[] = ['x_name', 'complete_name', 'company_name', 'commercial_company_name'];

/**
 * `model` null: any model. `similar`: further fields whose value shows the display name, or is shown by it. `ofOthers`:
 * fields of related records.
 */
export function listNameFields(model: string | null): {
  shown: readonly string[];
  similar: readonly string[];
  ofOthers: readonly { model: string; field: string }[];
} {
  if (model === null) return { shown: USUAL_NAME_FIELDS, similar: NAMES, ofOthers: [] };
  return {
    shown: NAME_FIELDS.get(model) ?? USUAL_NAME_FIELDS,
    similar: [...NAMES, ...(SIMILAR_NAME_FIELDS.get(model) ?? NONE)],
    ofOthers: NAME_FIELDS_OF_OTHERS.get(model) ?? [],
  };
}

/**
 * Fields on which Odoo's own display name of a model declares to depend, but which it shows only with certain members
 * of the context (field-context.ts), or never (docs/odoo-facts.md#computed-fields). If a module makes the name depend
 * on another field that such a member adds, the name may always show that field.
 */
const UNSHOWN_NAME_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  // `is_company` and `type` in 14 to 16: whether to show the company, and the kind of an address without a name.
  ['res.partner', ['email', 'vat', 'state_id', 'country_id', 'is_company', 'type']],
  ['res.users', ['leave_date_to']],
  ['product.product', ['product_tmpl_id']],
  ['sale.order', ['partner_id']],
  ['sale.order.line', ['remaining_hours_available', 'remaining_hours']],
  ['purchase.order', ['amount_total', 'currency_id']],
  ['account.move', ['partner_id', 'date']],
  ['account.tax', ['type_tax_use', 'tax_scope']],
  ['event.event', ['seats_available', 'seats_limited', 'seats_max']],
  ['event.event.ticket', ['seats_available', 'seats_limited', 'seats_max']],
  ['hr.leave', ['tz', 'leave_type_request_unit']],
  ['stock.location', ['usage']],
  ['stock.lot', ['use_expiration_date', 'expiration_date', 'alert_date', 'removal_date']],
  ['stock.package', ['package_type_id']],
  ['uom.uom', ['relative_factor', 'relative_uom_id']],
]);

/** Whether the display name of a record shows a field on which it declares to depend, whatever the context. */
export function showsInName(model: string, field: string): boolean {
  return UNSHOWN_NAME_FIELDS.get(model)?.includes(field) !== true;
}

const NONE: readonly string[] = [];

/** Models whose hierarchy (`child_of`, search panels) follows another field than `parent_id` (`_parent_name`). */
const PARENT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['stock.location', 'location_id'],
  ['stock.package', 'parent_package_id'],
  ['uom.uom', 'relative_uom_id'],
]);

/** The field that leads to the parent of a record. */
export function findParentField(model: string | null): string {
  return (model !== null && PARENT_FIELDS.get(model)) || 'parent_id';
}

/** The fields that a search by name compares, in any version. */
const SEARCHED_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'res.partner',
    ['name', 'complete_name', 'display_name', 'email', 'ref', 'vat', 'company_registry', 'phone', 'mobile'],
  ],
  ['res.users', ['name', 'login']],
  ['res.partner.category', ['name', 'parent_id']],
  ['res.country', ['name', 'code']],
  ['res.country.state', ['name', 'code']],
  ['res.currency', ['name', 'full_name']],
  ['res.company', ['name']],
  ['res.bank', ['name', 'bic']],
  ['product.template', ['name', 'default_code', 'barcode']],
  ['product.product', ['name', 'default_code', 'barcode']],
  ['product.category', ['name', 'complete_name', 'parent_id']],
  ['crm.stage', ['name']],
  ['crm.tag', ['name']],
]);

/** Fields that a search by name compares and that show no more than the name: `US Dollar` for `USD`. */
const SAME_AS_NAME: ReadonlySet<string> = new Set(['res.currency full_name']);

/** Whether comparing the field reveals no more than the name of the record. */
export function isSameAsName(model: string, field: string): boolean {
  return SAME_AS_NAME.has(`${model} ${field}`);
}

/** Null if the model is not in the table: a search by name may compare any field. */
export function listSearchedFields(model: string): readonly string[] | null {
  return SEARCHED_FIELDS.get(model) ?? null;
}

const AMOUNTS: readonly string[] = ['amount_total', 'amount_untaxed', 'amount_tax'];

/** Computed fields that show the value of other fields of the record, whatever the model. */
const SHOWN_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['complete_name', ['name', 'company_name']],
  ['commercial_company_name', ['name', 'company_name']],
  ['email_normalized', ['email', 'email_from']],
  ['email_formatted', ['name', 'email']],
  ['phone_sanitized', ['phone', 'mobile']],
  ['phone_mobile_search', ['phone', 'mobile', 'partner_phone', 'partner_mobile']],
  ['mobile_blacklisted', ['mobile']],
  ['phone_blacklisted', ['phone']],
  ['phone_sanitized_blacklisted', ['phone', 'mobile']],
  ['is_blacklisted', ['email', 'email_from']],
  ['contact_address', ADDRESS],
  ['contact_address_complete', ADDRESS],
  ['contact_address_inline', ADDRESS],
  ['country_code', ['country_id']],
  ['street_name', ['street']],
  ['street_number', ['street']],
  ['street_number2', ['street']],
  ['partner_gid', ['company_registry']],
  // The URL of a page ends with the record's name: `/shop/furn-6666-acoustic-bloc-screens-23`.
  ['website_url', ['display_name', 'seo_name']],
  // The placeholder of `vat`, which forms show while it is empty.
  ['partner_vat_placeholder', ['vat']],
  ['same_vat_partner_id', ['vat']],
  ['same_company_registry_partner_id', ['company_registry']],
  ['fiscal_country_codes', ['country_id']],
  ['company_type', ['is_company']],
  ['tz_offset', ['tz']],
  // Earlier texts of a field of HTML (18, 19).
  ['html_field_history', ['description', 'body']],
  ['signup_valid', ['signup_token', 'signup_expiration']],
  ['image_1024', ['image_1920']],
  ['image_512', ['image_1920']],
  ['image_256', ['image_1920']],
  ['image_128', ['image_1920']],
  ['avatar_1920', ['image_1920', 'name']],
  ['avatar_1024', ['image_1920', 'image_1024', 'name']],
  ['avatar_512', ['image_1920', 'image_512', 'name']],
  ['avatar_256', ['image_1920', 'image_256', 'name']],
  ['avatar_128', ['image_1920', 'image_128', 'name']],
  ['lst_price', ['list_price']],
  ['amount_undiscounted', AMOUNTS],
  ['amount_to_invoice', AMOUNTS],
  ['amount_invoiced', AMOUNTS],
  ['tax_totals', AMOUNTS],
  ['tax_totals_json', AMOUNTS],
  ['amount_total_signed', ['amount_total']],
  ['amount_total_in_currency_signed', ['amount_total']],
  ['amount_total_words', ['amount_total']],
  ['amount_untaxed_signed', ['amount_untaxed']],
  ['amount_tax_signed', ['amount_tax']],
]);

export function listShownFields(field: string): readonly string[] {
  return SHOWN_FIELDS.get(field) ?? NONE;
}

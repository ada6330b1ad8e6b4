/**
 * Members of a context that make Odoo use fields, as data. `scripts/odoo-tables/field_sources.py --keys` prints the
 * members that display names read; the rows were chosen from its output for Odoo Community 14 to 19. Contains no
 * decisions.
 */

export interface ContextFields {
  member: string;
  /** The model of the fields; null: any model. */
  model: string | null;
  fields: readonly string[];
  /** The only value of the member that makes Odoo use the fields; undefined: any value but an empty one. */
  value?: false;
  /**
   * Only rules with `deny` deny the fields. The member also has uses in calls of other models, so rules with `allow`
   * ignore it.
   */
  onlyDeny?: true;
  /** The records are sorted by the fields, and no name shows them. */
  isOrder?: true;
}

const ADDRESS = ['street', 'street2', 'zip', 'city', 'state_id', 'country_id'];
const LOT_DATES = ['use_expiration_date', 'expiration_date', 'alert_date', 'removal_date'];
const SUPPLIER_PRICES = ['partner_id', 'min_qty', 'price'];
const PACKAGE_SIZES = ['packaging_length', 'width', 'height'];
const QUANT_PLACES = ['location_id', 'lot_id', 'owner_id', 'package_id'];
const LEAVES_LEFT = ['max_leaves', 'virtual_remaining_leaves'];
const SUPPLIER_NAMES = ['product_name', 'product_code'];

export const CONTEXT_FIELDS: readonly ContextFields[] = [
  // Added to the display name of a partner (`_get_name`, `_compute_display_name`), in 14 to 19.
  { member: 'show_address', model: 'res.partner', fields: ADDRESS },
  { member: 'show_address_only', model: 'res.partner', fields: ADDRESS },
  { member: 'show_email', model: 'res.partner', fields: ['email'] },
  { member: 'show_vat', model: 'res.partner', fields: ['vat'] },
  // Added to the display names of other records, in 14 to 19 unless a comment names versions.
  { member: 'sale_show_partner_name', model: 'sale.order', fields: ['partner_id'] },
  { member: 'sale_show_partner_name', model: 'res.partner', fields: ['name'] },
  { member: 'input_full_display_name', model: 'account.move', fields: ['partner_id', 'date'] },
  { member: 'input_full_display_name', model: 'res.partner', fields: ['name'] },
  { member: 'show_total_amount', model: 'purchase.order', fields: ['amount_total'] },
  { member: 'name_as_amount_total', model: 'account.move', fields: ['amount_total'] },
  { member: 'name_groupby', model: 'account.move', fields: ['partner_id', 'date', 'ref'] },
  { member: 'name_groupby', model: 'res.partner', fields: ['name'] },
  { member: 'append_type_to_tax_name', model: 'account.tax', fields: ['type_tax_use'] },
  { member: 'append_fields', model: 'account.tax', fields: ['type_tax_use', 'company_id'] },
  { member: 'append_fields', model: 'res.company', fields: ['name'] },
  { member: 'display_account_trust', model: 'res.partner.bank', fields: ['allow_out_payment'] },
  { member: 'show_payment_journal_id', model: 'account.payment.method.line', fields: ['journal_id'] },
  { member: 'show_payment_journal_id', model: 'account.journal', fields: ['name'] },
  { member: 'use_simplified_supplier_name', model: 'product.supplierinfo', fields: SUPPLIER_PRICES },
  { member: 'use_simplified_supplier_name', model: 'res.partner', fields: ['name'] },
  { member: 'show_variant_name', model: 'product.uom', fields: ['product_id'] },
  { member: 'show_variant_name', model: 'product.product', fields: ['name'] },
  { member: 'display_bom_uom_qty', model: 'mrp.bom', fields: ['product_qty'] },
  { member: 'prefix_product', model: 'mrp.workorder', fields: ['product_id', 'production_id'] },
  { member: 'display_milestone_deadline', model: 'project.milestone', fields: ['deadline'] },
  { member: 'crm_formatted_display_name_team', model: 'crm.team', fields: ['user_id'] },
  { member: 'show_partner_name', model: 'hr.applicant', fields: ['partner_name'] },
  { member: 'from_manager_leave_form', model: 'hr.leave.type', fields: LEAVES_LEFT },
  { member: 'employee_id', model: 'hr.leave.type', fields: LEAVES_LEFT, onlyDeny: true },
  { member: 'employee_id', model: 'hr.employee', fields: ['total_overtime'], onlyDeny: true },
  { member: 'from_skill_level_dropdown', model: 'hr.skill.level', fields: ['level_progress'] },
  { member: 'from_skill_dropdown', model: 'hr.skill', fields: ['skill_type_id'] },
  { member: 'display_key', model: 'ir.ui.view', fields: ['key'] },
  { member: 'display_website', model: 'ir.ui.view', fields: ['website_id'] },
  { member: 'display_website', model: 'website.menu', fields: ['website_id'] },
  { member: 'display_website', model: 'website', fields: ['name'] },
  { member: 'add_to_existing_batch', model: 'stock.picking.batch', fields: ['description'] },
  // Products show the name and code of this vendor, which Odoo reads without the user's rights.
  { member: 'partner_id', model: 'product.supplierinfo', fields: SUPPLIER_NAMES, onlyDeny: true },
  { member: 'seller_id', model: 'product.supplierinfo', fields: SUPPLIER_NAMES, onlyDeny: true },
  { member: 'with_remaining_hours', model: 'sale.order.line', fields: ['remaining_hours'] },
  { member: 'with_price_unit', model: 'sale.order.line', fields: ['price_unit'] },
  // Names of events and their tickets show the seats that are left, names of tasks the hours.
  { member: 'name_with_seats_availability', model: 'event.event', fields: ['seats_available'] },
  { member: 'name_with_seats_availability', model: 'event.slot', fields: ['seats_available'] },
  { member: 'name_with_seats_availability', model: 'event.event.ticket', fields: ['seats_available'] },
  { member: 'hr_timesheet_display_remaining_hours', model: 'project.task', fields: ['remaining_hours'] },
  // From 17 on, partners are sorted first by these fields; in 15 and 16 only the partners found by a search by name.
  {
    member: 'res_partner_search_mode',
    model: 'res.partner',
    fields: ['customer_rank', 'supplier_rank'],
    isOrder: true,
  },
  // 19: names for lists of choices.
  { member: 'formatted_display_name', model: 'res.partner', fields: ['parent_id', 'company_name'] },
  { member: 'formatted_display_name', model: 'res.users', fields: ['leave_date_to'] },
  { member: 'formatted_display_name', model: 'account.account', fields: ['description'] },
  { member: 'formatted_display_name', model: 'account.tax', fields: ['tax_scope'], onlyDeny: true },
  { member: 'formatted_display_name', model: 'crm.team', fields: ['user_id'], onlyDeny: true },
  { member: 'formatted_display_name', model: 'product.product', fields: ['last_purchase_date'] },
  { member: 'formatted_display_name', model: 'uom.uom', fields: ['relative_factor', 'relative_uom_id'] },
  { member: 'formatted_display_name', model: 'stock.lot', fields: LOT_DATES },
  { member: 'show_lot_removal_date', model: 'stock.lot', fields: LOT_DATES },
  { member: 'formatted_display_name', model: 'stock.package', fields: ['package_type_id'] },
  { member: 'formatted_display_name', model: 'stock.package.type', fields: PACKAGE_SIZES, onlyDeny: true },
  { member: 'formatted_display_name', model: 'stock.quant', fields: QUANT_PLACES, onlyDeny: true },
  // Comparing the answers with and without `active_test` would show the value of `active`.
  { member: 'active_test', model: null, fields: ['active'], value: false },
];

/** Members whose value is a domain, with the model that Odoo searches by it. */
export const CONTEXT_DOMAINS: ReadonlyMap<string, string> = new Map([
  // 19: with it, a condition on `suggested_qty` finds the products of this domain.
  ['suggest_domain', 'product.product'],
]);

/** A member with one of these prefixes names a field after the prefix. `any`: the field can be of any model. */
export const CONTEXT_PREFIXES: readonly { prefix: string; any: boolean }[] = [
  // The prefix also sets defaults of records that are created in related models.
  { prefix: 'default_', any: true },
  { prefix: 'search_default_', any: false },
];

/** Members whose value names fields to group by. */
export const CONTEXT_GROUPS: ReadonlySet<string> = new Set(['group_by']);

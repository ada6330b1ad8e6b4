/**
 * The members of a context that a key which only reads may send. In Odoo, a read can write or lift a check because of
 * its context: `read` of `signup_url` with `signup_valid` makes a token that signs in (14 to 17).
 *
 * The names were chosen from the output of `scripts/odoo-tables` for Odoo Community 14 to 19: names that select
 * records, or choose what a read formats or computes. Not every function that uses them was read.
 */

/** Members that choose the user, the language, the companies, and which records are found. */
const COMMON = `active_id active_ids active_model active_test allowed_company_ids bin_size company_id fill_temporal
  force_company group_by import_compat include_binary_content lang params res_partner_search_mode tz uid website_id`;

/** Members that choose what a display name shows. */
const NAMES = `add_to_existing_batch address_inline append_type_to_tax_name display_account_trust display_bom_uom_qty
  display_default_code display_key display_milestone_deadline display_website formatted_display_name
  from_manager_leave_form from_skill_dropdown from_skill_level_dropdown hide_employee_name hide_model
  hide_partner_ref hide_payment_journal_id hierarchical_naming holiday_status_display_name holiday_status_name_get
  hr_timesheet_display_remaining_hours html_format input_full_display_name name_as_amount_total
  name_with_seats_availability no_copy_in_partner_name partner_category_display partner_display_name_hide_company
  partner_show_db_id prefix_product sale_show_partner_name short_display_name short_name show_address
  show_address_only show_attribute show_dest_package show_email show_lot_removal_date show_partner_name
  show_payment_journal_id show_src_package show_total_amount show_variant_name show_vat show_workcenter_status
  use_simplified_supplier_name with_expiration with_price_unit with_remaining_hours`;

/** Members that choose for what prices, stock and sums are computed. */
const COMPUTED = `analytic_plan_id category_id compute_child country_id date date_end date_from date_start date_to
  employee_id end_date from_date has_tax initial_bal is_payment journal_id journal_ids journal_type location lot_id
  move_date move_type order_id owner_id package_id partner partner_id pricelist product product_id product_ids
  product_tmpl_id project_id quantity search_location search_product_product search_warehouse seller_id start_date
  state strict strict_range tag_ids to_currency to_date transaction_type unit uom warehouse warehouse_id`;

/** Members that Odoo uses only when it writes. Programs send the same context with every call. */
const OF_WRITES = `mail_auto_subscribe_no_notify mail_create_nolog mail_create_nosubscribe mail_notrack
  no_reset_password tracking_disable`;

const HARMLESS = new Set([COMMON, NAMES, COMPUTED, OF_WRITES].flatMap((names) => names.split(/\s+/)));
/** `default_` applies to records that are created. `bin_size_` returns the size of one field in place of its value. */
const HARMLESS_PREFIXES = ['bin_size_', 'default_', 'search_default_'];

/** Whether a read with this member of the context is known to do nothing but read. */
export function isReadingMember(name: string): boolean {
  return HARMLESS.has(name) || HARMLESS_PREFIXES.some((prefix) => name.startsWith(prefix));
}

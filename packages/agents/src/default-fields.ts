/**
 * Fields of common models that are shown unless the caller names others. Only data. The list of a model can have names
 * of all versions, because a field that the server lacks is left out.
 */

const DEFAULT_FIELDS: Readonly<Record<string, string>> = {
  'account.account': 'code name account_type user_type_id internal_type reconcile deprecated active',
  'account.analytic.line': 'date employee_id user_id name project_id task_id unit_amount amount',
  'account.bank.statement.line': 'date payment_ref partner_id amount currency_id is_reconciled statement_id',
  'account.journal': 'code name type currency_id company_id',
  'account.move':
    'name move_type partner_id state payment_state invoice_date invoice_date_due ref invoice_origin amount_total amount_residual currency_id',
  'account.move.line':
    'move_id date account_id partner_id name product_id quantity debit credit amount_residual company_currency_id',
  'account.payment':
    'name payment_type partner_id amount currency_id date state journal_id ref memo is_reconciled',
  'account.tax': 'name type_tax_use amount_type amount price_include active company_id',
  'calendar.event': 'name start stop allday location user_id partner_ids description',
  'crm.lead':
    'name type partner_id partner_name contact_name email_from phone stage_id expected_revenue company_currency probability user_id date_deadline create_date',
  'crm.stage': 'name sequence is_won fold team_id team_ids',
  'crm.team': 'name user_id company_id',
  'helpdesk.ticket': 'name partner_id stage_id user_id team_id priority create_date',
  'hr.department': 'name complete_name parent_id manager_id',
  'hr.employee': 'name job_title job_id department_id parent_id work_email work_phone mobile_phone',
  'hr.expense': 'name employee_id date product_id total_amount total_amount_currency currency_id state',
  'hr.leave':
    'employee_id holiday_status_id request_date_from request_date_to number_of_days state name private_name',
  'ir.attachment': 'name mimetype file_size res_model res_id url create_date',
  'mail.activity':
    'res_model res_id res_name activity_type_id summary note date_deadline user_id state create_date',
  'mail.message': 'date author_id email_from model res_id record_name message_type subtype_id subject body',
  'mailing.contact': 'name first_name last_name email company_name country_id create_date',
  'mrp.production':
    'name product_id product_qty qty_producing product_uom_id state date_planned_start date_start origin',
  'product.category': 'complete_name parent_id',
  'product.pricelist.item':
    'pricelist_id product_tmpl_id product_id categ_id compute_price fixed_price percent_price price_discount min_quantity date_start date_end',
  'product.product':
    'display_name default_code barcode lst_price currency_id standard_price qty_available uom_id categ_id type',
  'product.supplierinfo':
    'name partner_id product_tmpl_id product_id product_name product_code min_qty price currency_id delay date_start date_end',
  'product.template':
    'name default_code barcode list_price currency_id standard_price qty_available uom_id categ_id type product_variant_count',
  'project.project':
    'name partner_id user_id stage_id last_update_status date_start date allocated_hours task_count',
  'project.task':
    'name project_id stage_id state kanban_state user_id user_ids portal_user_names partner_id date_deadline priority parent_id',
  'purchase.order':
    'name partner_id state date_order date_planned amount_total currency_id invoice_status partner_ref origin user_id',
  'purchase.order.line':
    'order_id product_id name product_qty qty_received qty_invoiced price_unit price_subtotal currency_id date_planned',
  'res.partner': 'name parent_id ref vat email phone mobile city country_id user_id',
  'res.users': 'name login email phone company_id share login_date',
  'sale.order':
    'name partner_id state date_order commitment_date amount_total currency_id invoice_status client_order_ref user_id',
  'sale.order.line':
    'order_id product_id name product_uom_qty qty_delivered qty_invoiced price_unit discount price_subtotal currency_id',
  'stock.location': 'complete_name usage company_id',
  'stock.lot': 'name product_id product_qty expiration_date',
  'stock.move':
    'reference product_id product_uom_qty quantity quantity_done product_uom state location_id location_dest_id picking_id date origin',
  'stock.move.line':
    'reference product_id lot_id qty_done quantity product_uom_id state location_id location_dest_id picking_id date',
  'stock.picking':
    'name picking_type_id partner_id state scheduled_date date_done origin location_id location_dest_id',
  'stock.production.lot': 'name product_id product_qty expiration_date',
  'stock.quant':
    'product_id location_id lot_id package_id quantity reserved_quantity available_quantity product_uom_id',
};

/** Null for a model without a list of its own. */
export function listDefaultFields(model: string): readonly string[] | null {
  return Object.hasOwn(DEFAULT_FIELDS, model) ? (DEFAULT_FIELDS[model] as string).split(' ') : null;
}

/**
 * Other names that callers and other versions of Odoo use for a model, a field or a method, as data. Neither edit
 * distance nor common words lead from these names to the right one.
 */

export type NameKind = 'model' | 'field' | 'method';

/** The other names of a model, field or method; empty if none are known. */
export function listOtherNames(kind: NameKind, name: string): readonly string[] {
  return OTHER_NAMES[kind].get(name) ?? [];
}

const OTHER_NAMES: Readonly<Record<NameKind, ReadonlyMap<string, readonly string[]>>> = {
  model: new Map([
    ['account.move', ['account.invoice']],
    ['account.move.line', ['account.invoice.line']],
    ['stock.lot', ['stock.production.lot']],
    ['discuss.channel', ['mail.channel']],
  ]),
  field: new Map([
    ['amount_residual', ['amount_due', 'balance_due']],
    ['amount_total', ['amount', 'total', 'total_amount']],
    ['category_id', ['tags', 'tag_ids']],
    ['client_order_ref', ['customer_reference', 'customer_ref']],
    ['commitment_date', ['delivery_date']],
    ['create_date', ['created_at', 'created_on', 'created']],
    ['default_code', ['internal_reference', 'reference', 'sku']],
    ['email_from', ['email']],
    ['image_1920', ['image']],
    ['invoice_date_due', ['date_due', 'due_date']],
    ['invoice_line_ids', ['line_ids', 'lines']],
    ['list_price', ['price', 'sale_price', 'sales_price']],
    ['order_line', ['line_ids', 'lines']],
    ['partner_id', ['customer_id', 'client_id', 'supplier_id', 'vendor_id']],
    // Odoo 19 has no `mobile`.
    ['phone', ['mobile', 'mobile_phone', 'tel']],
    ['price_unit', ['price', 'unit_price']],
    ['product_uom_qty', ['qty', 'quantity']],
    ['qty_available', ['qty', 'quantity', 'stock']],
    ['quantity', ['qty', 'qty_done']],
    ['ref', ['reference']],
    ['standard_price', ['cost', 'cost_price']],
    ['tax_id', ['taxes']],
    ['team_id', ['sales_team', 'salesteam_id']],
    ['user_id', ['salesperson_id', 'responsible_id', 'owner_id']],
    ['vat', ['tax_id', 'tax_number', 'vat_number']],
    ['write_date', ['updated_at', 'updated_on', 'modified_at', 'modified']],
    ['zip', ['zipcode', 'postal_code', 'postcode']],
  ]),
  method: new Map([
    ['search_read', ['find', 'list', 'get', 'query', 'select']],
    ['search_count', ['count']],
    ['create', ['insert', 'add', 'new']],
    ['write', ['update', 'edit', 'set']],
    ['unlink', ['delete', 'remove']],
    ['action_archive', ['archive']],
    ['action_unarchive', ['unarchive', 'restore']],
  ]),
};

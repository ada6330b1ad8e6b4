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
    // Odoo 19 has no `mobile`.
    ['phone', ['mobile', 'mobile_phone', 'tel']],
    ['partner_id', ['customer_id', 'client_id', 'supplier_id', 'vendor_id']],
    ['user_id', ['salesperson_id', 'responsible_id', 'owner_id']],
    ['quantity', ['qty', 'qty_done']],
    ['product_uom_qty', ['qty', 'quantity']],
    ['invoice_line_ids', ['line_ids', 'lines']],
    ['order_line', ['line_ids', 'lines']],
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

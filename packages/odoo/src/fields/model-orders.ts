/**
 * The orders in which models list their records (`_order`), from 15 on as `ir.model` describes them
 * (docs/odoo-facts.md#model-order). For a user who may not read them, the orders of common models of Odoo Community are
 * listed here. Contains no decisions.
 */
import {
  decodeString,
  findValue,
  type JsonSpan,
  JsonSyntaxError,
  readDocument,
  readElements,
  readMembers,
} from '@erp-proxy/json';
import { type Path, parseOrder } from './field-texts.ts';

/** Orders by model, as the server described them. */
export type ModelOrders = ReadonlyMap<string, string>;

/** Maximum number of models that the request asks for. A database with all of Odoo's modules has some 1500. */
const MODELS_MAX = 5000;

/** The named arguments of the call of `search_read` whose result {@link readModelOrders} reads. */
export const MODEL_ORDERS_ARGUMENTS = `{"domain": [], "fields": ["model", "order"], "limit": ${MODELS_MAX}, "order": "id"}`;

/** Maximum number of bytes of a name or an order; longer names and orders are left out. Orders of Odoo have some 60. */
const TEXT_BYTES_MAX = 300;

/** Null if the result lists no records. A record without a readable order is left out. */
export function readModelOrders(result: Uint8Array): ModelOrders | null {
  try {
    const { root } = readDocument(result);
    if (root.kind !== 'array') return null;
    const orders = new Map<string, string>();
    readElements(result, root, (record) => {
      if (record.kind !== 'object') return true;
      const members = readMembers(result, record);
      const model = findValue(members, 'model');
      const order = findValue(members, 'order');
      if (isShortText(model) && isShortText(order))
        orders.set(decodeString(result, model), decodeString(result, order));
      return true;
    });
    return orders;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function isShortText(value: JsonSpan | undefined): value is JsonSpan {
  return value?.kind === 'string' && value.end - value.start <= TEXT_BYTES_MAX;
}

/** `isUsual`: the paths are those of the table, and may not exist in this version. */
export interface ModelOrder {
  paths: readonly Path[];
  isUsual: boolean;
}

/** The fields that decide the order of a model's records; null if it is not known. */
export function findModelOrder(known: ModelOrders, model: string): ModelOrder | null {
  const described = known.get(model);
  const paths = described === undefined ? USUAL_ORDERS.get(model) : parseOrder(described);
  return paths == null ? null : { paths, isUsual: described === undefined };
}

/** By model: the fields by which any version from 14 to 19 orders its records. */
const USUAL_ORDERS: ReadonlyMap<string, readonly Path[]> = new Map(
  Object.entries({
    'account.account': 'is_off_balance, code, placeholder_code, company_id, id',
    'account.analytic.account': 'plan_id, name, code, id',
    'account.analytic.line': 'date, id',
    'account.journal': 'sequence, type, code, id',
    'account.move': 'date, name, invoice_date, id',
    'account.move.line': 'date, move_name, id',
    'account.payment': 'date, name, id',
    'account.payment.term': 'sequence, id',
    'account.tax': 'sequence, id',
    'calendar.event': 'start, id',
    'crm.lead': 'priority, id',
    'crm.stage': 'sequence, name, id',
    'crm.tag': 'id',
    'crm.team': 'sequence, create_date, id',
    'hr.department': 'name, complete_name',
    'hr.employee': 'name',
    'hr.job': 'sequence, name, id',
    'ir.attachment': 'id',
    'ir.model': 'model',
    'ir.model.fields': 'name, id',
    'mail.activity': 'date_deadline, id',
    'mail.message': 'id',
    'product.category': 'complete_name',
    'product.pricelist': 'sequence, id',
    'product.product': 'priority, is_favorite, default_code, name, id',
    'product.supplierinfo': 'sequence, min_qty, price, id',
    'product.template': 'priority, is_favorite, name, id',
    'project.project': 'sequence, name, id',
    'project.task': 'state, priority, sequence, date_deadline, id',
    'project.task.type': 'sequence, name, id',
    'purchase.order': 'priority, date_order, id',
    'purchase.order.line': 'order_id, sequence, id',
    'res.company': 'sequence, name',
    'res.country': 'name, id',
    'res.country.state': 'code, id',
    'res.currency': 'active, name',
    'res.currency.rate': 'name, id',
    'res.lang': 'active, name',
    'res.partner': 'display_name, complete_name, id',
    'res.partner.bank': 'sequence, id',
    'res.partner.category': 'name, id',
    'res.partner.industry': 'name, full_name, id',
    'res.users': 'name, login',
    'sale.order': 'date_order, id',
    'sale.order.line': 'order_id, sequence, id',
    'stock.location': 'complete_name, id',
    'stock.move': 'sequence, id',
    'stock.picking': 'priority, scheduled_date, id',
    'stock.warehouse': 'sequence, id',
    'uom.uom': 'sequence, relative_uom_id, factor, id',
  }).map(([model, order]) => [model, parseOrder(order) ?? []]),
);

/**
 * Methods of sales orders as a customer's addon could have them: the signatures of Odoo's own methods do not include
 * them, so only /doc-bearer shows their parameters. They use each kind of parameter once.
 */
import { type Json, type JsonObject, toNumber } from '../json/value.ts';
import { listItems } from '../orm/list-items.ts';
import { ensureOne } from '../orm/methods/record-methods.ts';
import type { Call, Method } from '../orm/model.ts';
import { createRow, writeRows } from '../orm/write.ts';

const owner = '$class';

export const orderMethods: Readonly<Record<string, Method>> = {
  /** Returns the id of the new line. `values` are its other fields. */
  add_line: {
    owner,
    kind: 'record',
    parameters: 'product_id, quantity=1, **values',
    run: (call) => {
      const { product_id = null, quantity = null, ...values } = call.values;
      return createLine(call, { product_id, product_uom_qty: quantity, ...values });
    },
  },
  /** Adds one line for each product, and returns their ids. */
  add_products: {
    owner,
    kind: 'record',
    parameters: '*product_ids, quantity=1',
    run: (call) => {
      const { product_ids = [], quantity = null } = call.values;
      return (product_ids as readonly Json[]).map((product_id) =>
        createLine(call, { product_id, product_uom_qty: quantity }),
      );
    },
  },
  set_terms: {
    owner,
    kind: 'record',
    parameters: '*, note, append=False',
    run: (call) => {
      const id = ensureOne(call);
      const before = call.environment.store.get(call.model.name, id)?.['note'];
      const { note = null, append } = call.values;
      writeRows(call.environment, call.model, [id], {
        note: append && before ? `${String(before)}${String(note)}` : note,
      });
      return true;
    },
  },
  /** The total of an order with these lines. `lines` are `[product, quantity]`. */
  estimate_total: {
    owner,
    kind: 'model',
    parameters: 'lines, discount=0',
    run: ({ environment, values }) => {
      const { lines = null, discount = 0 } = values;
      let total = 0;
      for (const [product, quantity] of listItems(lines) as [number, Json][]) {
        const template = environment.store.get('product.product', product)?.['product_tmpl_id'];
        const price = environment.store.get('product.template', template as number)?.['list_price'];
        total += (toNumber(price) ?? 0) * (toNumber(quantity) ?? 0);
      }
      return Math.round(total * (100 - (toNumber(discount) ?? 0))) / 100;
    },
  },
};

function createLine(call: Call, values: JsonObject): number {
  const order_id = ensureOne(call);
  return createRow(call.environment, call.environment.model('sale.order.line'), { order_id, ...values });
}

/** Sales orders and their lines: amounts, confirmation, cancellation. */
import { isTrue, type Json, type JsonObject } from '../json/value.ts';
import { userError } from '../orm/fault.ts';
import {
  boolean,
  char,
  date,
  datetime,
  float,
  html,
  integer,
  json,
  many2one,
  monetary,
  one2many,
  selection,
  text,
} from '../orm/field.ts';
import { ensureOne, listRows } from '../orm/methods/record-methods.ts';
import type { Call, Environment, Method, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { allIds } from '../orm/row-source.ts';
import { runMethod } from '../orm/run-method.ts';
import { writeRows } from '../orm/write.ts';
import { chatterFields, chatterMethods } from './chatter.ts';
import { fillFromTemplate } from './composer.ts';
import { orderMethods } from './order-methods.ts';
import { createPortalMethods, portalFields } from './report.ts';

const sellers = ['sales_team.group_sale_manager', 'sales_team.group_sale_salesman'];
const access = {
  read: [
    ...sellers,
    'account.group_account_invoice',
    'account.group_account_readonly',
    'account.group_account_user',
    'base.group_portal',
  ],
  write: [...sellers, 'account.group_account_invoice'],
  create: sellers,
  unlink: ['sales_team.group_sale_manager'],
};

const states = [
  ['draft', 'Quotation'],
  ['sent', 'Quotation Sent'],
  ['sale', 'Sales Order'],
  ['cancel', 'Cancelled'],
] as const;

/** The fields of lines that the amounts of an order depend on. */
const amounts = ['order_id', 'product_uom_qty', 'price_unit', 'discount'].map((name) => `order_line.${name}`);

const method = (run: Method['run']): Method => ({ owner: 'SaleOrder', kind: 'record', parameters: '', run });

export const order: ModelSpec = {
  name: 'sale.order',
  description: 'Sales Order',
  order: 'date_order desc, id desc',
  access,
  rule: (environment) => [['company_id', 'in', environment.companyIds]],
  fields: {
    name: char('Order Reference', { required: true, copy: false, default: 'New' }),
    partner_id: many2one('Customer', 'res.partner', { required: true, ondelete: 'restrict' }),
    date_order: datetime('Order Date', {
      required: true,
      copy: false,
      default: (environment) => environment.now,
    }),
    validity_date: date('Expiration', { copy: false }),
    commitment_date: datetime('Delivery Date', { copy: false }),
    state: selection('Status', states, { readonly: true, copy: false, default: 'draft' }),
    locked: boolean('Locked', { default: false, copy: false }),
    client_order_ref: char('Customer Reference', { copy: false }),
    company_id: many2one('Company', 'res.company', {
      required: true,
      default: (environment) => environment.companyId,
    }),
    currency_id: many2one('Currency', 'res.currency', { readonly: true, default: 1 }),
    user_id: many2one('Salesperson', 'res.users', { default: (environment) => environment.uid }),
    order_line: one2many('Order Lines', 'sale.order.line', 'order_id', { copy: true }),
    note: html('Terms and conditions'),
    amount_untaxed: monetary('Untaxed Amount', { readonly: true, compute: sumLines, storedFrom: amounts }),
    amount_tax: monetary('Taxes', { readonly: true, compute: () => 0, storedFrom: amounts }),
    amount_total: monetary('Total', { readonly: true, compute: sumLines, storedFrom: amounts }),
    amount_undiscounted: float('Amount Before Discount', {
      readonly: true,
      compute: (environment, row) => sumLines(environment, row, { discounted: false }),
    }),
    // The sandbox has no invoices.
    invoice_count: integer('Invoice Count', { readonly: true, compute: () => 0 }),
    expected_date: datetime('Expected Date', {
      readonly: true,
      depends: ['order_line.customer_lead', 'date_order', 'state'],
      compute: (_, row) => row['date_order'] ?? null,
    }),
  },
  lateFields: { ...chatterFields, ...portalFields },
  beforeCreate: (environment, { name, ...values }) => ({
    ...values,
    name: name && name !== 'New' ? name : nameNext(environment),
  }),
  beforeUnlink: (_, row) => {
    if (row['state'] === 'draft' || row['state'] === 'cancel') return;
    throw userError(
      'You can not delete a sent quotation or a confirmed sales order. You must first cancel it.',
    );
  },
  methods: {
    action_confirm: method(confirmOrders),
    action_cancel: method(cancelOrders),
    action_draft: method((call) => setState(call, 'draft')),
    action_quotation_send: method(openComposer),
    ...chatterMethods,
    message_post: { ...chatterMethods['message_post']!, run: postMessage },
    ...orderMethods,
    ...createPortalMethods('/my/orders'),
  },
};

export const orderLine: ModelSpec = {
  name: 'sale.order.line',
  description: 'Sales Order Line',
  displayName: nameLine,
  order: 'order_id, sequence, id',
  access,
  fields: {
    order_id: many2one('Order Reference', 'sale.order', { required: true, ondelete: 'cascade' }),
    sequence: integer('Sequence', { default: 10 }),
    product_id: many2one('Product', 'product.product', { ondelete: 'restrict' }),
    name: text('Description', { required: true }),
    product_uom_qty: float('Quantity', { required: true, default: 1 }),
    price_unit: float('Unit Price', { required: true }),
    discount: float('Discount (%)', { default: 0 }),
    analytic_distribution: json('Analytic Distribution'),
    price_subtotal: monetary('Subtotal', {
      readonly: true,
      compute: (_, row) => subtotal(row),
      storedFrom: ['product_uom_qty', 'price_unit', 'discount'],
    }),
    qty_to_deliver: float('Quantity To Deliver', {
      readonly: true,
      compute: (_, row) => row['product_uom_qty'] ?? 0,
    }),
    state: selection('Order Status', states, {
      readonly: true,
      storedFrom: ['order_id.state'],
      compute: (environment, row) =>
        environment.store.get('sale.order', row['order_id'] as number)?.['state'] ?? null,
    }),
  },
  beforeCreate: fillLine,
};

function nameNext(environment: Environment): string {
  let last = 0;
  for (const row of environment.store.table('sale.order').scan(allIds))
    last = Math.max(last, Number(String(row['name']).slice(1)) || 0);
  return `S${String(last + 1).padStart(5, '0')}`;
}

function subtotal(row: Row, discounted = true): number {
  const discount = discounted ? Number(row['discount'] ?? 0) : 0;
  const amount = Number(row['product_uom_qty'] ?? 0) * Number(row['price_unit'] ?? 0) * (1 - discount / 100);
  return Math.round(amount * 100) / 100;
}

function sumLines(environment: Environment, row: Row, { discounted = true } = {}): number {
  let total = 0;
  for (const line of environment.store.table('sale.order.line').where('order_id', row['id'] as number))
    total += subtotal(line, discounted);
  return Math.round(total * 100) / 100;
}

/**
 * The name of a line: its order, the first line of its description, and its customer, or up to 16 the customer's
 * reference.
 */
function nameLine({ store, personality }: Environment, row: Row): string {
  const order = store.get('sale.order', row['order_id'] as number) ?? {};
  const find = (id: Json = null): Row => store.get('res.partner', id as number) ?? {};
  const partner = find(order['partner_id']);
  const company = partner['is_company'] || !partner['parent_id'] ? partner : find(partner['parent_id']);
  const customer = personality.linesNameCustomer ? (company['ref'] ?? company['name']) : partner['ref'];
  const name = `${order['name']} - ${String(row['name']).split('\n')[0]}`;
  return customer ? `${name} (${String(customer)})` : name;
}

function fillLine(environment: Environment, values: JsonObject): JsonObject {
  const product = environment.store.get('product.product', values['product_id'] as number);
  const template = product && environment.store.get('product.template', product['product_tmpl_id'] as number);
  if (!template) return values;
  return { name: template['name'] ?? null, price_unit: template['list_price'] ?? 0, ...values };
}

function confirmOrders(call: Call): true {
  const rows = listRows(call);
  const isLate = rows.some((row) => row['state'] !== 'draft' && row['state'] !== 'sent');
  if (isLate && call.environment.personality.confirmTwiceFails) {
    throw userError('Some orders are not in a state requiring confirmation.');
  }
  return setState(call, 'sale');
}

function cancelOrders(call: Call) {
  const rows = listRows(call);
  const { environment } = call;
  const isAsked =
    environment.personality.cancelOpensWizard && !isTrue(environment.context['disable_cancel_warning']);
  if (!isAsked || rows.every((row) => row['state'] === 'draft')) return setState(call, 'cancel');
  return {
    name: 'Cancel Sales Order',
    view_mode: 'form',
    res_model: 'sale.order.cancel',
    view_id: 1019,
    type: 'ir.actions.act_window',
    context: {
      ...environment.personality.cancelContext,
      default_template_id: 19,
      default_order_id: ensureOne(call),
      mark_so_as_canceled: true,
      default_email_layout_xmlid: 'mail.mail_notification_layout_with_responsible_signature',
      model_description: 'Sales Order',
    },
    target: 'new',
  };
}

/** The dialog that action_cancel opens, from 16 to 18. */
export const cancelWizard: ModelSpec = {
  name: 'sale.order.cancel',
  description: 'Sales Order Cancel',
  recName: 'order_id',
  access: { read: sellers, write: sellers, create: sellers, unlink: sellers },
  fields: {
    order_id: many2one('Sale Order', 'sale.order', { required: true, ondelete: 'cascade' }),
    template_id: many2one('Mail Template', 'mail.template'),
    subject: char('Subject'),
    body: html('Contents'),
  },
  displayName: ({ store }, row) => String(store.get('sale.order', row['order_id'] as number)?.['name'] ?? ''),
  afterCreate: (environment, id) => {
    const row = environment.store.get('sale.order.cancel', id) as Row;
    const filled = fillFromTemplate(environment, row, 'sale.order', row['order_id']);
    environment.store.put('sale.order.cancel', id, filled);
  },
  methods: {
    action_cancel: { ...method(cancelChosen), owner: 'SaleOrderCancel' },
    action_send_mail_and_cancel: {
      ...method((call) => {
        for (const { order_id = null, subject = null, body = null } of listRows(call))
          runMethod(call.environment, 'sale.order', [order_id], 'message_post', {
            subject,
            body,
            body_is_html: true,
            message_type: 'comment',
          });
        return cancelChosen(call);
      }),
      owner: 'SaleOrderCancel',
    },
  },
};

function cancelChosen(call: Call): Json | undefined {
  const { environment } = call;
  const ids = listRows(call).map((row) => row['order_id'] as number);
  const unasked = environment.withContext({ ...environment.context, disable_cancel_warning: true });
  return runMethod(unasked, 'sale.order', ids, 'action_cancel');
}

/** The message of a composer that `action_quotation_send` opened marks the quotation as sent. */
function postMessage(call: Call): Json | undefined {
  const isSent = isTrue(call.environment.context['mark_so_as_sent']);
  if (isSent && listRows(call).every((row) => row['state'] === 'draft')) setState(call, 'sent');
  return chatterMethods['message_post']!.run(call);
}

function openComposer(call: Call) {
  const id = ensureOne(call);
  return {
    ...call.environment.personality.composerHead,
    type: 'ir.actions.act_window',
    view_mode: 'form',
    res_model: 'mail.compose.message',
    views: [[false, 'form']],
    view_id: false,
    target: 'new',
    context: call.environment.personality.quotationContext(id),
  };
}

function setState(call: Call, state: string): true {
  writeRows(
    call.environment,
    call.model,
    listRows(call).map((row) => row['id'] as number),
    { state },
  );
  return true;
}

/** Describes a call of a method in plain words, for the person who is asked about it. */
import { isNote } from '@erp-proxy/gateway/naming';
import { describeRecords, type Target } from './describe-records.ts';
import { printWith, quoteText } from './print-arguments.ts';
import type { Session } from './session.ts';

interface KnownMethod {
  /** What the method does with the records, e.g. `Archive`. */
  readonly verb: string;
  /** A noun for such a record; its plural ends with s. */
  readonly noun?: string;
  /** The named argument with the most important text, such as the body of a message. */
  readonly text?: string;
}

/** Keyed by method, or by model and method. */
const KNOWN_METHODS: ReadonlyMap<string, KnownMethod> = new Map<string, KnownMethod>([
  ['action_archive', { verb: 'Archive' }],
  ['action_unarchive', { verb: 'Restore from the archive' }],
  ['copy', { verb: 'Duplicate' }],
  ['create', { verb: 'Create a record:' }],
  ['message_post', { verb: 'Post a message on', text: 'body' }],
  ['unlink', { verb: 'Delete for good:' }],
  ['write', { verb: 'Change' }],
  ['account.move/action_post', { verb: 'Post', noun: 'invoice' }],
  ['account.move/button_cancel', { verb: 'Cancel', noun: 'invoice' }],
  ['account.move/button_draft', { verb: 'Reset to draft', noun: 'invoice' }],
  ['account.move.reversal/refund_moves', { verb: 'Reverse invoices by', noun: 'dialog' }],
  ['account.move.reversal/reverse_moves', { verb: 'Reverse invoices by', noun: 'dialog' }],
  ['account.payment.register/action_create_payments', { verb: 'Register payments by', noun: 'dialog' }],
  ['account.payment/action_post', { verb: 'Post', noun: 'payment' }],
  ['crm.lead.lost/action_lost_reason_apply', { verb: 'Mark leads as lost by', noun: 'dialog' }],
  ['crm.lead/action_set_lost', { verb: 'Mark as lost', noun: 'lead' }],
  ['crm.lead/action_set_won', { verb: 'Mark as won', noun: 'lead' }],
  ['mail.compose.message/action_send_mail', { verb: 'Send a message by', noun: 'dialog' }],
  ['purchase.order/button_cancel', { verb: 'Cancel', noun: 'purchase order' }],
  ['purchase.order/button_confirm', { verb: 'Confirm', noun: 'purchase order' }],
  ['sale.advance.payment.inv/create_invoices', { verb: 'Create invoices by', noun: 'dialog' }],
  ['sale.order.cancel/action_cancel', { verb: 'Cancel orders by', noun: 'dialog' }],
  ['sale.order/action_cancel', { verb: 'Cancel', noun: 'order' }],
  ['sale.order/action_confirm', { verb: 'Confirm', noun: 'quotation' }],
  ['stock.backorder.confirmation/process', { verb: 'Validate transfers by', noun: 'dialog' }],
  ['stock.picking/button_validate', { verb: 'Validate', noun: 'transfer' }],
]);

export interface MethodCall extends Target {
  method: string;
  arguments?: readonly unknown[] | undefined;
  keyword?: Readonly<Record<string, unknown>> | undefined;
}

/** Describes a call as a sentence without a final mark. */
export async function describeCall(call: MethodCall, session: Session): Promise<string> {
  const { model, method, arguments: positional = [], keyword = {} } = call;
  const known = KNOWN_METHODS.get(`${model}/${method}`) ?? KNOWN_METHODS.get(method);
  const { verb, noun, text: textName } = known ?? { verb: `Call ${method} for` };
  const { target, others: concerned } = await describeRecords(
    { ...call, positional, keyword, noun },
    session,
  );
  const text = textName === undefined ? undefined : keyword[textName];
  const isText = typeof text === 'string';
  const others = Object.entries(keyword).filter(([name]) => !(isText && name === textName));
  const rest = printWith(
    positional.length > 0 ? positional : undefined,
    others.length > 0 ? Object.fromEntries(others) : undefined,
  );
  const said = method === 'message_post' && isNote(keyword) ? 'Post a note on' : verb;
  return `${said} ${target}${isText ? `: ${quoteText(text)}` : ''}${concerned}${rest}`;
}

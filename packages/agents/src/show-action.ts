/**
 * Recognizes an action, which a method of Odoo returns for Odoo's own pages: a window, a message, a report. Shows the
 * members that a model can use, and says what the action means. Pure.
 */
import { isObject } from '@erp-proxy/json';
import { type ShownValue, SINGLE_TEXT_MAX, showValue } from './show.ts';

/** An action as it is shown, without members about the layout of pages. */
export interface Action extends ShownValue {
  /** True if Odoo has closed its dialog: the method has done its work. */
  readonly isEnd: boolean;
  /** The model whose records a view shows; null if there is no view. */
  readonly opened: string | null;
  /** The record that the view shows; empty if it shows a list. */
  readonly ids: readonly number[];
  /** What the action means, and what to do next. */
  readonly hint: string;
}

const TYPE = /^ir\.actions\.\w+$/;
const MODEL = /^[A-Za-z0-9_.]{1,128}$/;
const WINDOW = 'ir.actions.act_window';
const CLOSE = 'ir.actions.act_window_close';
/** Members of an action that a model can use. */
const MEMBERS = [
  'type',
  'name',
  'res_model',
  'res_id',
  'domain',
  'target',
  'tag',
  'params',
  'report_name',
  'url',
];
const FOR_PAGES =
  'This is for the pages of Odoo; the proxy did nothing with it. Read the records to see what has changed.';
/** The button that completes a well-known dialog. */
const BUTTONS: ReadonlyMap<string, string> = new Map([
  ['account.move.reversal', 'refund_moves (up to 16: reverse_moves)'],
  ['account.payment.register', 'action_create_payments'],
  ['confirm.stock.sms', 'dont_send_sms, or send_sms for a text message to the customer'],
  ['crm.lead.lost', 'action_lost_reason_apply'],
  ['mail.compose.message', 'action_send_mail'],
  ['sale.advance.payment.inv', 'create_invoices'],
  ['sale.order.cancel', 'action_cancel'],
  ['stock.backorder.confirmation', 'process, or process_cancel_backorder if the rest is never delivered'],
  ['stock.immediate.transfer', 'process'],
]);
/** Members of the context with which a method does its work without a dialog, by the model of the dialog. */
const WITHOUT_DIALOG: ReadonlyMap<string, Record<string, true>> = new Map([
  ['sale.order.cancel', { disable_cancel_warning: true }],
]);
/** Members of the context that avoid a second dialog, which asks whether the customer gets a text message. */
const WITHOUT_NEXT_DIALOG: ReadonlyMap<string, Record<string, true>> = new Map([
  ['stock.backorder.confirmation', { skip_sms: true }],
  ['stock.immediate.transfer', { skip_sms: true }],
]);

/** A dialog whose buttons must be looked up. */
export interface UnknownDialog {
  readonly model: string;
  /** The id of the view; null: the usual view. */
  readonly viewId: number | null;
}

/** Records of a model. */
export interface RecordRef {
  readonly model: string;
  readonly ids: readonly number[];
}

/** The dialog that a result opens, if its buttons are unknown; null for any other result. */
export function findUnknownDialog(result: unknown): UnknownDialog | null {
  if (!isObject(result)) return null;
  const { type, target, res_model: model, view_id, views } = result;
  const isDialog = type === WINDOW && target === 'new' && typeof model === 'string' && MODEL.test(model);
  if (!isDialog || BUTTONS.has(model)) return null;
  const listed = Array.isArray(views)
    ? views.find((view) => Array.isArray(view) && view[1] === 'form')
    : null;
  return { model, viewId: [view_id, listed].flat().find(isId) ?? null };
}

/**
 * Null if the result is not an action. `called`: the records whose method returned it. `mayCreate`: whether the key may
 * create records of a model. `buttons`: names of the buttons of an unknown dialog, with their labels.
 */
export function showAction(
  result: unknown,
  called: RecordRef,
  mayCreate: (model: string) => boolean,
  buttons: readonly string[] = [],
): Action | null {
  if (!isObject(result) || typeof result['type'] !== 'string' || !TYPE.test(result['type'])) return null;
  const { type, target, context, res_model, res_id } = result;
  const isDialog = type === WINDOW && target === 'new';
  const model = typeof res_model === 'string' && MODEL.test(res_model) ? res_model : null;
  const members = MEMBERS.map((name) => [name, result[name]] as const);
  // Only a dialog needs a context: it is for the record that replaces the dialog.
  if (isDialog) {
    const given = isObject(context) ? context : {};
    const spared = WITHOUT_NEXT_DIALOG.get(model ?? '');
    members.push(['context', { ...nameActive(called), ...given, ...spared }]);
  }
  const value = showValue(
    Object.fromEntries(members.filter(([, member]) => !isEmpty(member))),
    SINGLE_TEXT_MAX,
  );
  const ids = isId(res_id) ? [res_id] : [];
  const action = { ...value, isEnd: type === CLOSE, opened: null, ids: [] };
  if (isDialog) {
    const [id] = ids;
    const isUsable = model !== null && (id !== undefined || mayCreate(model));
    const isClipped = value.isClipped;
    return {
      ...action,
      hint: explainDialog({ model: model ?? '', isUsable, id, isClipped, called, buttons }),
    };
  }
  if (type === WINDOW && model !== null)
    return { ...action, opened: model, ids, hint: explainView(model, ids) };
  return { ...action, hint: FOR_PAGES };
}

/** Members that Odoo's pages add to the context of a dialog (docs/odoo-facts.md#active-records). */
function nameActive({ model, ids }: RecordRef): Record<string, unknown> {
  const [id] = ids;
  return id === undefined ? {} : { active_model: model, active_id: id, active_ids: ids };
}

/** The records that the context of a dialog is about; null if it names none, or records of the dialog itself. */
export function findActive(context: Record<string, unknown>, dialog: string): RecordRef | null {
  const { active_model: model, active_id: id, active_ids: several } = context;
  const ids: unknown[] = Array.isArray(several) && several.length > 0 ? several : [id];
  if (typeof model !== 'string' || !MODEL.test(model) || model === dialog || !ids.every(isId)) return null;
  return { model, ids };
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value;
}

interface Dialog {
  model: string;
  /** Whether the agent can do the work of the dialog. */
  isUsable: boolean;
  /** The record of the dialog, if Odoo has created it. */
  id: number | undefined;
  /** True if the context shown for the dialog may be cut, and so lack records. */
  isClipped: boolean;
  called: RecordRef;
  buttons: readonly string[];
}

function explainDialog({ model, isUsable, id, isClipped, called, buttons }: Dialog): string {
  const opened = 'Odoo opened a dialog, so most likely nothing is done yet.';
  const byPerson = 'the user completes it in Odoo (`link`)';
  const without = WITHOUT_DIALOG.get(model);
  const again =
    without === undefined
      ? ''
      : ` The same call of ${called.model} again, with keyword {"context": ${JSON.stringify(without)}}, needs no dialog.`;
  if (!isUsable)
    return `${opened}${again} Tell the user${again === '' ? '' : ' if it is refused'}: ${byPerson}.`;
  // A cut context would apply to some of the records only.
  if (isClipped)
    return `${opened}${again} Its context is too long to be sent back: call the method for fewer records. Or ${byPerson}.`;
  const names = BUTTONS.get(model) ?? buttons.join(', ');
  if (id !== undefined) {
    // The existing record is used: a new one would lack the values that Odoo has set.
    const named = names === '' ? 'its button' : `one of its buttons: ${names}`;
    return `${opened}${again} To go on, its record exists: call_method {"model": "${model}", "method": …, "ids": [${id}], "keyword": {"context": …}} with the context of \`result\` and ${named}. Or ${byPerson}.`;
  }
  const create = `create_record {"model": "${model}", "values": {}, "context": …} with the context of \`result\``;
  const press = `call_method of its button${names === '' ? '' : ` ${names}`} with the new id and keyword {"context": …}, the same`;
  return `${opened}${again} To go on: ${create}, then ${press}. Or ${byPerson}.`;
}

function explainView(model: string, ids: readonly number[]): string {
  const read =
    ids.length > 0
      ? `read_records {"model": "${model}", "ids": [${ids}]}`
      : `search_records {"model": "${model}"} with the domain of \`result\``;
  return `Odoo opened a view of records, which the method may have made or changed: ${read}.`;
}

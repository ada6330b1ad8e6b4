/** `call_method`: calls a method of business logic. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { isReadOnlyMethod } from '@erp-proxy/odoo';
import { mayCall, mayCallBusinessMethods } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { readNewIds } from '../as-rows.ts';
import { describeCall } from '../describe-call.ts';
import { linkIds } from '../links.ts';
import { listButtons } from '../list-buttons.ts';
import type { Session } from '../session.ts';
import { DATA_NOTE, type ShownValue, SINGLE_TEXT_MAX, showValue } from '../show.ts';
import { findActive, findUnknownDialog, type RecordRef, showAction } from '../show-action.ts';
import { showWritten } from '../show-written.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';

const IDS_MAX = 200;
/** Methods that return the ids of new records of the same model. */
const CREATING_METHODS = new Set(['copy', 'create']);

export const callMethod = defineTool({
  name: 'call_method',
  title: 'Call a method',
  description:
    'Calls a method that the other tools do not cover, as the buttons of Odoo do: action_confirm or action_cancel of sale.order (up to Odoo 18, with keyword {"context": {"disable_cancel_warning": true}}), action_post of account.move (Invoicing), message_post (keyword {"body": "…"}, text or HTML), activity_schedule, copy. To invoice an order: create_record of sale.advance.payment.inv with context {"active_model": "sale.order", "active_ids": [7]}, then its create_invoices with the same context. A person may be asked first.',
  input: z.strictObject({
    model: given.model,
    method: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'expected the name of a public method, such as "action_confirm"')
      .max(128),
    ids: given
      .ids(IDS_MAX)
      .optional()
      .describe('Records whose method is called. Left out: a method of the model.'),
    arguments: z
      .array(z.unknown())
      .max(20)
      .optional()
      .describe(
        'Positional arguments behind the ids. Datetimes here and in `keyword` in UTC: "2026-05-31 20:00:00".',
      ),
    keyword: z.record(z.string(), z.unknown()).optional().describe('Named arguments, also `context`.'),
    approval: given.approval,
    instance: given.instance,
  }),
  output: z.object({
    result: z.unknown(),
    is_clipped: z.boolean().optional(),
    hint: z.string().optional(),
    records: z.array(given.record).optional(),
    about: given.record.optional().describe('Records that the dialog was about.'),
    link: z.string().optional(),
    note: given.note,
  }),
  example: '{"model": "sale.order", "method": "action_confirm", "ids": [7]}',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  isOffered: mayCallBusinessMethods,
  final: {
    find: ({ model, method }) => (isReadOnlyMethod(method, model) ? null : { model, method, of: 'all' }),
    ask: async (args, session) => `${await describeCall(args, session)}?`,
  },
  async run({ model, method, ids, arguments: positional = [], keyword = {}, approval, instance }, session) {
    const target = await session.pickInstance(instance);
    const { context: sent, ...named } = keyword;
    const context = readContext(sent);
    const params = ids === undefined ? positional : [ids, ...positional];
    const result = await session.call(target, model, method, params, {
      keyword: method === 'message_post' ? markHtml(named) : named,
      names: [...(ids === undefined ? [] : ['ids']), ...positional.map((_, index) => `arguments[${index}]`)],
      change: { approval },
      context,
    });
    const dialog = findUnknownDialog(result);
    const buttons = dialog === null ? [] : await listButtons(session, target, dialog);
    const mayCreate = (name: string) => mayCall(session.policy, name, 'create');
    const action = showAction(result, { model, ids: ids ?? [] }, mayCreate, buttons);
    const showAbout = () => {
      const active = isReadOnlyMethod(method, model) ? null : findActive(context, model);
      return active === null ? {} : showActive(target, active, session);
    };
    if (action !== null && !action.isEnd) {
      const link = linkIds(target.url, action.opened ?? model, action.opened === null ? ids : action.ids);
      const about = action.opened === null ? {} : await showAbout();
      return { ...describeResult(action), ...about, hint: action.hint, link };
    }
    // False is the result of a method that has nothing to return, such as `action_post`.
    const isDone = typeof result === 'boolean' || result === null || action !== null;
    const made = CREATING_METHODS.has(method) ? readNewIds(result) : [];
    const changed = isDone && !isReadOnlyMethod(method, model) ? (ids ?? []) : made;
    const linked = made.length > 0 ? made : (ids ?? []);
    return {
      ...describeResult(action ?? showValue(result, SINGLE_TEXT_MAX)),
      ...(linked.length > 0 ? { link: linkIds(target.url, model, linked) } : {}),
      ...(changed.length > 0 ? await showWritten({ instance: target, model, ids: changed }, session) : {}),
      ...(isDone ? await showAbout() : {}),
    };
  },
});

/** The present state of the records that a dialog was about; none if they cannot be shown. */
async function showActive(
  instance: InstanceRecord,
  { model, ids }: RecordRef,
  session: Session,
): Promise<{ about?: { model: string; records: Record<string, unknown>[] }; note?: string }> {
  const { records, ...note } = await showWritten({ instance, model, ids }, session);
  return records === undefined ? {} : { about: { model, records }, ...note };
}

const HTML = /<(p|br|div|span|b|i|u|em|strong|a|ul|ol|li|h[1-6]|table|pre|blockquote)\b[^<>]*>/i;

/**
 * From 17 on, Odoo shows tags as text unless the call says that the body is HTML. Up to 16, it ignores `body_is_html`.
 */
function markHtml(keyword: Record<string, unknown>): Record<string, unknown> {
  const { body } = keyword;
  const isHtml = typeof body === 'string' && HTML.test(body);
  return isHtml && !Object.hasOwn(keyword, 'body_is_html') ? { ...keyword, body_is_html: true } : keyword;
}

function readContext(context: unknown): Record<string, unknown> {
  if (context === undefined || context === null) return {};
  if (isObject(context)) return context;
  throw new ToolError('invalid_params', '`keyword.context` must be an object. Nothing was changed.', {
    next: 'Send it as in "keyword": {"context": {"lang": "fr_FR"}}, or leave it out.',
  });
}

function describeResult({ shown, isClipped }: ShownValue) {
  return {
    result: shown,
    ...(isClipped ? { is_clipped: true } : {}),
    ...(holdsText(shown) ? { note: DATA_NOTE } : {}),
  };
}

function holdsText(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsText);
  return typeof value === 'string' || isObject(value);
}

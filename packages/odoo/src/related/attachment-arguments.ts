/**
 * Methods that take attachments by their ids, and put them into a message or read them into a new record: a caller gets
 * to see files of any record. From the public methods of Odoo Community 14 to 19 with an argument `attachment_ids`.
 * sensitive-members.ts has the methods of messages, which take the argument by name only.
 */
import type { JsonSpan } from '@erp-proxy/json';
import { type Arguments, findArgument } from '../arguments.ts';

export const ATTACHMENTS = 'ir.attachment';
export const ATTACHMENT_ARGUMENT = 'attachment_ids';

/** Positions among the positional arguments, including the ids of a record method. */
const POSITIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['action_create_invoice', [1]],
  ['action_feedback', [2]],
  ['action_feedback_schedule_next', [2]],
  ['activity_feedback', [4]],
  ['create_document_from_attachment', [1]],
  // The method takes no ids in 18 and 19, so the attachments are its first argument there.
  ['create_expense_from_attachments', [0, 1]],
  ['create_invoice_from_attachment', [1]],
  ['l10n_tr_import_ereceipts', [1]],
]);

/** The attachments that the call names, in any of these arguments. */
export function listAttachmentArguments(method: string, call: Arguments): JsonSpan[] {
  const positions = POSITIONS.get(method) ?? [];
  return [...new Set(positions.flatMap((position) => findArgument(call, position, ATTACHMENT_ARGUMENT)))];
}

/** Calls that an administrator must approve. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { named, PAGE_QUERY, pageOf, time } from './schema-names.ts';

const approvalState = z.enum(['pending', 'approved', 'refused', 'used', 'expired']);
export type ApprovalState = z.infer<typeof approvalState>;

const APPROVAL_MEMBERS = {
  id: z.string(),
  state: approvalState.describe('`expired`: its time was over before it was decided, or before it was used.'),
  key_id: z.string().describe('The client key that asked.'),
  asked_by: actor.nullable().describe('Who made the call in the console. Null: the client made it.'),
  address: z.string().describe('Address of the caller that asked.'),
  instance: z.string().nullable().describe('Null: the call brought its own credentials.'),
  upstream: z.string().describe('Base address of the Odoo server.'),
  db: z.string(),
  user_id: z.int().nullable().describe('Null: the Odoo key of the call determines the user (`/json/2`).'),
  model: z.string(),
  action: z.string(),
  rule: z
    .string()
    .describe('The rule of the policy that asks for the approval, such as `approve["account.move"]`.'),
  created_at: time,
  expires_at: time.describe('When it can no longer be decided or, once it is approved, no longer be used.'),
  decided_at: time.nullable(),
  decided_by: actor.nullable().describe('The administrator who decided, as in the audit.'),
  reason: z.string().nullable().describe('Why it was refused.'),
  used_at: time.nullable(),
};

/** A call that needs an approval, without the values of its arguments. */
export const approvalView = named('Approval', z.object(APPROVAL_MEMBERS));
export type ApprovalView = z.infer<typeof approvalView>;

/** Contains texts from Odoo of up to 200 characters each. */
const concernedRecord = z.object({
  id: z.int(),
  name: z.string().nullable(),
  partner: z.string().nullable(),
  order: z.string().nullable(),
  state: z.string().nullable(),
  stage: z.string().nullable(),
});
export type ConcernedRecord = z.infer<typeof concernedRecord>;

const concernedRecords = z.object({
  part: z
    .enum(['records', 'dialog', 'partners', 'followers', 'removed'])
    .describe(
      '`records`: those whose method is called. `dialog`: those that a dialog is about. `partners`: partners whom the call names as receivers. `followers`: partners who can get the message by mail. `removed`: records that are deleted, or cut off from `field`.',
    ),
  field: z.string().exactOptional(),
  model: z.string(),
  count: z.int().nullable().describe('Number of records; null: not known.'),
  records: z.array(concernedRecord).describe('The first of them. Null for what the caller may not read.'),
});
export type ConcernedRecords = z.infer<typeof concernedRecords>;

const approvalCall = z.object({
  params: z.string().describe('The positional arguments that Odoo gets: the text of a JSON array.'),
  keyword: z.string().describe('The named arguments that Odoo gets: the text of a JSON object.'),
  concerns: z
    .array(concernedRecords)
    .describe('The records that the call concerns, as its caller could read them when it asked.')
    .exactOptional(),
});
export type ApprovalCall = z.infer<typeof approvalCall>;

const unreadableCall = z.object({ unreadable: z.string().describe('The reason.') });
/** Replaces a call whose stored values cannot be decrypted. */
export type UnreadableCall = z.infer<typeof unreadableCall>;

export const approvalDetails = named(
  'ApprovalDetails',
  z.object({
    ...APPROVAL_MEMBERS,
    call: z
      .union([approvalCall, unreadableCall])
      .nullable()
      .describe(
        'The values of the call. Null once they are deleted: after a refusal, or when the time is over.',
      ),
  }),
);
export type ApprovalDetails = z.infer<typeof approvalDetails>;

export const approvalRefusal = named(
  'ApprovalRefusal',
  z.strictObject({
    reason: z.string().describe('One line of 1 to 500 characters, which the caller gets.'),
  }),
);
export type ApprovalRefusal = z.infer<typeof approvalRefusal>;

export const approvalPage = named('ApprovalPage', pageOf(approvalView));

export const approvalQuery = z.strictObject({ ...PAGE_QUERY, state: approvalState.exactOptional() });

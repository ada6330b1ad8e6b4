/** The audit: a record of each call, and of each change by an administrator. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { named, PAGE_QUERY, pageOf, time, wholeNumber } from './schema-names.ts';
import { CALL_SOURCES } from './values.ts';

const AUDIT_MEMBERS = {
  seq: z.int().describe('Position in the chain, from 1.'),
  time,
  request_id: z.string().nullable(),
};

const auditCall = z.object({
  ...AUDIT_MEMBERS,
  kind: z.literal('call'),
  key_id: z
    .string()
    .nullable()
    .describe('If the key was not accepted (see `rule`): the id in the text of the key.'),
  client_id: z
    .string()
    .nullable()
    .describe('`client_id` of the key; null if it was not accepted, and in older records.'),
  address: z.string().nullable().describe('Address of the caller; null in older records.'),
  instance: z.string().nullable().describe('Null: the call had its own credentials.'),
  upstream: z.string().nullable().describe('Base address of the Odoo server.'),
  db: z.string().nullable(),
  model: z.string().nullable(),
  action: z.string().nullable(),
  outcome: z.string().describe('`ok`, or `data.type` of the error.'),
  rule: z
    .string()
    .nullable()
    .describe(
      "The rule of the key's policy that denied the call; or `key:unknown`, `key:expired`, `key:revoked`.",
    ),
  approval: z.string().nullable().describe('The approval that the call asked for or used.'),
  via: z
    .enum(CALL_SOURCES)
    .nullable()
    .describe('What made the call while it answered a request; null: its caller.'),
  actor: actor.exactOptional().describe('The administrator who made the call; otherwise absent.'),
  person: z
    .string()
    .exactOptional()
    .describe('`<issuer>/<subject>` of the person whose connection to Odoo the call used; otherwise absent.'),
  odoo_login: z
    .string()
    .exactOptional()
    .describe('Login in Odoo of the user of this connection; otherwise absent.'),
  trace_id: z
    .string()
    .exactOptional()
    .describe('Id of the trace: that of the caller, or a recorded one that began here.'),
  code: z.int().nullable(),
  http_status: z.int(),
  batch_index: z.int().nullable().describe('Position in the batch; null for a single call.'),
  total_ms: z.number(),
  upstream_ms: z.number().nullable(),
});
export type AuditCallView = z.infer<typeof auditCall>;

const auditAdmin = z.object({
  ...AUDIT_MEMBERS,
  kind: z.literal('admin'),
  actor,
  address: z.string().nullable(),
  action: z.string().describe('Such as `key.create`.'),
  target: z.string().describe('The object of the action: `key <id>`, `instance <name>`.'),
  instances: z
    .array(z.string())
    .describe(
      'Names and patterns of the instances that the action concerns. Absent: it reaches further, or the record is older.',
    )
    .exactOptional(),
  changes: z
    .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))
    .describe('Changed members, before and after. Secrets are shown as `(secret)`.'),
});
export type AuditAdminView = z.infer<typeof auditAdmin>;

const auditDamaged = z.object({
  ...AUDIT_MEMBERS,
  kind: z.literal('damaged').describe('The stored row is not a valid audit record.'),
  problem: z.string(),
});

/** A record of the audit, without values of calls and without secrets. */
export const auditView = named(
  'AuditRecord',
  z.discriminatedUnion('kind', [auditCall, auditAdmin, auditDamaged]),
);
export type AuditView = z.infer<typeof auditView>;

/** The result of `audit verify`. */
export const auditVerification = named(
  'AuditVerification',
  z.object({
    intact: z.boolean().describe('True: each record from `first_seq` to `last_seq` is there and unchanged.'),
    first_seq: z.int(),
    last_seq: z.int(),
    head: z
      .string()
      .nullable()
      .describe(
        'If you keep it elsewhere, it proves later that no records were removed from the end. Null: the store has lost it.',
      ),
    fault: z
      .object({ seq: z.int(), problem: z.string() })
      .nullable()
      .describe('The first error found; null if there is none.'),
  }),
);
export type AuditVerification = z.infer<typeof auditVerification>;

export const auditPage = named('AuditPage', pageOf(auditView));

const AUDIT_FILTERS = {
  kind: z.enum(['call', 'admin']).exactOptional(),
  since: time.describe('A time or a day.').exactOptional(),
  until: time.describe('A time or a day.').exactOptional(),
  key_id: z.string().exactOptional(),
  client_id: z.string().describe('Calls with any key of this client.').exactOptional(),
  approval: z.string().describe('Calls that asked for or used this approval.').exactOptional(),
  via: z.enum(CALL_SOURCES).describe('Calls that this made.').exactOptional(),
  instance: z.string().exactOptional(),
  model: z.string().exactOptional(),
  action: z.string().exactOptional(),
  outcome: z.string().exactOptional(),
  errors_only: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .pipe(z.boolean())
    .describe('True: only calls that ended with an error.')
    .exactOptional(),
  actor: z.string().describe('Calls and actions of the actor with this id.').exactOptional(),
  request_id: z.string().describe('The `x-request-id`. The calls of a batch have the same.').exactOptional(),
  person: z.string().describe('Calls that used a connection of the person with this id.').exactOptional(),
  trace_id: z.string().exactOptional(),
  address: z.string().describe('Address of the caller or the administrator.').exactOptional(),
  upstream: z.string().describe('Base address of the Odoo server.').exactOptional(),
  db: z.string().exactOptional(),
  rule: z.string().describe('The rule that denied the call.').exactOptional(),
  code: z
    .string()
    .regex(/^-?\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int())
    .describe('Code of the error.')
    .exactOptional(),
  http_status: wholeNumber().pipe(z.int()).exactOptional(),
};

export const auditParams = z.object({
  seq: wholeNumber(15).pipe(z.int()).describe('Its number in the chain.'),
});

export const auditQuery = z.strictObject({ ...PAGE_QUERY, ...AUDIT_FILTERS });
export type AuditQuery = z.infer<typeof auditQuery>;

export const exportQuery = z.strictObject({
  ...AUDIT_FILTERS,
  format: z.enum(['ndjson', 'csv']).describe('Default: `ndjson`.').exactOptional(),
});

export const verifyQuery = z.strictObject({
  head: z.string().describe('The `head` of an earlier verification.').exactOptional(),
});

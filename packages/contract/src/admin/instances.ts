/** Stored Odoo servers, each with one of its users. */
import { z } from 'zod';
import { named, PAGE_QUERY, pageOf, search, time, version } from './schema-names.ts';

const protocol = z.enum(['auto', 'jsonrpc', 'json2']);
export type InstanceProtocol = z.infer<typeof protocol>;

const instanceKey = z
  .object({
    expires_at: time.nullable().describe('When the key expires in Odoo; null: never, or not known.'),
    state: z
      .enum(['ok', 'expiring', 'expired', 'unknown'])
      .describe('`unknown`: Odoo up to version 18 does not tell.'),
    rotate: z.boolean().describe('True: the proxy replaces the key before it expires.'),
    failure: z.string().nullable().describe('Why the last rotation failed; null: it did not.'),
  })
  .describe('What is known of the Odoo key.');
export type InstanceKeyView = z.infer<typeof instanceKey>;

/** The Odoo key itself is never shown. */
export const instanceView = named(
  'Instance',
  z.object({
    name: z.string(),
    url: z.string(),
    db: z.string(),
    user_id: z.int(),
    protocol,
    timeout_ms: z
      .int()
      .nullable()
      .describe('Time limit of a call that sets none itself; null: `upstream.timeoutMs`.'),
    concurrency: z.int().nullable().describe('Maximum number of calls at once; null: no separate limit.'),
    certificates: z
      .string()
      .nullable()
      .describe('PEM certificates that are trusted for this instance instead of the public ones.'),
    allow_private: z
      .boolean()
      .describe('True: its origin may be a private address or plain http, as if `egress.allow` listed it.'),
    key: instanceKey,
    created_at: time,
    updated_at: time,
    version,
  }),
);
export type InstanceView = z.infer<typeof instanceView>;

const NEEDS_KEY = 'To change it, send the `api_key` again.';
const apiKey = z.string().meta({ writeOnly: true }).describe('Never returned in an answer.');

const INSTANCE_CHANGES = {
  url: z.string().describe(NEEDS_KEY).exactOptional(),
  db: z.string().exactOptional(),
  user_id: z.int().exactOptional(),
  api_key: apiKey.exactOptional(),
  protocol: protocol.exactOptional(),
  timeout_ms: z.int().nullable().exactOptional(),
  concurrency: z.int().nullable().exactOptional(),
  certificates: z
    .string()
    .nullable()
    .describe(`Certificates in PEM format, trusted instead of the public ones. ${NEEDS_KEY}`)
    .exactOptional(),
  allow_private: z
    .boolean()
    .describe(
      'Allows a private address or plain http for this instance. To turn it on in a change, send the `api_key` again.',
    )
    .exactOptional(),
  rotate_key: z.boolean().describe('Whether the proxy replaces the key before it expires.').exactOptional(),
  key_expires_at: time.nullable().describe('For servers that do not report the expiry.').exactOptional(),
};

/**
 * Omitted members keep their values. A new `url`, changed `certificates`, and turning on `allow_private` require the
 * `api_key` again: a stored key is never sent to another server, nor to one that could impersonate its own.
 */
export const instanceChanges = named('InstanceChanges', z.strictObject(INSTANCE_CHANGES));
export type InstanceChanges = z.infer<typeof instanceChanges>;

export const instanceInput = named(
  'InstanceInput',
  z.strictObject({
    ...INSTANCE_CHANGES,
    name: z.string(),
    url: z.string(),
    db: z.string(),
    user_id: z.int(),
    api_key: apiKey,
  }),
);
export type InstanceInput = z.infer<typeof instanceInput>;

/** An Odoo server with a user that is not stored, to check it. */
export const instanceCheckInput = named(
  'InstanceCheckInput',
  z.strictObject({
    url: z.string(),
    db: z.string(),
    user_id: z.int().exactOptional(),
    login: z
      .string()
      .describe('Login of the user, in place of `user_id`, which the answer has then.')
      .exactOptional(),
    api_key: apiKey,
    protocol: protocol.exactOptional(),
    timeout_ms: z.int().nullable().describe('Time limit of each request.').exactOptional(),
    certificates: z
      .string()
      .nullable()
      .describe('Certificates in PEM format, trusted instead of the public ones.')
      .exactOptional(),
    allow_private: z.boolean().describe('Allows a private address or plain http.').exactOptional(),
  }),
);
export type InstanceCheckInput = z.infer<typeof instanceCheckInput>;

const EXAMINATION_CHECKS = [
  'url',
  'egress',
  'dns',
  'connection',
  'tls',
  'odoo',
  'version',
  'protocol',
  'database',
  'user',
  'key',
  'expiry',
  'time',
] as const;

const examinationCheck = z.object({
  name: z.enum(EXAMINATION_CHECKS),
  state: z
    .enum(['ok', 'failed', 'skipped'])
    .describe('`skipped`: not checked, or the server does not report it.'),
  text: z.string().describe('The finding, and what to do.'),
});
export type ExaminationCheck = z.infer<typeof examinationCheck>;

/** The result of checking whether the proxy can work with an Odoo server. */
export const examination = named(
  'Examination',
  z.object({
    ok: z.boolean().describe('True if no check failed.'),
    checks: z.array(examinationCheck).describe('In order; the first failure is the last check.'),
    version: z.string().nullable().describe('Such as `18.0`. Null if the server does not report it.'),
    protocol: z
      .enum(['jsonrpc', 'json2'])
      .nullable()
      .describe('The protocol that carries calls of this instance; null if no call was made.'),
    user: z
      .object({ id: z.int(), name: z.string(), login: z.string(), company: z.string().nullable() })
      .nullable(),
    key: z
      .object({
        expires_at: time.nullable().describe('Null: the key never expires, or the expiry is not known.'),
        is_expiry_known: z.boolean(),
      })
      .nullable(),
    round_trip_ms: z
      .int()
      .nullable()
      .describe('Milliseconds from the request to the head of the answer, of the fastest call.'),
  }),
);
export type Examination = z.infer<typeof examination>;

export const resealed = named(
  'Resealed',
  z.object({ resealed: z.int().describe('Number of instances and subscriptions.') }),
);

export const instancePage = named('InstancePage', pageOf(instanceView));

export const instanceQuery = z.strictObject({ ...PAGE_QUERY, search });
export type InstanceQuery = z.infer<typeof instanceQuery>;

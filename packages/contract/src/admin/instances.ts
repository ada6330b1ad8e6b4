/** Stored Odoo servers, each with one of its users, or for persons who each connect a user of their own. */
import { z } from 'zod';
import { pick } from '../pick.ts';
import { FLAG_RULE, named, optional, PAGE_QUERY, pageOf, search, time, version } from './schema-names.ts';
import { INSTANCE_CHECK_MEMBERS, INSTANCE_IDENTITIES } from './values.ts';

const protocol = z.enum(['auto', 'jsonrpc', 'json2'], 'must be "auto", "jsonrpc" or "json2"');
const identity = z.enum(
  INSTANCE_IDENTITIES,
  `must be ${INSTANCE_IDENTITIES.map((name) => `"${name}"`).join(' or ')}`,
);

/**
 * The members that an operator sets and may read, in the order of the commands. Input, views, the store, the commands,
 * `apply` and `config export` are derived from this object. packages/control/src/instances/members.ts has further
 * rules.
 */
export const INSTANCE_MEMBERS = {
  url: z.string().describe('Address of the Odoo server.'),
  db: z.string().describe('Name of the database.'),
  identity: identity.describe(
    'Whose Odoo user runs the calls. `shared`: that of the instance. `person`: that of the person who calls, and the instance has no user and no key. Default: `shared`.',
  ),
  user_id: z
    .int()
    .nullable()
    .describe('Id of the user in Odoo, 1 or more. Null, and left out, with the identity `person`.'),
  protocol: protocol.describe('Protocol to Odoo. Default: `auto`.'),
  timeout_ms: z
    .int()
    .nullable()
    .describe(
      'Time limit of calls that set none, 1 to 300000 milliseconds. Default, and null: `upstream.timeoutMs`.',
    ),
  concurrency: z
    .int()
    .nullable()
    .describe('Maximum number of concurrent calls, 1 to 1000. Default, and null: no separate limit.'),
  certificates: z
    .string()
    .nullable()
    .describe('PEM certificates to trust in place of the public ones. Default, and null: the public ones.'),
  allow_private: z
    .boolean(FLAG_RULE)
    .describe('Allow a private address or plain http, as if `egress.allow` listed it.'),
  rotate_key: z
    .boolean(FLAG_RULE)
    .describe('Let the proxy replace the key before it expires (Odoo 19 and later).'),
  tags: z
    .array(z.string())
    .describe('Words by which calls to many instances choose theirs (docs/fleet.md). Default: none.'),
};

const instanceKey = z
  .object({
    expires_at: time.nullable().describe('When the key expires in Odoo; null: never, or not known.'),
    state: z
      .enum(['ok', 'expiring', 'expired', 'unknown', 'none'])
      .describe('`unknown`: Odoo up to version 18 does not tell. `none`: the instance has no key.'),
    rotate: z.boolean().describe('True: the proxy replaces the key before it expires.'),
    failure: z.string().nullable().describe('Why the last rotation failed; null: it did not.'),
  })
  .describe('What is known of the Odoo key.');
export type InstanceKeyView = z.infer<typeof instanceKey>;

/** In a view, `rotate_key` is not a member of its own, but part of `key`. */
const { rotate_key: _, ...SHOWN_MEMBERS } = INSTANCE_MEMBERS;
type ShownMembers = z.infer<z.ZodObject<typeof SHOWN_MEMBERS>>;

/** Picks the members that a view shows unchanged. */
export function pickShownMembers(from: ShownMembers): ShownMembers {
  const names = Object.keys(SHOWN_MEMBERS) as (keyof ShownMembers)[];
  return Object.fromEntries(names.map((name) => [name, from[name]])) as unknown as ShownMembers;
}

/** An instance without its Odoo key. */
export const instanceView = named(
  'Instance',
  z.object({
    name: z.string(),
    ...SHOWN_MEMBERS,
    key: instanceKey,
    created_at: time,
    updated_at: time,
    version,
  }),
);
export type InstanceView = z.infer<typeof instanceView>;

const { url, db, identity: identityMember, user_id, ...FURTHER } = INSTANCE_MEMBERS;

/** The input for an instance: the members above, and those that no view shows in this form. */
export const INSTANCE_INPUT = {
  url,
  db,
  identity: identityMember,
  user_id,
  api_key: z
    .string()
    .nullable()
    .meta({ writeOnly: true })
    .describe("The user's API key in Odoo. Null, and left out, with the identity `person`."),
  ...FURTHER,
  key_expires_at: time
    .nullable()
    .describe('Expiry of the key, if Odoo does not report it, as in 2027-01-31T00:00:00Z. Default: null.'),
};

/**
 * Changes of an instance. The key must be given again if the stored one could reach another server, or one that
 * impersonates its own.
 */
export const instanceChanges = named(
  'InstanceChanges',
  z
    .strictObject(optional(INSTANCE_INPUT))
    .describe(
      'Omitted members keep their values. A new `url`, changed `certificates`, and turning on `allow_private` need the `api_key` again, or end the connections of persons. The identity `person` removes user and key; `shared` needs both.',
    ),
);
export type InstanceChanges = z.infer<typeof instanceChanges>;

export const instanceInput = named(
  'InstanceInput',
  z.strictObject({
    ...optional(INSTANCE_INPUT),
    name: z.string(),
    url,
    db,
  }),
);
export type InstanceInput = z.infer<typeof instanceInput>;

/** An Odoo server with a user that is not stored, to check it. */
export const instanceCheckInput = named(
  'InstanceCheckInput',
  z.strictObject({
    ...pick(instanceInput.shape, INSTANCE_CHECK_MEMBERS),
    api_key: z.string().meta({ writeOnly: true }).describe("The user's API key in Odoo."),
    timeout_ms: FURTHER.timeout_ms.describe('Time limit of each request, in milliseconds.').exactOptional(),
    user_id: user_id.unwrap().exactOptional(),
    login: z
      .string()
      .describe('Login of the user, in place of `user_id`, which the answer has then.')
      .exactOptional(),
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

/** Client keys, and subjects of identity providers, whose tokens are used in place of keys. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { givenPolicy, policy } from './policy.ts';
import { named, optional, PAGE_QUERY, pageOf, search, time, version } from './schema-names.ts';
import type { KEY_MEMBERS } from './values.ts';

export const unreadablePolicy = named(
  'UnreadablePolicy',
  z
    .object({ unreadable: z.string().describe('The reason.') })
    .describe(
      'Replaces a stored policy that cannot be read. All calls of its key are refused until a new policy is set.',
    ),
);
export type UnreadablePolicy = z.infer<typeof unreadablePolicy>;

const keyState = z.enum(['active', 'expired', 'revoked']);
export type KeyState = z.infer<typeof keyState>;

const VIEW_MEMBERS = {
  id: z.string(),
  client_id: z
    .string()
    .describe('Id of the client, which stays the same when its key is rotated: the id of its first key.'),
  name: z.string(),
  state: keyState,
  policy: z
    .union([policy, unreadablePolicy])
    .nullable()
    .describe('Null: the key may do everything that egress allows.'),
  for: z
    .string()
    .nullable()
    .describe('`<issuer>/<subject>` of the person whose calls the key makes; null: nobody in particular.'),
  created_at: time,
  created_by: actor.nullable().describe('Who made the key. Null: the store does not tell.'),
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe('Accurate to about a minute.'),
  revoked_at: time.nullable(),
  replaces: z.string().nullable().describe('Id of the key that this one replaces.'),
  version,
};

/** A client key, without its secret. */
export const keyView = named('Key', z.object(VIEW_MEMBERS));
export type KeyView = z.infer<typeof keyView>;

export const newKeyView = named(
  'NewKey',
  z.object({
    ...VIEW_MEMBERS,
    key: z.string().describe('The text to send in `x-proxy-api`. No other answer has it.'),
  }),
);
export type NewKeyView = z.infer<typeof newKeyView>;

/** What an operator may give. The commands, `apply`, the console and the rules of changes follow from it. */
export const KEY_INPUT = {
  name: z.string(),
  policy: givenPolicy.nullable(),
  expires_at: time.nullable(),
  for: z
    .string()
    .nullable()
    .describe(
      '`<issuer>/<subject>` of the person whose calls the key makes. It never changes. Default: null, nobody in particular.',
    ),
} satisfies Record<(typeof KEY_MEMBERS)[number], z.ZodType>;

const { name, expires_at: _, for: person, ...others } = KEY_INPUT;
const fileMembers = { ...others, for: person.exactOptional() };

/**
 * The members of a key in a configuration file, beside its name. `expires_at` is not among them: `apply` finds keys by
 * name, and after a rotation the keys of one name end at different times.
 */
export const KEY_FILE_MEMBERS = fileMembers;
export type KeyFileMembers = z.infer<z.ZodObject<typeof KEY_FILE_MEMBERS>>;

export const keyInput = named('KeyInput', z.strictObject({ ...optional(KEY_INPUT), name }));
export type KeyInput = z.infer<typeof keyInput>;

/** Omitted members keep their values. */
export const keyChanges = named('KeyChanges', z.strictObject(optional(KEY_INPUT)));
export type KeyChanges = z.infer<typeof keyChanges>;

export const keyRotation = named(
  'KeyRotation',
  z.strictObject({
    overlap_seconds: z.int().min(0).describe('Seconds for which the old key stays valid; 30 days at most.'),
  }),
);
export type KeyRotation = z.infer<typeof keyRotation>;

export const keyPage = named('KeyPage', pageOf(keyView));

const keyName = z.object({ id: z.string(), name: z.string() });

/** Names of keys in any order. Unknown ids are left out. */
export const keyNames = named('KeyNames', z.object({ items: z.array(keyName) }));
export type KeyNamesView = z.infer<typeof keyNames>;

export const keyQuery = z.strictObject({
  ...PAGE_QUERY,
  state: keyState.exactOptional(),
  search,
  name: z.string().describe('The whole name.').exactOptional(),
});

export const keyNamesQuery = z.strictObject({
  ids: z.string().min(1).max(10_000).describe('Up to 100 ids of keys, separated by commas.'),
});

/** A subject of an identity provider whose tokens are refused. */
export const deniedSubjectView = named(
  'DeniedSubject',
  z.object({ id: z.string().describe('`<issuer>/<subject>`'), denied_at: time }),
);
export type DeniedSubjectView = z.infer<typeof deniedSubjectView>;

export const deniedSubjectInput = named(
  'DeniedSubjectInput',
  z.strictObject({ id: z.string().describe('`<issuer>/<subject>`, as the log and the audit show it.') }),
);

export const deniedSubjectPage = named('DeniedSubjectPage', pageOf(deniedSubjectView));

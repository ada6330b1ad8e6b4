/** The members of an instance, their rules, and the parser of an operator's input. */
import {
  INSTANCE_DEFAULTS,
  type InstanceChanges,
  type InstanceInput,
  type InvalidMember,
} from '@erp-proxy/contract';
import { INSTANCE_MEMBERS, optional, withDefaults } from '@erp-proxy/contract/admin';
import { parseBaseUrl, URL_LENGTH_MAX } from '@erp-proxy/egress/policy';
import { DATABASE_NAME } from '@erp-proxy/odoo/servers';
import { z } from 'zod';
import { InputError, parseInput } from './input.ts';
import { findCertificateError } from './trust.ts';

export const INSTANCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The form of a key, or of a password in its place. */
const API_KEY = /^[\x21-\x7e]{1,256}$/;

const CERTIFICATES_LENGTH_MAX = 64 * 1024;

const TAG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const TAGS_MAX = 20;

const RULES = {
  name: 'must be 1 to 64 of letters, digits, ".", "_" and "-", and begin with a letter or digit',
  url: `must be the address of the Odoo server, of at most ${URL_LENGTH_MAX} characters`,
  db: 'must be the name of a database: 1 to 63 of letters, digits, "_", "." and "-"',
  user_id: "must be the user's number in Odoo, a positive integer",
  timeout_ms: 'must be a whole number of milliseconds from 1 to 300000, or null',
  concurrency: 'must be a whole number of calls from 1 to 1000, or null',
  api_key: 'must be the API key of the user in Odoo: 1 to 256 visible ASCII characters',
  certificates: `must be certificates in PEM, of at most ${CERTIFICATES_LENGTH_MAX} characters, or null`,
  tag: 'must be 1 to 32 of letters, digits, ".", "_" and "-", and begin with a letter or digit',
  tags: 'must be a list of at most 20 different tags, such as ["production"]',
  key_expires_at: 'must be a time as in "2027-01-31T00:00:00Z", in the years 0 to 9999 in UTC, or null',
};

/** Members that have the same form in the store and in input. */
export const MEMBERS = {
  ...INSTANCE_MEMBERS,
  url: textBy(URL_LENGTH_MAX, RULES.url, (text) => {
    const address = parseBaseUrl(text);
    return 'problem' in address ? address.problem : null;
  }),
  db: z.string(RULES.db).regex(DATABASE_NAME, RULES.db),
  user_id: wholeNumber(2 ** 31 - 1, RULES.user_id).nullable(),
  timeout_ms: wholeNumber(300_000, RULES.timeout_ms).nullable(),
  concurrency: wholeNumber(1000, RULES.concurrency).nullable(),
  certificates: textBy(CERTIFICATES_LENGTH_MAX, RULES.certificates, findCertificateError).nullable(),
  tags: z
    .array(z.string(RULES.tag).regex(TAG, RULES.tag), RULES.tags)
    .max(TAGS_MAX, RULES.tags)
    .refine((tags) => new Set(tags).size === tags.length, RULES.tags),
};

export type Members = Readonly<{ [Name in keyof typeof MEMBERS]: z.infer<(typeof MEMBERS)[Name]> }>;

/** Members of input, including those that the store keeps in another form. */
const GIVEN = {
  ...MEMBERS,
  api_key: z.string(RULES.api_key).regex(API_KEY, RULES.api_key).nullable(),
  key_expires_at: z.iso
    .datetime({ offset: true, error: RULES.key_expires_at, abort: true })
    // In UTC, the year of the time may have five digits, or lie before the year 0, which is printed with a sign.
    .refine((text) => /^\d/.test(new Date(text).toISOString()), RULES.key_expires_at)
    .transform((text) => Date.parse(text))
    .nullable(),
};

const INPUT = z.strictObject(
  { name: z.string(RULES.name).regex(INSTANCE_NAME, RULES.name), ...withDefaults(GIVEN, INSTANCE_DEFAULTS) },
  'an instance must be an object, e.g. {"name", "url", "db", "user_id", "api_key"}',
);

/** With a user of its own, so that a missing user or key is reported with all other errors. */
const SHARED_INPUT = INPUT.safeExtend({
  user_id: GIVEN.user_id.unwrap(),
  api_key: GIVEN.api_key.unwrap(),
});

const CHANGES = z.strictObject(
  optional(GIVEN),
  'changes of an instance must be an object, e.g. {"timeout_ms": 60000}',
);

export type Changes = z.infer<typeof CHANGES>;

/** Parses the members of a new instance, with defaults for omitted ones. Throws an {@link InputError}. */
export function readInput(input: Partial<InstanceInput>): z.infer<typeof INPUT> {
  const schema: z.ZodType<z.infer<typeof INPUT>> = input?.identity === 'person' ? INPUT : SHARED_INPUT;
  const members = read(schema, Object.keys(INPUT.shape), input);
  checkTogether(members);
  return members;
}

/** The members that an instance for persons has not: no user and no key of its own. */
export const OWN_USER = { user_id: null, api_key: null, key_expires_at: null } as const;

type Together = Pick<Members, 'url' | 'certificates' | 'identity' | 'user_id'> & {
  api_key: string | null;
  key_expires_at: number | null;
};

/** Checks members that depend on each other. Throws an {@link InputError}. */
export function checkTogether(members: Together): void {
  const { url, certificates, identity } = members;
  const invalid: InvalidMember[] = [];
  if (identity === 'shared') {
    for (const path of ['user_id', 'api_key'] as const)
      if (members[path] === null) invalid.push({ path, message: RULES[path] });
  } else {
    const given = Object.entries(OWN_USER).filter(([name, none]) => members[name as keyof Together] !== none);
    for (const [path] of given) invalid.push({ path, message: NOT_WITH_PERSONS });
  }
  if (certificates !== null && new URL(url).protocol !== 'https:') {
    const message = 'are of use over https only, and `url` is plain http: leave them out, or correct the url';
    invalid.push({ path: 'certificates', message });
  }
  if (invalid.length > 0) throw new InputError(invalid);
}

const NOT_WITH_PERSONS =
  'does not go with the identity `person`, where each person connects a user and a key of their own: leave it out';

/** Parses the members that are given. Throws an {@link InputError}. */
export function readChanges(changes: InstanceChanges): Changes {
  return read(CHANGES, Object.keys(CHANGES.shape), changes);
}

function read<Output>(schema: z.ZodType<Output>, members: string[], given: unknown): Output {
  return parseInput(schema, given, () => `is no member here; known are ${members.join(', ')}`);
}

function wholeNumber(max: number, rule: string) {
  return z.int(rule).min(1, rule).max(max, rule);
}

function textBy(lengthMax: number, rule: string, findError: (text: string) => string | null) {
  return z
    .string(rule)
    .max(lengthMax, { error: rule, abort: true })
    .superRefine((text, context) => {
      const error = findError(text);
      if (error !== null) context.addIssue(error);
    });
}

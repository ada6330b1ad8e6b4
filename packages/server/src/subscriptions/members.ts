/**
 * The members of a subscription, their rules, and the parser of an operator's input. All errors are reported at once,
 * and without values: a URL may contain a secret.
 */
import type { InvalidMember, SubscriptionChanges, SubscriptionInput } from '@erp-proxy/contract';
import { z } from 'zod';

/** Invalid input of an operator. Nothing was changed. */
export class SubscriptionInputError extends Error {
  override readonly name = 'SubscriptionInputError';
  readonly invalidMembers: InvalidMember[];

  constructor(invalidMembers: InvalidMember[]) {
    super(invalidMembers.map(({ path, message }) => `\`${path}\` ${message}`).join('; '));
    this.invalidMembers = invalidMembers;
  }
}

const SUBSCRIPTION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const URL_LENGTH_MAX = 2048;
const DOMAIN_LENGTH_MAX = 16 * 1024;
const FIELDS_MAX = 200;
const INTERVAL_SECONDS_MIN = 5;
const INTERVAL_SECONDS_MAX = 86_400;

const NAME_RULE = 'must be 1 to 64 of letters, digits, ".", "_" and "-", and begin with a letter or digit';
const RULES = {
  name: NAME_RULE,
  instance: 'must be the name of a stored instance',
  model: 'must be the name of a model, e.g. "res.partner"',
  domain: `must be a domain: a list, as Odoo takes it, of at most ${DOMAIN_LENGTH_MAX} bytes`,
  fields: `must be a list of 1 to ${FIELDS_MAX} names of fields`,
  url: `must be the address of the receiver, of at most ${URL_LENGTH_MAX} characters`,
  interval_seconds: `must be a whole number of seconds from ${INTERVAL_SECONDS_MIN} to ${INTERVAL_SECONDS_MAX}`,
  payload: 'must be "full" or "thin"',
  start: 'must be "now" or "all"',
  gone: 'must be true or false',
  key: 'must be the id of a client key, or null',
};

/** The members that the operator sets, in the form in which they are stored. */
export const MEMBERS = {
  instance: z.string(RULES.instance).regex(SUBSCRIPTION_NAME, RULES.instance),
  model: z.string(RULES.model).regex(/^[A-Za-z0-9_.]{1,128}$/, RULES.model),
  domain: z
    .array(z.unknown(), RULES.domain)
    .refine((domain) => JSON.stringify(domain).length <= DOMAIN_LENGTH_MAX, RULES.domain),
  fields: z
    .array(z.string(RULES.fields).regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, RULES.fields), RULES.fields)
    .min(1, RULES.fields)
    .max(FIELDS_MAX, RULES.fields)
    .refine((fields) => new Set(fields).size === fields.length, 'must name each field once'),
  url: z
    .string(RULES.url)
    .max(URL_LENGTH_MAX, RULES.url)
    .superRefine((text, context) => {
      const problem = findUrlProblem(text);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    }),
  interval_seconds: z
    .int(RULES.interval_seconds)
    .min(INTERVAL_SECONDS_MIN, RULES.interval_seconds)
    .max(INTERVAL_SECONDS_MAX, RULES.interval_seconds),
  payload: z.enum(['full', 'thin'], RULES.payload),
  gone: z.boolean(RULES.gone),
  start: z.enum(['now', 'all'], RULES.start),
  key: z
    .string(RULES.key)
    .regex(/^\w{1,64}$/, RULES.key)
    .nullable(),
};

const INPUT = z.strictObject(
  {
    name: z.string(RULES.name).regex(SUBSCRIPTION_NAME, RULES.name),
    ...MEMBERS,
    domain: MEMBERS.domain.default([]),
    interval_seconds: MEMBERS.interval_seconds.default(60),
    payload: MEMBERS.payload.default('full'),
    gone: MEMBERS.gone.default(false),
    start: MEMBERS.start.default('now'),
    key: MEMBERS.key.default(null),
  },
  'a subscription must be an object, e.g. {"name", "instance", "model", "fields", "url"}',
);

const CHANGES = z.strictObject(
  {
    instance: MEMBERS.instance.exactOptional(),
    model: MEMBERS.model.exactOptional(),
    domain: MEMBERS.domain.exactOptional(),
    fields: MEMBERS.fields.exactOptional(),
    url: MEMBERS.url.exactOptional(),
    interval_seconds: MEMBERS.interval_seconds.exactOptional(),
    payload: MEMBERS.payload.exactOptional(),
    gone: MEMBERS.gone.exactOptional(),
    start: MEMBERS.start.exactOptional(),
    key: MEMBERS.key.exactOptional(),
  },
  'the changes must be an object',
);

/** Throws a {@link SubscriptionInputError}. */
export function readInput(given: SubscriptionInput): z.infer<typeof INPUT> {
  return read(INPUT, given);
}

/** Throws a {@link SubscriptionInputError}. */
export function readChanges(given: SubscriptionChanges): z.infer<typeof CHANGES> {
  return read(CHANGES, given);
}

function read<Output>(schema: z.ZodType<Output>, given: unknown): Output {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const found = new Map<string, InvalidMember>();
  for (const issue of result.error.issues) {
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.')];
    const message = issue.code === 'unrecognized_keys' ? 'is not known' : issue.message;
    for (const path of names) if (!found.has(path)) found.set(path, { path, message });
  }
  throw new SubscriptionInputError([...found.values()]);
}

/** Accepts http and https with a path and query, without user info and fragment. */
function findUrlProblem(text: string): string | null {
  // The URL parser silently drops tabs and line breaks, and reads `\` as `/`.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not have spaces, control characters or backslashes';
  if (text.includes('#')) return 'must not have a fragment';
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[^/?]/i.test(text))
    return 'must be the address of the receiver, e.g. "https://shop.example.com/webhooks/odoo"';
  if (url.username !== '' || url.password !== '')
    return 'must not have a user name or password; the receiver checks the signature instead';
  return null;
}

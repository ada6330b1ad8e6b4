/** The members of a subscription, their rules, and the parser of an operator's input. */
import {
  SUBSCRIPTION_DEFAULTS,
  SUBSCRIPTION_EVENTS,
  type SubscriptionChanges,
  type SubscriptionInput,
} from '@erp-proxy/contract';
import { optional, SUBSCRIPTION_PARTS, withDefaults } from '@erp-proxy/contract/admin';
import { parseInput } from '@erp-proxy/control/instances';
import { z } from 'zod';

const SUBSCRIPTION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const URL_LENGTH_MAX = 2048;
const DOMAIN_LENGTH_MAX = 16 * 1024;
const FIELDS_MAX = 200;
const INTERVAL_SECONDS_MIN = 5;
const INTERVAL_SECONDS_MAX = 86_400;

const NAME_RULE = 'must be 1 to 64 of letters, digits, ".", "_" and "-", and begin with a letter or digit';
const RULES = {
  name: NAME_RULE,
  events: `must be a list of ${SUBSCRIPTION_EVENTS.map((event) => JSON.stringify(event)).join(' and ')}`,
  instance: 'must be the name of a stored instance',
  model: 'must be the name of a model, e.g. "res.partner"',
  domain: `must be a domain: a list, as Odoo takes it, of at most ${DOMAIN_LENGTH_MAX} bytes`,
  fields: `must be a list of 1 to ${FIELDS_MAX} names of fields`,
  url: `must be the address of the receiver, of at most ${URL_LENGTH_MAX} characters`,
  interval_seconds: `must be a whole number of seconds from ${INTERVAL_SECONDS_MIN} to ${INTERVAL_SECONDS_MAX}`,
  key: 'must be the id of a client key, or null',
};

const SHARED_MEMBERS = {
  ...SUBSCRIPTION_PARTS.shared,
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
};

const RECORD_MEMBERS = {
  ...SUBSCRIPTION_PARTS.records,
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
  key: z
    .string(RULES.key)
    .regex(/^\w{1,64}$/, RULES.key)
    .nullable(),
};

const EVENT_MEMBERS = {
  events: z
    .array(z.enum(SUBSCRIPTION_EVENTS, RULES.events), RULES.events)
    .min(1, RULES.events)
    .max(SUBSCRIPTION_EVENTS.length, RULES.events),
};

const RECORD_DEFAULTED = withDefaults(RECORD_MEMBERS, SUBSCRIPTION_DEFAULTS);

/** The members in the form in which they are stored. A stored subscription may lack members with a default. */
export const STORED_MEMBERS = {
  shared: withDefaults(SHARED_MEMBERS, SUBSCRIPTION_DEFAULTS),
  // A damaged row must not send more than it may: no key means no policy, and no domain means all records.
  records: { ...RECORD_DEFAULTED, key: RECORD_MEMBERS.key, domain: RECORD_MEMBERS.domain },
  events: withDefaults(EVENT_MEMBERS, SUBSCRIPTION_DEFAULTS),
};

const NAME = z.string(RULES.name).regex(SUBSCRIPTION_NAME, RULES.name);
const RECORD_INPUT = z.strictObject(
  { name: NAME, ...RECORD_DEFAULTED, ...STORED_MEMBERS.shared },
  'a subscription must be an object, e.g. {"name", "instance", "model", "fields", "url"}',
);
const EVENT_INPUT = z.strictObject({ name: NAME, ...STORED_MEMBERS.events, ...STORED_MEMBERS.shared });

const NO_OBJECT = 'the changes must be an object';
const RECORD_CHANGES = z.strictObject(optional({ ...SHARED_MEMBERS, ...RECORD_MEMBERS }), NO_OBJECT);
const EVENT_CHANGES = z.strictObject(optional({ ...SHARED_MEMBERS, ...EVENT_MEMBERS }), NO_OBJECT);

/** Throws an {@link InputError}. */
export function readInput(
  given: SubscriptionInput,
): z.infer<typeof RECORD_INPUT> | z.infer<typeof EVENT_INPUT> {
  return given.events === undefined
    ? parseInput(RECORD_INPUT, given, explainUnknown)
    : parseInput(EVENT_INPUT, given, explainUnknown);
}

/** Parses changes of a subscription to records. Throws an {@link InputError}. */
export function readRecordChanges(given: SubscriptionChanges): z.infer<typeof RECORD_CHANGES> {
  return parseInput(RECORD_CHANGES, given, explainUnknown);
}

/** Parses changes of a subscription to events. Throws an {@link InputError}. */
export function readEventChanges(given: SubscriptionChanges): z.infer<typeof EVENT_CHANGES> {
  return parseInput(EVENT_CHANGES, given, explainUnknown);
}

/** Checks changes of a subscription whose kind is not known yet. Throws an {@link InputError}. */
export function checkChanges(given: SubscriptionChanges): void {
  if (given.events === undefined) readRecordChanges(given);
  else readEventChanges(given);
}

function explainUnknown(name: string): string {
  if (name === 'events') return 'cannot be set: the subscription is to records';
  return name in RECORD_MEMBERS ? 'cannot be set: the subscription is to `events`' : 'is not known';
}

/** Accepts URLs of http and https with a path and query, without user info and fragment. */
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

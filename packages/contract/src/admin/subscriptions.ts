/** Subscriptions: they send the changes of a model's records, or events of the proxy, to a webhook. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { FLAG_RULE, named, optional, PAGE_QUERY, pageOf, search, time, version } from './schema-names.ts';
import {
  type RECORD_SUBSCRIPTION_MEMBERS,
  type SHARED_SUBSCRIPTION_MEMBERS,
  SUBSCRIPTION_EVENTS,
} from './values.ts';

type SharedMember = (typeof SHARED_SUBSCRIPTION_MEMBERS)[number];
type RecordMember = (typeof RECORD_SUBSCRIPTION_MEMBERS)[number];

/** The input for a subscription, in the order of the commands. */
export const SUBSCRIPTION_MEMBERS = {
  events: z
    .array(z.enum(SUBSCRIPTION_EVENTS))
    .describe(
      'Events of the proxy, in place of an instance, a model and fields. `key.ends`: a client key ends soon, or has ended. `job.ended`: a job has ended whose caller has named this subscription as its `callback`.',
    ),
  instance: z.string().describe('Name of the stored instance.'),
  model: z.string().describe('Model whose changes are sent, such as `res.partner`.'),
  domain: z
    .array(z.unknown())
    .describe(
      'Only records that match, as Odoo takes it: `[["is_company","=",true]]`. Default: all records.',
    ),
  fields: z.array(z.string()).describe('Fields whose values are sent.'),
  url: z
    .string()
    .describe('Address that receives the changes by `POST`. Roles below `operator` see only its origin.'),
  interval_seconds: z.int().describe('Seconds between two readings: 5 to 86400. Default: 60.'),
  payload: z
    .enum(['full', 'thin'], 'must be "full" or "thin"')
    .describe('`thin`: without the values of the record. Default: `full`.'),
  gone: z.boolean(FLAG_RULE).describe('Send records that vanish, too.'),
  start: z
    .enum(['now', 'all'], 'must be "now" or "all"')
    .describe('`all`: begin with all records that match. Default: `now`.'),
  key: z
    .string()
    .nullable()
    .describe(
      'Id of the client key whose policy and limits the calls on Odoo obey. Default, and null: no policy restricts them.',
    ),
};

const { events, url, interval_seconds, start, ...records } = SUBSCRIPTION_MEMBERS;

/** The same members, grouped by the subscriptions that have them: all, those to records, those to events. */
export const SUBSCRIPTION_PARTS = {
  shared: { url, interval_seconds, start } satisfies Record<SharedMember, z.ZodType>,
  records: records satisfies Record<RecordMember, z.ZodType>,
  events: { events },
};

/**
 * Omitted members keep their values. A change of instance, model, domain, fields, `gone`, key or events starts the
 * subscription again, by its `start`. A subscription to records cannot become one to events.
 */
export const subscriptionChanges = named(
  'SubscriptionChanges',
  z.strictObject(optional(SUBSCRIPTION_MEMBERS)),
);
export type SubscriptionChanges = z.infer<typeof subscriptionChanges>;

/** Has either `events`, or `instance`, `model`, `fields` and the other members about records. */
export const subscriptionInput = named(
  'SubscriptionInput',
  z.strictObject({
    ...optional(SUBSCRIPTION_MEMBERS),
    name: z.string(),
    url: SUBSCRIPTION_MEMBERS.url,
  }),
);
export type SubscriptionInput = z.infer<typeof subscriptionInput>;

const subscriptionState = z.enum(['active', 'paused', 'disabled']);
export type SubscriptionState = z.infer<typeof subscriptionState>;

const basics = z.object({
  name: z.string(),
  state: subscriptionState,
  reason: z.string().nullable().describe('Why it is paused or disabled; null while it is active.'),
  ...SUBSCRIPTION_PARTS.shared,
  read_at: time.nullable().describe('When changes were read last. Accurate to some seconds.'),
  problem: z.string().nullable().describe('Why changes cannot be read at present; null: they can.'),
  receiver: z.object({
    failures: z.int().describe('Consecutive attempts that were not taken.'),
    failing_since: time.nullable().describe('Null: the last attempt was taken.'),
    retry_at: time.nullable().describe('Nothing is sent before.'),
    last_failure: z.string().nullable().describe('Why an attempt was not taken last.'),
    delivered_at: time.nullable(),
  }),
  secrets: z
    .array(
      z.object({
        created_at: time,
        expires_at: time.nullable().describe('Null: until it is rotated.'),
      }),
    )
    .describe('The secrets that sign, the newest first.'),
  created_at: time,
  created_by: actor.nullable().describe('Who made it. Null: the store does not tell.'),
  updated_at: time,
  version,
});

const recordSource = z.object({
  ...records,
  domain: records.domain.describe(
    'Only records that match. A record that does not match any more is sent once, with the type `left`.',
  ),
});
const eventSource = z.object(SUBSCRIPTION_PARTS.events);

/** The source of a subscription: changes of a model's records, or events. */
export type RecordSource = z.infer<typeof recordSource> & { events?: undefined };
export type EventSource = z.infer<typeof eventSource> &
  Partial<Record<keyof z.infer<typeof recordSource>, undefined>>;

/** A subscription without its secrets. */
export const subscriptionView = named(
  'Subscription',
  z.union([basics.extend(recordSource.shape), basics.extend(eventSource.shape)]),
);
export type SubscriptionView = z.infer<typeof basics> & (RecordSource | EventSource);

const newSecret = z.object({
  secret: z.string().describe('The secret that signs deliveries, `whsec_…`. No other answer has it.'),
});

export const newSubscriptionView = named(
  'NewSubscription',
  z.union([
    basics.extend(recordSource.shape).extend(newSecret.shape),
    basics.extend(eventSource.shape).extend(newSecret.shape),
  ]),
);
export type NewSubscriptionView = SubscriptionView & z.infer<typeof newSecret>;

export const subscriptionPause = named(
  'SubscriptionPause',
  z.strictObject({ reason: z.string().exactOptional() }),
);
export type SubscriptionPause = z.infer<typeof subscriptionPause>;

export const secretRotation = named(
  'SecretRotation',
  z.strictObject({
    overlap_seconds: z.int().describe('Seconds for which the old secret signs, too; 30 days at most.'),
  }),
);
export type SecretRotation = z.infer<typeof secretRotation>;

export const pingView = named(
  'Ping',
  z.object({
    delivered: z.boolean(),
    status: z.int().nullable().describe('HTTP status of the answer; null if there was none.'),
    failure: z.string().nullable().describe('Why it was not taken; null if it was.'),
    duration_ms: z.int(),
  }),
);
export type PingView = z.infer<typeof pingView>;

/** Has exactly one of the two members. */
export const replayInput = named(
  'Replay',
  z.strictObject({
    delivery: z.string().describe('`webhook-id` of one delivery.').exactOptional(),
    since: time.describe('The newest delivery of each record since this time.').exactOptional(),
  }),
);

export const replayView = named(
  'Replayed',
  z.object({ replayed: z.int().describe('Number of deliveries.') }),
);
export type ReplayView = z.infer<typeof replayView>;

const deliveryState = z.enum(['waiting', 'delivered', 'failed', 'merged']);
export type DeliveryStateName = z.infer<typeof deliveryState>;

/** One delivery to a webhook, without its content. */
const deliveryView = named(
  'Delivery',
  z.object({
    id: z.string().describe('The `webhook-id`.'),
    type: z.string(),
    record: z.string().nullable().describe('Id of the record; null for a ping.'),
    state: deliveryState.describe(
      '`merged`: a newer version of the record took its place. `failed`: given up.',
    ),
    attempts: z.int(),
    next_at: time.nullable().describe('When it is sent next; null once it has ended.'),
    created_at: time,
    ended_at: time.nullable(),
    status: z.int().nullable().describe('HTTP status of the last answer.'),
    failure: z.string().nullable(),
    duration_ms: z.int().nullable().describe('Duration of the last attempt.'),
  }),
);
export type DeliveryView = z.infer<typeof deliveryView>;

export const subscriptionPage = named('SubscriptionPage', pageOf(subscriptionView));
export const deliveryPage = named('DeliveryPage', pageOf(deliveryView));

export const subscriptionQuery = z.strictObject({
  ...PAGE_QUERY,
  state: subscriptionState.exactOptional(),
  search,
});

export const deliveryQuery = z.strictObject({ ...PAGE_QUERY, state: deliveryState.exactOptional() });
export type DeliveryQuery = z.infer<typeof deliveryQuery>;

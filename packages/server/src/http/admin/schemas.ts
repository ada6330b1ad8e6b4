/**
 * The shapes of the admin API, as far as JSON Schema can express them. They validate input and are rendered in the
 * OpenAPI document. The admin service checks the other rules: those of a policy, a certificate or a time.
 */
import {
  type AdminCallInput,
  type ApprovalDetails,
  type ApprovalQuery,
  type ApprovalRefusal,
  type ApprovalView,
  ATTENTION_KINDS,
  ATTENTION_PARTS,
  ATTENTION_SEVERITIES,
  type AttentionView,
  type AuditQuery,
  type AuditVerdict,
  type AuditView,
  CALL_SOURCES,
  type CallStatistics,
  type ConcernedRecord,
  type ConcernedRecords,
  type DeliveryQuery,
  type DeliveryView,
  type DeniedSubjectView,
  type Examination,
  type ExplainInput,
  type Explanation,
  type InstanceChanges,
  type InstanceCheckInput,
  type InstanceInput,
  type InstanceQuery,
  type InstanceView,
  type KeyChanges,
  type KeyInput,
  type KeyNamesView,
  type KeyQuery,
  type KeyRotation,
  type KeyView,
  type MethodsView,
  type NewKeyView,
  type NewSubscriptionView,
  type Page,
  type PageQuery,
  type PingView,
  type Policy,
  type PolicyCompareInput,
  type PolicyComparison,
  type PolicyExplainInput,
  type Problem,
  type ReplayInput,
  type ReplayView,
  type SandboxView,
  type SecretRotation,
  STATISTICS_DIMENSIONS,
  type StatisticsFilters,
  type StatisticsView,
  type StatusView,
  SUBSCRIPTION_EVENTS,
  type SubscriptionChanges,
  type SubscriptionInput,
  type SubscriptionPause,
  type SubscriptionQuery,
  type SubscriptionView,
  type UnreadablePolicy,
} from '@erp-proxy/contract';
import { z } from 'zod';
import { FIELD_RULE_SCHEMA } from '../../policy/member-kinds.ts';
import { POLICY_SCHEMA } from '../../policy/members.ts';
import { executeCall } from '../openapi/call-schemas.ts';
import { named, showAs } from '../schema-registry.ts';

const time = z.string().meta({ format: 'date-time' });
const version = z.int().min(1).describe('Number of changes. The ETag has it with the time of creation.');

const policy = named('Policy', POLICY_SCHEMA);

/** The admin service parses it, and reports all errors at once. */
const givenPolicy = showAs(
  policy,
  z.custom<Policy>(() => true),
);

const unreadablePolicy = named(
  'UnreadablePolicy',
  z
    .object({ unreadable: z.string().describe('The reason.') })
    .describe(
      'Replaces a stored policy that cannot be read. All calls of its key are refused until a new policy is set.',
    ) satisfies z.ZodType<UnreadablePolicy>,
);

const keyState = z.enum(['active', 'expired', 'revoked']);

const KEY_MEMBERS = {
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
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe('Accurate to about a minute.'),
  revoked_at: time.nullable(),
  replaces: z.string().nullable().describe('Id of the key that this one replaces.'),
  version,
};

export const keyView = named('Key', z.object(KEY_MEMBERS) satisfies z.ZodType<KeyView>);

export const newKeyView = named(
  'NewKey',
  z.object({
    ...KEY_MEMBERS,
    key: z.string().describe('The text to send in `x-proxy-api`. No other answer has it.'),
  }) satisfies z.ZodType<NewKeyView>,
);

const KEY_INPUT = {
  name: z.string(),
  policy: givenPolicy.nullable().exactOptional(),
  expires_at: time.nullable().exactOptional(),
};

export const keyInput = named('KeyInput', z.strictObject(KEY_INPUT) satisfies z.ZodType<KeyInput>);

export const keyChanges = named(
  'KeyChanges',
  z.strictObject({ ...KEY_INPUT, name: KEY_INPUT.name.exactOptional() }) satisfies z.ZodType<KeyChanges>,
);

export const keyRotation = named(
  'KeyRotation',
  z.strictObject({
    overlap_seconds: z.int().min(0).describe('Seconds for which the old key stays valid; 30 days at most.'),
  }) satisfies z.ZodType<KeyRotation>,
);

const EXPLAIN_INPUT = {
  call: z
    .unknown()
    .refine((call) => call !== undefined, 'is missing')
    .describe('The body of an execute call.'),
  address: z.string().describe('Address of the caller; not checked if left out.').exactOptional(),
  origin: z
    .string()
    .describe("The browser's `origin` header. If left out, the caller is not a browser.")
    .exactOptional(),
};

export const explainInput = named(
  'ExplainInput',
  z.strictObject(EXPLAIN_INPUT) satisfies z.ZodType<ExplainInput>,
);

/** A draft must be there: null means that there is no policy. */
const draftPolicy = showAs(
  policy,
  z.custom<Policy>((given) => given !== undefined, 'is missing'),
)
  .nullable()
  .describe('The draft. Null: no policy.');

export const policyExplainInput = named(
  'PolicyExplainInput',
  z.strictObject({ policy: draftPolicy, ...EXPLAIN_INPUT }) satisfies z.ZodType<PolicyExplainInput>,
);

export const policyCompareInput = named(
  'PolicyCompareInput',
  z.strictObject({
    policy: draftPolicy,
    client_id: z.string().describe('Only calls with any key of this client.').exactOptional(),
    key_id: z.string().describe('Only calls with this key.').exactOptional(),
    since: time.describe('A time or a day. Default: one day ago.').exactOptional(),
  }) satisfies z.ZodType<PolicyCompareInput>,
);

export const policyComparison = named(
  'PolicyComparison',
  z.object({
    since: time,
    until: time,
    is_cut: z.boolean().describe('True: earlier calls of the given time were too many to evaluate them.'),
    calls: z.int().describe('Number of calls that were evaluated.'),
    denied: z.int().describe('Number of calls that the policy denies.'),
    groups: z
      .array(
        z.object({
          instance: z.string().nullable(),
          upstream: z.string().nullable().describe('Null for calls that name a stored instance.'),
          model: z.string(),
          action: z.string(),
          calls: z.int(),
          denied_then: z.int().describe('How many the policy of their key denied when they were made.'),
          denied: z.boolean(),
          rule: z.string().nullable(),
          message: z.string().nullable(),
          approval: z.string().nullable().describe('The rule because of which they need an approval.'),
          examples: z.array(z.string()).describe('Up to three values of `x-request-id`.'),
        }),
      )
      .describe('First those that the policy denies, then the most frequent.'),
    unlisted: z.int().describe('Calls of further groups.'),
    unchecked: z
      .array(z.object({ rule: z.string(), reason: z.string() }))
      .describe('Rules that were not applied, or only in part.'),
  }) satisfies z.ZodType<PolicyComparison>,
);

export const adminCallInput = named(
  'AdminCall',
  z.strictObject({
    call: showAs(executeCall, z.instanceof(Uint8Array, { error: 'is missing' })),
    key_id: z
      .string()
      .describe('The client key whose policy and limits hold. If left out, no policy restricts the call.')
      .exactOptional(),
    values: z
      .literal('normalized')
      .describe('Values of fields are converted, as by `prefer: values=normalized`.')
      .exactOptional(),
  }) satisfies z.ZodType<AdminCallInput>,
);

export const explanation = named(
  'Explanation',
  z.object({
    allowed: z.boolean(),
    rule: z.string().nullable().describe('The rule that decided; null for a key without a policy.'),
    approval: z
      .string()
      .nullable()
      .describe('The rule because of which the call needs an approval; null: it needs none.'),
    message: z.string(),
    star: z
      .object({
        methods: z.array(z.string()),
        left_out: z.array(z.object({ method: z.string(), reason: z.string() })),
      })
      .describe(
        'What the method `*` of the policy stands for on the model of the call, as far as the model has these methods. `left_out`: those that a policy must name, with the reason.',
      )
      .exactOptional(),
    sets: z
      .object({
        limit: z.int().exactOptional(),
        allowed_company_ids: z.array(z.int()).exactOptional(),
        lang: z.string().exactOptional(),
        tz: z.string().exactOptional(),
        fields: FIELD_RULE_SCHEMA.exactOptional(),
      })
      .describe(
        'The values that the policy sets in the call. `fields`: of a call that names none, the patterns of the fields that are named, or of those that are left out.',
      ),
  }) satisfies z.ZodType<Explanation>,
);

const approvalState = z.enum(['pending', 'approved', 'refused', 'used', 'expired']);

const APPROVAL_MEMBERS = {
  id: z.string(),
  state: approvalState.describe('`expired`: its time was over before it was decided, or before it was used.'),
  key_id: z.string().describe('The client key that asked.'),
  address: z.string().describe('Address of the caller that asked.'),
  instance: z.string().nullable().describe('Null: the call brought its own credentials.'),
  upstream: z.string(),
  db: z.string(),
  user_id: z.int().nullable().describe('Null: the Odoo key of the call determines the user.'),
  model: z.string(),
  action: z.string(),
  rule: z.string().describe('The rule of the policy that asks for the approval.'),
  created_at: time,
  expires_at: time.describe('When it can no longer be decided or, once it is approved, no longer be used.'),
  decided_at: time.nullable(),
  decided_by: z.string().nullable(),
  reason: z.string().nullable().describe('Why it was refused.'),
  used_at: time.nullable(),
};

export const approvalView = named('Approval', z.object(APPROVAL_MEMBERS) satisfies z.ZodType<ApprovalView>);

const concernedRecord = z.object({
  id: z.int(),
  name: z.string().nullable(),
  partner: z.string().nullable(),
  order: z.string().nullable(),
  state: z.string().nullable(),
  stage: z.string().nullable(),
}) satisfies z.ZodType<ConcernedRecord>;

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
}) satisfies z.ZodType<ConcernedRecords>;

export const approvalDetails = named(
  'ApprovalDetails',
  z.object({
    ...APPROVAL_MEMBERS,
    call: z
      .union([
        z.object({
          params: z.string().describe('The positional arguments that Odoo gets: the text of a JSON array.'),
          keyword: z.string().describe('The named arguments that Odoo gets: the text of a JSON object.'),
          concerns: z
            .array(concernedRecords)
            .describe('The records that the call concerns, as its caller could read them when it asked.')
            .exactOptional(),
        }),
        z.object({ unreadable: z.string().describe('The reason.') }),
      ])
      .nullable()
      .describe('The values of the call. Null once they are deleted.'),
  }) satisfies z.ZodType<ApprovalDetails>,
);

export const approvalRefusal = named(
  'ApprovalRefusal',
  z.strictObject({
    reason: z.string().describe('One line of 1 to 500 characters, which the caller gets.'),
  }) satisfies z.ZodType<ApprovalRefusal>,
);

const protocol = z.enum(['auto', 'jsonrpc', 'json2']);

export const instanceView = named(
  'Instance',
  z.object({
    name: z.string(),
    url: z.string(),
    db: z.string(),
    user_id: z.int(),
    protocol,
    timeout_ms: z.int().nullable(),
    concurrency: z.int().nullable(),
    certificates: z.string().nullable(),
    allow_private: z.boolean(),
    key: z.object({
      expires_at: time.nullable(),
      state: z.enum(['ok', 'expiring', 'expired', 'unknown']),
      rotate: z.boolean(),
      failure: z.string().nullable().describe('Why the last rotation failed.'),
    }),
    created_at: time,
    updated_at: time,
    version,
  }) satisfies z.ZodType<InstanceView>,
);

const NEEDS_KEY = 'To change it, send the `api_key` again.';

const INSTANCE_CHANGES = {
  url: z.string().describe(NEEDS_KEY).exactOptional(),
  db: z.string().exactOptional(),
  user_id: z.int().exactOptional(),
  api_key: z.string().meta({ writeOnly: true }).describe('Never returned in an answer.').exactOptional(),
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

export const instanceChanges = named(
  'InstanceChanges',
  z.strictObject(INSTANCE_CHANGES) satisfies z.ZodType<InstanceChanges>,
);

export const instanceInput = named(
  'InstanceInput',
  z.strictObject({
    ...INSTANCE_CHANGES,
    name: z.string(),
    url: z.string(),
    db: z.string(),
    user_id: z.int(),
    api_key: z.string().meta({ writeOnly: true }).describe('Never returned in an answer.'),
  }) satisfies z.ZodType<InstanceInput>,
);

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
    api_key: z.string().meta({ writeOnly: true }).describe('Never returned in an answer.'),
    protocol: protocol.exactOptional(),
    timeout_ms: z.int().nullable().describe('Time limit of each request.').exactOptional(),
    certificates: z
      .string()
      .nullable()
      .describe('Certificates in PEM format, trusted instead of the public ones.')
      .exactOptional(),
    allow_private: z.boolean().describe('Allows a private address or plain http.').exactOptional(),
  }) satisfies z.ZodType<InstanceCheckInput>,
);

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

export const examination = named(
  'Examination',
  z.object({
    ok: z.boolean().describe('True if no check failed.'),
    checks: z
      .array(
        z.object({
          name: z.enum(EXAMINATION_CHECKS),
          state: z
            .enum(['ok', 'failed', 'skipped'])
            .describe('`skipped`: not checked, or the server does not report it.'),
          text: z.string().describe('The finding, and what to do.'),
        }),
      )
      .describe('In order; the first failure is the last check.'),
    version: z.string().nullable().describe('Null if the server does not report it.'),
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
    round_trip_ms: z.int().nullable().describe('Duration of the fastest call that was made.'),
  }) satisfies z.ZodType<Examination>,
);

export const resealed = named(
  'Resealed',
  z.object({ resealed: z.int().describe('Number of instances and subscriptions.') }),
);

const subscriptionEvents = z
  .array(z.enum(SUBSCRIPTION_EVENTS))
  .describe('Events of the proxy, in place of an instance, a model and fields.');

const SUBSCRIPTION_CHANGES = {
  events: subscriptionEvents.exactOptional(),
  instance: z.string().describe('Name of the stored instance.').exactOptional(),
  model: z.string().exactOptional(),
  domain: z.array(z.unknown()).describe('As in Odoo. Default: all records.').exactOptional(),
  fields: z.array(z.string()).describe('Fields whose values are sent.').exactOptional(),
  url: z.string().describe('Receives the changes by `POST`.').exactOptional(),
  interval_seconds: z.int().describe('5 to 86400; default 60.').exactOptional(),
  payload: z
    .enum(['full', 'thin'])
    .describe('`thin`: without the values of the record. Default: `full`.')
    .exactOptional(),
  gone: z.boolean().describe('True: records that vanish are sent, too.').exactOptional(),
  start: z
    .enum(['now', 'all'])
    .describe('`all`: begins with all records that match. Default: `now`.')
    .exactOptional(),
  key: z
    .string()
    .nullable()
    .describe(
      'Id of the client key whose policy and limits the calls on Odoo obey. Null: no policy restricts them.',
    )
    .exactOptional(),
};

export const subscriptionChanges = named(
  'SubscriptionChanges',
  z.strictObject(SUBSCRIPTION_CHANGES) satisfies z.ZodType<SubscriptionChanges>,
);

export const subscriptionInput = named(
  'SubscriptionInput',
  z.strictObject({
    ...SUBSCRIPTION_CHANGES,
    name: z.string(),
    url: z.string().describe('Receives the deliveries by `POST`.'),
  }) satisfies z.ZodType<SubscriptionInput>,
);

const subscriptionState = z.enum(['active', 'paused', 'disabled']);

const SUBSCRIPTION_MEMBERS = {
  name: z.string(),
  state: subscriptionState,
  reason: z.string().nullable().describe('Why it is paused or disabled.'),
  url: z.string(),
  interval_seconds: z.int(),
  start: z.enum(['now', 'all']),
  read_at: time.nullable().describe('When changes were read last. Accurate to some seconds.'),
  problem: z.string().nullable().describe('Why changes cannot be read at present.'),
  receiver: z.object({
    failures: z.int().describe('Consecutive attempts that were not taken.'),
    failing_since: time.nullable(),
    retry_at: time.nullable().describe('Nothing is sent before.'),
    last_failure: z.string().nullable(),
    delivered_at: time.nullable(),
  }),
  secrets: z
    .array(z.object({ created_at: time, expires_at: time.nullable() }))
    .describe('The secrets that sign, the newest first.'),
  created_at: time,
  updated_at: time,
  version,
};

/** A subscription is to records or to events. */
const RECORD_SOURCE = {
  instance: z.string(),
  model: z.string(),
  domain: z.array(z.unknown()),
  fields: z.array(z.string()),
  payload: z.enum(['full', 'thin']),
  gone: z.boolean(),
  key: z.string().nullable(),
};
const EVENT_SOURCE = { events: subscriptionEvents };

export const subscriptionView = named(
  'Subscription',
  z.union([
    z.object({ ...SUBSCRIPTION_MEMBERS, ...RECORD_SOURCE }),
    z.object({ ...SUBSCRIPTION_MEMBERS, ...EVENT_SOURCE }),
  ]) satisfies z.ZodType<SubscriptionView>,
);

const NEW_SECRET = {
  secret: z.string().describe('The secret that signs deliveries. No other answer has it.'),
};

export const newSubscriptionView = named(
  'NewSubscription',
  z.union([
    z.object({ ...SUBSCRIPTION_MEMBERS, ...RECORD_SOURCE, ...NEW_SECRET }),
    z.object({ ...SUBSCRIPTION_MEMBERS, ...EVENT_SOURCE, ...NEW_SECRET }),
  ]) satisfies z.ZodType<NewSubscriptionView>,
);

export const subscriptionPause = named(
  'SubscriptionPause',
  z.strictObject({ reason: z.string().exactOptional() }) satisfies z.ZodType<SubscriptionPause>,
);

export const secretRotation = named(
  'SecretRotation',
  z.strictObject({
    overlap_seconds: z.int().describe('Seconds for which the old secret signs, too; 30 days at most.'),
  }) satisfies z.ZodType<SecretRotation>,
);

export const pingView = named(
  'Ping',
  z.object({
    delivered: z.boolean(),
    status: z.int().nullable().describe('HTTP status of the answer; null if there was none.'),
    failure: z.string().nullable(),
    duration_ms: z.int(),
  }) satisfies z.ZodType<PingView>,
);

export const replayInput = named(
  'Replay',
  z.strictObject({
    delivery: z.string().describe('`webhook-id` of one delivery.').exactOptional(),
    since: time.describe('The newest delivery of each record since this time.').exactOptional(),
  }) satisfies z.ZodType<ReplayInput>,
);

export const replayView = named(
  'Replayed',
  z.object({ replayed: z.int().describe('Number of deliveries.') }) satisfies z.ZodType<ReplayView>,
);

const deliveryState = z.enum(['waiting', 'delivered', 'failed', 'merged']);

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
    next_at: time.nullable(),
    created_at: time,
    ended_at: time.nullable(),
    status: z.int().nullable().describe('HTTP status of the last answer.'),
    failure: z.string().nullable(),
    duration_ms: z.int().nullable().describe('Duration of the last attempt.'),
  }) satisfies z.ZodType<DeliveryView>,
);

const AUDIT_MEMBERS = { seq: z.int(), time, request_id: z.string().nullable() };

export const auditView = named(
  'AuditRecord',
  z.discriminatedUnion('kind', [
    z.object({
      ...AUDIT_MEMBERS,
      kind: z.literal('call'),
      key_id: z.string().nullable(),
      client_id: z
        .string()
        .nullable()
        .describe('`client_id` of the key; null if it was not accepted, and in older records.'),
      address: z.string().nullable().describe('Address of the caller.'),
      instance: z.string().nullable(),
      upstream: z.string().nullable(),
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
      actor: z.string().exactOptional().describe('The administrator who made the call; otherwise absent.'),
      trace_id: z
        .string()
        .exactOptional()
        .describe('Id of the trace: that of the caller, or a recorded one that began here.'),
      code: z.int().nullable(),
      http_status: z.int(),
      batch_index: z.int().nullable(),
      total_ms: z.number(),
      upstream_ms: z.number().nullable(),
    }),
    z.object({
      ...AUDIT_MEMBERS,
      kind: z.literal('admin'),
      actor: z.string(),
      address: z.string().nullable(),
      action: z.string(),
      target: z.string(),
      changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
    }),
    z.object({
      ...AUDIT_MEMBERS,
      kind: z.literal('damaged').describe('The stored row is not a valid audit record.'),
      problem: z.string(),
    }),
  ]) satisfies z.ZodType<AuditView>,
);

export const auditVerdict = named(
  'AuditVerdict',
  z.object({
    intact: z.boolean(),
    first_seq: z.int(),
    last_seq: z.int(),
    head: z
      .string()
      .nullable()
      .describe(
        'If you keep it elsewhere, it proves later that no records were removed from the end. Null: the store has lost it.',
      ),
    fault: z.object({ seq: z.int(), problem: z.string() }).nullable(),
  }) satisfies z.ZodType<AuditVerdict>,
);

export const statusView = named(
  'Status',
  z.object({
    version: z.string(),
    started_at: time,
    store: z.string(),
    checks: z.record(
      z.string(),
      z.object({ state: z.enum(['ok', 'degraded', 'failed']), detail: z.string().nullable() }),
    ),
    audit: z.object({ waiting: z.int(), lost: z.int() }),
    upstreams: z
      .array(
        z.object({
          database: z.string(),
          running: z.int(),
          waiting: z.int(),
          background_running: z.int(),
          background_waiting: z.int(),
          limit: z.int(),
          breaker: z.enum(['closed', 'open', 'half_open']),
          retry_after_seconds: z.int(),
          version: z.string().nullable().describe('Version of the server; null: not known.'),
          protocol: z
            .enum(['jsonrpc', 'json2'])
            .nullable()
            .describe('The newest protocol of the server; null: not known.'),
          answer_ms: z.int().nullable().describe('Mean answer time; null: not known.'),
        }),
      )
      .describe('The upstream databases that this process knows.'),
  }) satisfies z.ZodType<StatusView>,
);

export const methodsView = named(
  'Methods',
  z.object({
    methods: z.array(
      z.object({
        action: z.string(),
        model: z.string().nullable().describe('The only model with these parameters; null: any model.'),
        kind: z
          .enum(['read', 'write', 'delete', 'unknown'])
          .describe('What it does to records. `unknown`: code of its model decides.'),
        params: z
          .array(z.object({ name: z.string(), required: z.literal(true).exactOptional() }))
          .describe('The positional arguments, in their order.'),
      }),
    ),
  }) satisfies z.ZodType<MethodsView>,
);

export const sandboxView = named(
  'SandboxState',
  z.object({ available: z.boolean() }) satisfies z.ZodType<SandboxView>,
);

export const attentionView = named(
  'Attention',
  z.object({
    items: z
      .array(
        z.object({
          kind: z.enum(ATTENTION_KINDS),
          severity: z.enum(ATTENTION_SEVERITIES),
          target: z.string().describe('As in the audit: `key <id>`, `instance <name>`.'),
          text: z.string().describe('The cause, and what to do.'),
          since: time.nullable().describe('When it began; null: not known.'),
        }),
      )
      .describe('The worst first, and then the oldest.'),
    more: z.int().describe('Number of further items.'),
    incomplete: z
      .array(z.enum(ATTENTION_PARTS))
      .describe('What was looked at in part only: items can be missing.'),
  }) satisfies z.ZodType<AttentionView>,
);

export const loginInput = named(
  'Login',
  z
    .strictObject({
      token: z.string().meta({ writeOnly: true }).describe('The setting `admin.token`.').exactOptional(),
      code: z
        .string()
        .meta({ writeOnly: true })
        .describe('The code of a sign-in link, as `erp-proxy console` prints it. It works once.')
        .exactOptional(),
    })
    .refine(
      ({ token, code }) => (token === undefined) !== (code === undefined),
      'must have either `token` or `code`',
    ),
);

export const sessionView = named(
  'Session',
  z.object({
    actor: z.enum(['token', 'session']),
    expires_at: time.nullable().describe('Null for the token.'),
  }),
);

export const problem = named(
  'Problem',
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('The cause, and what to do.'),
    faults: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .describe('The faults of the input, each with its place.')
      .exactOptional(),
  }) satisfies z.ZodType<Problem>,
);

export const keyPage = named('KeyPage', pageOf(keyView) satisfies z.ZodType<Page<KeyView>>);
export const keyNames = named(
  'KeyNames',
  z.object({
    items: z.array(z.object({ id: z.string(), name: z.string() })),
  }) satisfies z.ZodType<KeyNamesView>,
);
export const approvalPage = named(
  'ApprovalPage',
  pageOf(approvalView) satisfies z.ZodType<Page<ApprovalView>>,
);
export const instancePage = named(
  'InstancePage',
  pageOf(instanceView) satisfies z.ZodType<Page<InstanceView>>,
);
export const subscriptionPage = named(
  'SubscriptionPage',
  pageOf(subscriptionView) satisfies z.ZodType<Page<SubscriptionView>>,
);
export const deliveryPage = named(
  'DeliveryPage',
  pageOf(deliveryView) satisfies z.ZodType<Page<DeliveryView>>,
);
export const deniedSubjectView = named(
  'DeniedSubject',
  z.object({ id: z.string(), denied_at: time }),
) satisfies z.ZodType<DeniedSubjectView>;
export const deniedSubjectInput = named(
  'DeniedSubjectInput',
  z.strictObject({ id: z.string().describe('`<issuer>/<subject>`, as the log and the audit show it.') }),
);
export const deniedSubjectPage = named(
  'DeniedSubjectPage',
  pageOf(deniedSubjectView) satisfies z.ZodType<Page<DeniedSubjectView>>,
);
export const auditPage = named('AuditPage', pageOf(auditView) satisfies z.ZodType<Page<AuditView>>);

function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
  });
}

const PAGE_QUERY = {
  cursor: z.string().describe('The `next` of the previous page.').exactOptional(),
  limit: wholeNumber().pipe(z.int().min(1).max(500)).describe('Items per page. Default: 50.').exactOptional(),
};

/** For a query, whose values are all text. */
function wholeNumber(digitsMax = 9) {
  return z
    .string()
    .regex(new RegExp(`^\\d{1,${digitsMax}}$`), 'must be a whole number')
    .transform(Number);
}

const search = z.string().describe('Text that a listed object contains, ignoring case.').exactOptional();

export const keyQuery = z.strictObject({
  ...PAGE_QUERY,
  state: keyState.exactOptional(),
  search,
  name: z.string().describe('The whole name.').exactOptional(),
}) satisfies z.ZodType<KeyQuery>;

export const keyNamesQuery = z.strictObject({
  ids: z.string().min(1).max(10_000).describe('Up to 100 ids of keys, separated by commas.'),
});

export const approvalQuery = z.strictObject({
  ...PAGE_QUERY,
  state: approvalState.exactOptional(),
}) satisfies z.ZodType<ApprovalQuery>;

export const instanceQuery = z.strictObject({ ...PAGE_QUERY, search }) satisfies z.ZodType<InstanceQuery>;

export const subscriptionQuery = z.strictObject({
  ...PAGE_QUERY,
  state: subscriptionState.exactOptional(),
  search,
}) satisfies z.ZodType<SubscriptionQuery>;

export const deliveryQuery = z.strictObject({
  ...PAGE_QUERY,
  state: deliveryState.exactOptional(),
}) satisfies z.ZodType<DeliveryQuery>;

export const pageQuery = z.strictObject(PAGE_QUERY) satisfies z.ZodType<PageQuery>;

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
  actor: z.string().describe('Calls and acts of this administrator.').exactOptional(),
  request_id: z.string().describe('The `x-request-id`. The calls of a batch have the same.').exactOptional(),
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

export const auditQuery = z.strictObject({
  ...PAGE_QUERY,
  ...AUDIT_FILTERS,
}) satisfies z.ZodType<AuditQuery>;

export const exportQuery = z.strictObject({
  ...AUDIT_FILTERS,
  format: z.enum(['ndjson', 'csv']).describe('Default: `ndjson`.').exactOptional(),
});

export const verifyQuery = z.strictObject({
  head: z.string().describe('The `head` of an earlier verification.').exactOptional(),
});

const quantiles = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .nullable()
  .describe('In milliseconds; null if there are none.');

const CALL_STATISTICS = {
  calls: z.int().describe('Calls, and requests that were refused before they were calls.'),
  errors: z.record(z.string(), z.int()).describe('Calls by type of the error.'),
  refused: z.int().describe('Refused for lack of capacity, or over a limit of the key.'),
  shared: z.int().describe('Reads that an equal read answered.'),
  replayed: z.int().describe('Answered from an idempotency key.'),
  proxy_ms: quantiles.describe('Time of the proxy itself.'),
  odoo_ms: quantiles.describe("Time from sending a call to the head of Odoo's answer."),
} satisfies Record<keyof CallStatistics, z.ZodType>;

export const statisticsView = named(
  'Statistics',
  z.object({
    since: time,
    until: time,
    step: z.enum(['minute', 'hour']),
    total: z.object(CALL_STATISTICS),
    periods: z
      .array(
        z.object({
          at: time,
          ...CALL_STATISTICS,
          in_flight_max: z.int().describe('The most requests at once, added up over processes.'),
          queued_max: z.int().describe('The most calls that waited for Odoo.'),
        }),
      )
      .describe('Periods in which there were calls.'),
    groups: z.array(
      z.object({
        name: z.string().nullable().describe('Null: calls without one, or whose names are not kept apart.'),
        ...CALL_STATISTICS,
      }),
    ),
    now: z
      .object({ in_flight: z.int(), queued: z.int() })
      .describe('In progress in the process that answers.'),
  }) satisfies z.ZodType<StatisticsView>,
);

export const statisticsQuery = z.strictObject({
  since: time.describe('A time or a day. Default: an hour before `until`.').exactOptional(),
  until: time.describe('A time or a day. Default: now.').exactOptional(),
  step: z
    .enum(['minute', 'hour'])
    .describe('Length of the periods. Default: minutes up to six hours, hours beyond.')
    .exactOptional(),
  by: z.enum(STATISTICS_DIMENSIONS).describe('Groups the calls by this.').exactOptional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .describe('Maximum number of groups. Default: 20.')
    .exactOptional(),
  instance: z.string().describe('A stored instance, or the address of a server.').exactOptional(),
  key: z.string().describe('The id of a client.').exactOptional(),
  model: z.string().exactOptional(),
  action: z.string().exactOptional(),
}) satisfies z.ZodType<StatisticsFilters>;

/** The shapes of `/admin/v1`, and of what commands print with `--json`. Times are ISO 8601 in UTC. */
import type { ContextDefaults, FieldRule, Policy } from './policy.ts';

/** One page of a list. `next` is the cursor of the next page, null on the last page. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

export interface PageQuery {
  cursor?: string;
  /** 1 to 500; default 50. */
  limit?: number;
}

export type KeyState = 'active' | 'expired' | 'revoked';

/** A client key, without its secret. */
export interface KeyView {
  id: string;
  /** Stays the same when the key is rotated: the id of the first key. */
  client_id: string;
  name: string;
  state: KeyState;
  /** Null: the key may do everything that the egress rules allow. */
  policy: Policy | UnreadablePolicy | null;
  created_at: string;
  expires_at: string | null;
  /** Accurate to about a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** Id of the key that this one replaced. */
  replaces: string | null;
  /** Incremented by each change; part of the ETag. */
  version: number;
}

/** A subject of an identity provider whose tokens are refused. */
export interface DeniedSubjectView {
  /** `<issuer>/<subject>` */
  id: string;
  denied_at: string;
}

/** Stands for a stored policy that cannot be read. A key with such a policy cannot make calls. */
export interface UnreadablePolicy {
  /** Why the policy cannot be read. */
  unreadable: string;
}

/** The answer to the creation of a key. Only here is the text of the key shown. */
export interface NewKeyView extends KeyView {
  key: string;
}

export interface KeyQuery extends PageQuery {
  state?: KeyState;
  /** Part of the id or the name, case-insensitive. */
  search?: string;
  /** The exact name. */
  name?: string;
}

/** The name of a key as it is now. */
export interface KeyNameView {
  id: string;
  name: string;
}

/** The names of keys, without an order. Unknown ids are left out. */
export interface KeyNamesView {
  items: KeyNameView[];
}

export interface KeyInput {
  name: string;
  policy?: Policy | null;
  expires_at?: string | null;
}

/** Omitted members keep their values. */
export type KeyChanges = Partial<KeyInput>;

export interface KeyRotation {
  /** How long the old key stays valid beside the new one. */
  overlap_seconds: number;
}

export type InstanceProtocol = 'auto' | 'jsonrpc' | 'json2';

/** What is known about the Odoo key of an instance. */
export interface InstanceKeyView {
  /** When the key expires in Odoo; null: never, or not known. */
  expires_at: string | null;
  /** `unknown`: Odoo up to version 18 does not tell. */
  state: 'ok' | 'expiring' | 'expired' | 'unknown';
  /** True if the proxy replaces the key before it expires. */
  rotate: boolean;
  /** Why the last rotation failed; null if it did not. */
  failure: string | null;
}

/** A stored Odoo server with one of its users. The Odoo key itself is never shown. */
export interface InstanceView {
  name: string;
  url: string;
  db: string;
  user_id: number;
  protocol: InstanceProtocol;
  /** Time limit of a call that sets none itself; null: `upstream.timeoutMs`. */
  timeout_ms: number | null;
  /** Maximum number of calls at once; null: no separate limit. */
  concurrency: number | null;
  /** PEM certificates that are trusted for this instance instead of the public ones. */
  certificates: string | null;
  /** True: the origin of this instance may be a private address or plain http, as if `egress.allow` listed it. */
  allow_private: boolean;
  key: InstanceKeyView;
  created_at: string;
  updated_at: string;
  /** Incremented by each change; part of the ETag. */
  version: number;
}

export interface InstanceQuery extends PageQuery {
  /** Part of the name or the URL, case-insensitive. */
  search?: string;
}

export interface InstanceInput {
  name: string;
  url: string;
  db: string;
  user_id: number;
  /** Write-only: no answer contains it. */
  api_key: string;
  protocol?: InstanceProtocol;
  timeout_ms?: number | null;
  concurrency?: number | null;
  certificates?: string | null;
  allow_private?: boolean;
  /** True: the proxy replaces the key before it expires (Odoo 19 and later). */
  rotate_key?: boolean;
  /** The expiry of the key, for versions of Odoo that do not tell it. */
  key_expires_at?: string | null;
}

/** An Odoo server with a user that is not stored, to check it. */
export interface InstanceCheckInput
  extends Omit<InstanceInput, 'name' | 'user_id' | 'concurrency' | 'rotate_key' | 'key_expires_at'> {
  user_id?: number;
  /** In place of `user_id`, which the answer has then. */
  login?: string;
}

/**
 * Omitted members keep their values. A new `url`, changed `certificates`, and turning on `allow_private` require the
 * `api_key` again: a stored key is never sent to another server, nor to one that could impersonate its own.
 */
export type InstanceChanges = Partial<Omit<InstanceInput, 'name'>>;

/** `expired`: its time was over before it was decided, or before it was used. */
export type ApprovalState = 'pending' | 'approved' | 'refused' | 'used' | 'expired';

/** A call that needs an approval, without its values. */
export interface ApprovalView {
  id: string;
  state: ApprovalState;
  /** Id of the client key that asked. */
  key_id: string;
  /** Address of the caller that asked. */
  address: string;
  /** Name of the stored instance; null if the call brought its own credentials. */
  instance: string | null;
  /** Base address of the Odoo server. */
  upstream: string;
  db: string;
  /** Id of the user in Odoo; null if the Odoo key of the call determines the user (`/json/2`). */
  user_id: number | null;
  model: string;
  action: string;
  /** The rule of the policy that asks for the approval, e.g. `approve["account.move"]`. */
  rule: string;
  created_at: string;
  /** Pending: when it can no longer be decided. Approved: when it can no longer be used. */
  expires_at: string;
  decided_at: string | null;
  /** The administrator who decided, as in the audit. */
  decided_by: string | null;
  /** Why it was refused. */
  reason: string | null;
  used_at: string | null;
}

/** The values of a call that needs an approval: the JSON texts that Odoo gets. */
export interface ApprovalCall {
  /** The positional arguments, a JSON array. */
  params: string;
  /** The named arguments, a JSON object. */
  keyword: string;
  /** The records that the call concerns, as its caller could read them when it asked. Absent: they were not read. */
  concerns?: ConcernedRecords[];
}

/** One part of the records that a call concerns. */
export interface ConcernedRecords {
  /**
   * `records`: those whose method is called. `dialog`: those that a dialog is about. `partners`: partners that the call
   * names as receivers. `followers`: partners who follow the records of a message, and can get it by mail. `removed`:
   * records that are deleted, or cut off from `field`.
   */
  part: 'records' | 'dialog' | 'partners' | 'followers' | 'removed';
  /** The field that `removed` records are in. */
  field?: string;
  model: string;
  /** Number of records; null: not known. */
  count: number | null;
  /** The first of them. */
  records: ConcernedRecord[];
}

/** A record, with texts of up to 200 characters from Odoo. Null: the record has none, or its caller may not read it. */
export interface ConcernedRecord {
  id: number;
  name: string | null;
  partner: string | null;
  order: string | null;
  state: string | null;
  stage: string | null;
}

/** A call that needs an approval, with its values. */
export interface ApprovalDetails extends ApprovalView {
  /** Null once the values are deleted: after a refusal, or when the time is over. */
  call: ApprovalCall | UnreadableCall | null;
}

/** Stands for values that cannot be opened. */
export interface UnreadableCall {
  unreadable: string;
}

export interface ApprovalQuery extends PageQuery {
  state?: ApprovalState;
}

export interface ApprovalRefusal {
  /** The caller gets this text: 1 to 500 characters. */
  reason: string;
}

export type SubscriptionState = 'active' | 'paused' | 'disabled';

/** Sends the changes of a model's records, or events of the proxy, to a webhook. Its secrets are never shown. */
export type SubscriptionView = SubscriptionBasics & (RecordSource | EventSource);

/** Events of the proxy itself. `key.ends`: a client key ends soon, or has ended. */
export const SUBSCRIPTION_EVENTS = ['key.ends'] as const;
export type SubscriptionEvent = (typeof SUBSCRIPTION_EVENTS)[number];

/** The changes of a model's records. */
export interface RecordSource {
  events?: undefined;
  /** Name of the stored instance. */
  instance: string;
  model: string;
  /** Only records that match. A record that does not match any more is sent once, as `left`. */
  domain: unknown[];
  fields: string[];
  /** `thin`: without the values of the record. */
  payload: SubscriptionPayload;
  /** True: records that vanish are sent, too. */
  gone: boolean;
  /** Id of the client key whose policy and limits its calls obey; null: no policy restricts them. */
  key: string | null;
}

/** Events of the proxy itself. */
export interface EventSource extends Partial<Record<Exclude<keyof RecordSource, 'events'>, undefined>> {
  events: SubscriptionEvent[];
}

/** The members of every subscription. */
interface SubscriptionBasics {
  name: string;
  state: SubscriptionState;
  /** Why it is paused or disabled; null while it is active. */
  reason: string | null;
  /** Receives the deliveries by `POST`. */
  url: string;
  interval_seconds: number;
  /** `all`: begins with all records that match, or with all keys that end soon. */
  start: SubscriptionStart;
  /** When changes were read last; null: not yet. */
  read_at: string | null;
  /** Why changes cannot be read at present; null: they can. */
  problem: string | null;
  receiver: {
    /** Consecutive attempts that were not taken. */
    failures: number;
    /** Null: the last attempt was taken. */
    failing_since: string | null;
    /** Nothing is sent before; null: no attempt failed. */
    retry_at: string | null;
    /** Why an attempt was not taken last; null: every one was. */
    last_failure: string | null;
    delivered_at: string | null;
  };
  /** The secrets that sign, the newest first. */
  secrets: { created_at: string /** Null: until it is rotated. */; expires_at: string | null }[];
  created_at: string;
  updated_at: string;
  /** Incremented by each change; part of the ETag. */
  version: number;
}

export type SubscriptionPayload = 'full' | 'thin';
export type SubscriptionStart = 'now' | 'all';

/** The answer to a creation and to a new secret. Only here is the secret shown. */
export type NewSubscriptionView = SubscriptionView & {
  /** `whsec_…` of Standard Webhooks. */
  secret: string;
};

/** With `events`, or with `instance`, `model` and `fields` and the members for them. */
export interface SubscriptionInput {
  name: string;
  events?: SubscriptionEvent[];
  instance?: string;
  model?: string;
  /** Default: all records. */
  domain?: unknown[];
  fields?: string[];
  url: string;
  /** 5 to 86,400; default 60. */
  interval_seconds?: number;
  /** Default: `full`. */
  payload?: SubscriptionPayload;
  gone?: boolean;
  /** Default: `now`. */
  start?: SubscriptionStart;
  key?: string | null;
}

/**
 * Omitted members keep their values. A change of instance, model, domain, fields, `gone`, key or events begins anew, by
 * `start`. A subscription to records cannot become one to events.
 */
export type SubscriptionChanges = Partial<Omit<SubscriptionInput, 'name'>>;

export interface SubscriptionQuery extends PageQuery {
  state?: SubscriptionState;
  /** Part of the name, instance, model or URL, case-insensitive. */
  search?: string;
}

export interface SubscriptionPause {
  /** Default: none is given. */
  reason?: string;
}

export interface SecretRotation {
  /** How long the old secret signs beside the new one. */
  overlap_seconds: number;
}

/** Exactly one of the members. */
export interface ReplayInput {
  /** `webhook-id` of the delivery. */
  delivery?: string;
  /** The newest delivery of each record since this time. */
  since?: string;
}

export type DeliveryStateName = 'waiting' | 'delivered' | 'failed' | 'merged';

/** One delivery to a webhook, without its content. */
export interface DeliveryView {
  /** The `webhook-id`. */
  id: string;
  type: string;
  /** Id of the record; null for a ping. */
  record: string | null;
  /** `merged`: a newer version of the record took its place. `failed`: given up. */
  state: DeliveryStateName;
  attempts: number;
  /** When it is sent next; null once it has ended. */
  next_at: string | null;
  created_at: string;
  ended_at: string | null;
  /** HTTP status of the last answer; null if there was none. */
  status: number | null;
  failure: string | null;
  /** Duration of the last attempt. */
  duration_ms: number | null;
}

/** The outcome of a ping. */
export interface PingView {
  delivered: boolean;
  /** HTTP status of the answer; null if there was none. */
  status: number | null;
  /** Why it was not taken; null if it was. */
  failure: string | null;
  duration_ms: number;
}

export interface ReplayView {
  /** Number of deliveries that are sent again. */
  replayed: number;
}

export interface DeliveryQuery extends PageQuery {
  state?: DeliveryStateName;
}

/** One audit record: a call, or an administrative act. Contains no values and no secrets. */
export type AuditView = AuditCallView | AuditActView | AuditDamagedView;

interface AuditBase {
  /** Position in the chain, from 1. */
  seq: number;
  time: string;
  request_id: string | null;
}

export interface AuditCallView extends AuditBase {
  kind: 'call';
  /** If the key was not accepted (see `rule`): the id in the text of the key. */
  key_id: string | null;
  /** `client_id` of the key; null if the key was not accepted, and in older records. */
  client_id: string | null;
  /** Address of the caller; null in older records. */
  address: string | null;
  /** Name of the stored instance; null if the call had its own credentials. */
  instance: string | null;
  /** Base address of the Odoo server. */
  upstream: string | null;
  db: string | null;
  model: string | null;
  action: string | null;
  /** `ok`, or `data.type` of the error. */
  outcome: string;
  /** The rule of the key's policy that denied the call, or `key:unknown`, `key:expired`, `key:revoked`. */
  rule: string | null;
  /** The approval that the call asked for or used; null if it needed none. */
  approval: string | null;
  /** What made the call; null: its caller. */
  via: CallSource | null;
  /** The administrator who made the call, as in the records of acts; otherwise absent. */
  actor?: string;
  /** Id of the trace: that of the caller, or a recorded one that began here; otherwise absent. */
  trace_id?: string;
  code: number | null;
  http_status: number;
  /** Position in the batch; null for a single call. */
  batch_index: number | null;
  total_ms: number;
  upstream_ms: number | null;
}

export interface AuditActView extends AuditBase {
  kind: 'admin';
  /** `token`, `session`, `cli:<user>@<host>`, or `proxy` for what the proxy does itself. */
  actor: string;
  address: string | null;
  /** e.g. `key.create`, `instance.update`. */
  action: string;
  /** The object of the act: `key <id>`, `instance <name>`. */
  target: string;
  /** Changed members, before and after. Secrets are shown as `(secret)`. */
  changes: Record<string, { from: unknown; to: unknown }>;
}

/** What makes calls beside the routes of calls. `console`: an administrator. */
export const CALL_SOURCES = [
  'mcp',
  'export',
  'changes',
  'download',
  'upload',
  'subscription',
  'console',
] as const;
export type CallSource = (typeof CALL_SOURCES)[number];

/** A row of the audit table that is not a valid record. */
export interface AuditDamagedView extends AuditBase {
  kind: 'damaged';
  problem: string;
}

export interface AuditQuery extends PageQuery {
  kind?: 'call' | 'admin';
  since?: string;
  until?: string;
  key_id?: string;
  client_id?: string;
  /** Calls that asked for or used this approval. */
  approval?: string;
  /** Calls that this made. */
  via?: CallSource;
  instance?: string;
  model?: string;
  action?: string;
  outcome?: string;
  /** True: only calls that ended with an error. */
  errors_only?: boolean;
  /** Calls and acts of this administrator. */
  actor?: string;
  request_id?: string;
  trace_id?: string;
  /** Address of the caller or the administrator. */
  address?: string;
  upstream?: string;
  db?: string;
  rule?: string;
  /** Code of the error. */
  code?: number;
  http_status?: number;
}

/** The result of `audit verify`. */
export interface AuditVerdict {
  /** True if every record from `first_seq` to `last_seq` is present and unchanged. */
  intact: boolean;
  first_seq: number;
  last_seq: number;
  /**
   * `<seq>:<hash in hex>` of the last record. Kept outside the store, it proves later that no record was removed from
   * the end. Null if the store has lost it.
   */
  head: string | null;
  /** The first error found; null if there is none. */
  fault: { seq: number; problem: string } | null;
}

/** A call that an administrator makes. */
export interface AdminCallInput {
  /** The body of an execute call. */
  call: unknown;
  /** The client key whose policy and limits hold. If omitted, no policy restricts the call. */
  key_id?: string;
  /** As the header `prefer: values=normalized`. */
  values?: 'normalized';
}

/** Why a key may or may not make a call. */
/** What the method `*` stands for on one model, as far as the model has these methods. */
export interface StarMeaning {
  methods: string[];
  /** `reason` is the end of a sentence that begins with the method. */
  left_out: { method: string; reason: string }[];
}

export interface Explanation {
  allowed: boolean;
  /** The rule that decided, e.g. `models["sale.*"]`; null for a key without a policy. */
  rule: string | null;
  /** The rule because of which the call needs an approval, e.g. `approve["account.move"]`; null: it needs none. */
  approval: string | null;
  message: string;
  /** What the method `*` of the policy stands for on the model of the call, if an entry for the model has it. */
  star?: StarMeaning;
  /** What the policy sets in the call before it is sent. */
  sets: {
    limit?: number;
    /** For a read that names no fields: the patterns of the fields that are named in it, or those that are left out. */
    fields?: FieldRule;
  } & ContextDefaults;
}

export interface ExplainInput {
  /** The body of an execute call. */
  call: unknown;
  /** Address of the caller; if omitted, it is not checked. */
  address?: string;
  /** The `origin` header of a browser; if omitted, the caller is not a browser. */
  origin?: string;
}

export interface PolicyExplainInput extends ExplainInput {
  /** A draft. Null: no policy. */
  policy: Policy | null;
}

/** Checks the calls of the audit against a draft of a policy. */
export interface PolicyCompareInput {
  /** The draft. Null: no policy. */
  policy: Policy | null;
  /** Only calls with any key of this client. */
  client_id?: string;
  /** Only calls with this key. */
  key_id?: string;
  /** Calls since then. Default: of the last day. */
  since?: string;
}

export interface PolicyComparison {
  /** The calls in this time were checked. */
  since: string;
  until: string;
  /** True: there may be earlier calls since the given time. They were not checked, because there are too many. */
  is_cut: boolean;
  calls: number;
  denied: number;
  /** The groups that the policy denies come first, then the most frequent ones. */
  groups: ComparedCalls[];
  /** Calls of groups that are not listed, because there are too many. */
  unlisted: number;
  /** Rules that the audit does not tell enough for: they were not applied, or only in part. */
  unchecked: UncheckedRule[];
}

/** Calls of one method that a policy checks in the same way. */
export interface ComparedCalls {
  /** Name of the stored instance; null if the calls had their own credentials. */
  instance: string | null;
  /** Base address of the Odoo server; null if the calls name a stored instance. */
  upstream: string | null;
  model: string;
  action: string;
  calls: number;
  /** How many of them the policy of their key denied when they were made. */
  denied_then: number;
  denied: boolean;
  /** The rule that denies them; null: none does. */
  rule: string | null;
  /** Why they are denied; null: they are not. */
  message: string | null;
  /** The rule because of which they need an approval; null: they need none. */
  approval: string | null;
  /** Ids of up to three requests, the newest first. */
  examples: string[];
}

export interface UncheckedRule {
  /** Member of the policy, or name of a rule. */
  rule: string;
  reason: string;
}

/** The result of checking whether the proxy can work with an Odoo server. */
export interface Examination {
  /** True if no check failed. */
  ok: boolean;
  /** In order of execution. The first failed check is the last. */
  checks: ExaminationCheck[];
  /** E.g. `18.0`; null if the server does not tell. */
  version: string | null;
  /** The protocol for calls with these credentials; null if no call was made. */
  protocol: 'jsonrpc' | 'json2' | null;
  user: { id: number; name: string; login: string; company: string | null } | null;
  key: {
    /** Null: never, or not known. */
    expires_at: string | null;
    is_expiry_known: boolean;
  } | null;
  /** Milliseconds from the request to the header of the answer, for the fastest of the calls. */
  round_trip_ms: number | null;
}

export interface ExaminationCheck {
  name:
    | 'url'
    | 'egress'
    | 'dns'
    | 'connection'
    | 'tls'
    | 'odoo'
    | 'version'
    | 'protocol'
    | 'database'
    | 'user'
    | 'key'
    | 'expiry'
    | 'time';
  /** `skipped`: not checked, or the server does not tell. */
  state: 'ok' | 'failed' | 'skipped';
  /** What was found, and what to do. */
  text: string;
}

export type CheckState = 'ok' | 'degraded' | 'failed';

export interface StatusView {
  version: string;
  started_at: string;
  store: string;
  /** The checks of `/readyz`. */
  checks: Record<string, { state: CheckState; detail: string | null }>;
  audit: { waiting: number; lost: number };
  /** Upstream databases that this process knows, at most 1,000. A command that works on the store knows none. */
  upstreams: UpstreamView[];
}

export interface UpstreamView {
  /** Address and name of the database. */
  database: string;
  running: number;
  waiting: number;
  /** Calls that interactive calls go before, such as pages of exports. The running ones count in `running`, too. */
  background_running: number;
  background_waiting: number;
  /** Number of calls that run at present. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
  /** Milliseconds until the next probe; 0 while the breaker is closed. */
  retry_after_seconds: number;
  /** Version of the server, as in `18.0`; null: not known. */
  version: string | null;
  /** The newest protocol of the server; null: not known. A setting or an instance can name another one for calls. */
  protocol: 'jsonrpc' | 'json2' | null;
  /** Mean answer time in milliseconds; null: not known. */
  answer_ms: number | null;
}

/** What needs an administrator. The names never change. */
export const ATTENTION_KINDS = [
  'check_failed',
  'breaker_open',
  'audit_lost',
  'audit_waiting',
  'internal_errors',
  'instance_key_expired',
  'instance_key_expiring',
  'instance_key_not_rotated',
  'client_key_expired',
  'client_key_expiring',
  'publishable_key_open',
  'subscription_disabled',
  'subscription_failing',
  'subscription_unreadable',
  'approvals_pending',
  'calls_refused',
  'method_not_named',
  'reached_model_not_named',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** The worst first. */
export const ATTENTION_SEVERITIES = ['critical', 'warning', 'info'] as const;

export interface AttentionItem {
  kind: AttentionKind;
  severity: (typeof ATTENTION_SEVERITIES)[number];
  /** Its object, as in the audit: `key <id>`, `instance <name>`. */
  target: string;
  /** What is wrong, and what to do. */
  text: string;
  /** When it began; null: not known. */
  since: string | null;
}

export const ATTENTION_PARTS = [
  'instances',
  'client_keys',
  'subscriptions',
  'approvals',
  'calls',
  'policies',
] as const;

export type AttentionPart = (typeof ATTENTION_PARTS)[number];

export interface AttentionView {
  /** The worst first, and then the oldest. */
  items: AttentionItem[];
  /** Number of further items. */
  more: number;
  /** What was looked at in part only, because there is too much of it or the store failed: items can be missing. */
  incomplete: AttentionPart[];
}

/** Whether the proxy can start a sandbox Odoo: only after a first start, while no instance is stored. */
export interface SandboxView {
  available: boolean;
}

/** The methods of Odoo whose parameters the proxy knows. */
export interface MethodsView {
  methods: MethodView[];
}

export interface MethodView {
  action: string;
  /** The only model with these parameters; null: any model. */
  model: string | null;
  /** What it does to records. `unknown`: code of its model decides. */
  kind: 'read' | 'write' | 'delete' | 'unknown';
  /** The positional arguments, in their order. */
  params: { name: string; required?: true }[];
}

/** What calls can be grouped by, and filtered by. `key`: the client, whose id stays over rotations of its key. */
export const STATISTICS_DIMENSIONS = ['instance', 'key', 'model', 'action'] as const;
export type StatisticsDimension = (typeof STATISTICS_DIMENSIONS)[number];

export interface StatisticsFilters extends Partial<Record<StatisticsDimension, string>> {
  since?: string;
  until?: string;
  /** Length of each period: minutes are kept for a day, hours for 30 days. Default: by the length of the range. */
  step?: 'minute' | 'hour';
  /** Calls are also grouped by this. */
  by?: StatisticsDimension;
  /** Maximum number of groups, those with the most calls. Default: 20. */
  limit?: number;
}

/** Milliseconds. */
export interface DurationQuantiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Counts of calls and their durations. */
export interface CallStatistics {
  /** Calls and refused requests. */
  calls: number;
  /** By type of the error. */
  errors: Record<string, number>;
  /** Requests that were refused for lack of capacity or over the limits of their key. */
  refused: number;
  /** Reads that an equal one answered. */
  shared: number;
  /** Calls that were answered from an idempotency key. */
  replayed: number;
  /** Time of the proxy itself; null if there were no calls. */
  proxy_ms: DurationQuantiles | null;
  /** Time from sending a call to the head of Odoo's answer; null if none was sent. */
  odoo_ms: DurationQuantiles | null;
}

export interface StatisticsView {
  since: string;
  until: string;
  step: 'minute' | 'hour';
  total: CallStatistics;
  /** Each period of the range in which there were calls. */
  periods: (CallStatistics & { at: string; in_flight_max: number; queued_max: number })[];
  /** Empty without `by`. `name` null: calls without one, and those whose names are not kept apart. */
  groups: (CallStatistics & { name: string | null })[];
  /** What is in progress in the process that answers. */
  now: { in_flight: number; queued: number };
}

/** A problem (RFC 9457), as `application/problem+json`. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Each invalid member of the request. */
  faults?: InvalidMember[];
}

export interface InvalidMember {
  /** e.g. `policy.models["res.*"][0]`; empty for the input as a whole. */
  path: string;
  /** Continues a sentence that begins with the path, e.g. `must be a list`. */
  message: string;
}

/** Names and defaults of the admin API, for programs that do not check input. Names never change. */

/** The sources of calls other than the routes of calls. `console`: an administrator. */
export const CALL_SOURCES = [
  'mcp',
  'export',
  'changes',
  'download',
  'upload',
  'fleet',
  'document',
  'subscription',
  'job',
  'console',
] as const;
export type CallSource = (typeof CALL_SOURCES)[number];

/** Events of the proxy itself. `key.ends`: a client key ends soon, or has ended. */
export const SUBSCRIPTION_EVENTS = ['key.ends', 'job.ended'] as const;
export type SubscriptionEvent = (typeof SUBSCRIPTION_EVENTS)[number];

/** The kinds of problems that need an administrator. */
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
  'credential_field_not_named',
  'admin_token_used',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** Severities, the worst first. */
export const ATTENTION_SEVERITIES = ['critical', 'warning', 'info'] as const;

export const ATTENTION_PARTS = [
  'instances',
  'client_keys',
  'subscriptions',
  'approvals',
  'calls',
  'policies',
  'admin_token',
] as const;

/**
 * Members by which calls can be grouped and filtered. `key` is the client, whose id stays the same when its key is
 * rotated.
 */
export const STATISTICS_DIMENSIONS = ['instance', 'key', 'model', 'action'] as const;
export type StatisticsDimension = (typeof STATISTICS_DIMENSIONS)[number];

/** The members of a key that an operator may give. */
export const KEY_MEMBERS = ['name', 'policy', 'expires_at', 'for'] as const;

/** Whose Odoo user runs the calls of an instance. */
export const INSTANCE_IDENTITIES = ['shared', 'person'] as const;

/**
 * The defaults of optional members of an instance. Other optional members default to null, or to false for a switch.
 */
export const INSTANCE_DEFAULTS: Readonly<{ identity: 'shared'; protocol: 'auto'; tags: string[] }> = {
  identity: 'shared',
  protocol: 'auto',
  tags: [],
};

/** The members of an instance that a check of its server needs, in addition to the user. */
export const INSTANCE_CHECK_MEMBERS = [
  'url',
  'db',
  'api_key',
  'protocol',
  'timeout_ms',
  'certificates',
  'allow_private',
] as const;

/**
 * The defaults of optional members of a subscription. Other optional members default to null, or to false for a switch.
 */
export const SUBSCRIPTION_DEFAULTS = {
  domain: [],
  interval_seconds: 60,
  payload: 'full',
  start: 'now',
} as const;

/**
 * The members that every subscription has. A subscription to events also has `events`, and one to records the members
 * below.
 */
export const SHARED_SUBSCRIPTION_MEMBERS = ['url', 'interval_seconds', 'start'] as const;
export const RECORD_SUBSCRIPTION_MEMBERS = [
  'instance',
  'model',
  'domain',
  'fields',
  'payload',
  'gone',
  'key',
] as const;

/** The members of a subscription whose change makes it begin anew. */
export const RESTARTING_MEMBERS: readonly string[] = [
  'instance',
  'model',
  'domain',
  'fields',
  'gone',
  'key',
  'start',
  'events',
];

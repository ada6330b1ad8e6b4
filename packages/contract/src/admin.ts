/** The shapes of `/admin/v1`, and of what the commands print with `--json`. Times are ISO 8601 in UTC. */
import type { Policy } from './policy.ts';

/** One page of a list; `next` is the cursor of the one after it, null on the last. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

export interface PageQuery {
  cursor?: string;
  /** 1 to 500; 50 where it is left out. */
  limit?: number;
}

export type KeyState = 'active' | 'expired' | 'revoked';

/** A client key, without its secret. */
export interface KeyView {
  id: string;
  name: string;
  state: KeyState;
  /** Null: the key may do anything that egress allows. */
  policy: Policy | UnreadablePolicy | null;
  created_at: string;
  expires_at: string | null;
  /** Exact to about a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that this one took over from. */
  replaces: string | null;
  /** Counts the changes; the ETag. */
  version: number;
}

/** In place of a stored policy that cannot be read. A key with one makes no call. */
export interface UnreadablePolicy {
  /** Why it cannot be read. */
  unreadable: string;
}

/** A key that was just made: the only time that its text is shown. */
export interface NewKeyView extends KeyView {
  key: string;
}

export interface KeyQuery extends PageQuery {
  state?: KeyState;
  /** Part of the id or the name, in any case. */
  search?: string;
  /** The whole name. */
  name?: string;
}

export interface KeyInput {
  name: string;
  policy?: Policy | null;
  expires_at?: string | null;
}

/** What is left out stays as it is. */
export type KeyChanges = Partial<KeyInput>;

export interface KeyRotation {
  /** How long the old key goes on working beside the new one. */
  overlap_seconds: number;
}

export type InstanceProtocol = 'auto' | 'jsonrpc' | 'json2';

/** What is known of an instance's key at Odoo. */
export interface InstanceKeyView {
  /** When Odoo stops taking it; null where it never does, or nobody knows. */
  expires_at: string | null;
  /** `unknown`: Odoo does not tell, as up to version 18. */
  state: 'ok' | 'expiring' | 'expired' | 'unknown';
  /** True where the proxy replaces it before it expires. */
  rotate: boolean;
  /** Why the last rotation failed; null where none did. */
  failure: string | null;
}

/** A stored Odoo server with a user of it. The key itself is never shown. */
export interface InstanceView {
  name: string;
  url: string;
  db: string;
  user_id: number;
  protocol: InstanceProtocol;
  /** Time for a call that asks for none itself; null: `upstream.timeoutMs`. */
  timeout_ms: number | null;
  /** Calls at once; null: no limit of its own. */
  concurrency: number | null;
  /** PEM certificates trusted for this instance in place of the public ones. */
  certificates: string | null;
  /** True: its own origin may be private or plain http, as if `egress.allow` named it. */
  allow_private: boolean;
  key: InstanceKeyView;
  created_at: string;
  updated_at: string;
  /** Counts the changes; the ETag. */
  version: number;
}

export interface InstanceQuery extends PageQuery {
  /** Part of the name or the url, in any case. */
  search?: string;
}

export interface InstanceInput {
  name: string;
  url: string;
  db: string;
  user_id: number;
  /** Written only; no answer ever has it. */
  api_key: string;
  protocol?: InstanceProtocol;
  timeout_ms?: number | null;
  concurrency?: number | null;
  certificates?: string | null;
  allow_private?: boolean;
  /** True: the proxy replaces the key before it expires (Odoo 19 and later). */
  rotate_key?: boolean;
  /** Where Odoo does not tell. */
  key_expires_at?: string | null;
}

/**
 * What is left out stays as it is. A new `url`, changed `certificates` and an `allow_private` that is turned on need the
 * `api_key` again: a stored one never goes to another server, nor to one that could pass for its own.
 */
export type InstanceChanges = Partial<Omit<InstanceInput, 'name'>>;

/** One record of the audit: a call, or an act of an administrator. No values, no secrets. */
export type AuditView = AuditCallView | AuditActView | AuditDamagedView;

interface AuditBase {
  /** Position in the chain, from 1. */
  seq: number;
  time: string;
  request_id: string | null;
}

export interface AuditCallView extends AuditBase {
  kind: 'call';
  /** Of a key that was not accepted (`rule` says so): the id in its text. */
  key_id: string | null;
  /** Where the call came from; null in records of before. */
  address: string | null;
  /** Name of the stored instance; null where the call brought credentials of its own. */
  instance: string | null;
  /** Base address of the Odoo server. */
  upstream: string | null;
  db: string | null;
  model: string | null;
  action: string | null;
  /** `ok`, or `data.type` of the error. */
  outcome: string;
  /** The rule of the key's policy that denied it; or `key:unknown`, `key:expired`, `key:revoked`. */
  rule: string | null;
  code: number | null;
  http_status: number;
  /** Position in the batch; null for a single call. */
  batch_index: number | null;
  total_ms: number;
  upstream_ms: number | null;
}

export interface AuditActView extends AuditBase {
  kind: 'admin';
  /** `token`, `session`, `cli:<user>@<host>` or `proxy` (what it does by itself). */
  actor: string;
  address: string | null;
  /** e.g. `key.create`, `instance.update`. */
  action: string;
  /** What it was done to: `key <id>`, `instance <name>`. */
  target: string;
  /** Members that changed, before and after; secrets stand as `(secret)`. */
  changes: Record<string, { from: unknown; to: unknown }>;
}

/** What stands in the store in place of a record, and is none. */
export interface AuditDamagedView extends AuditBase {
  kind: 'damaged';
  problem: string;
}

export interface AuditQuery extends PageQuery {
  kind?: 'call' | 'admin';
  since?: string;
  until?: string;
  key_id?: string;
  instance?: string;
  model?: string;
  action?: string;
  outcome?: string;
  actor?: string;
}

/** What `audit verify` finds. */
export interface AuditVerdict {
  /** True where every record from `first_seq` to `last_seq` is there as it was written. */
  intact: boolean;
  first_seq: number;
  last_seq: number;
  /**
   * `<seq>:<hash in hex>` of the last record: kept elsewhere, it later proves that nothing was cut from the end. Null where
   * the store has lost it.
   */
  head: string | null;
  /** What is wrong, at the first place where something is; null where nothing is. */
  fault: { seq: number; problem: string } | null;
}

/** Why a key may or may not make a call. */
export interface Explanation {
  allowed: boolean;
  /** The rule that decided, e.g. `models["sale.*"]`; null for a key without a policy. */
  rule: string | null;
  message: string;
  /** What is changed in the call before it goes on. */
  sets: { limit?: number; allowed_company_ids?: number[] };
}

export interface ExplainInput {
  /** The body of an execute call. */
  call: unknown;
  /** Where it comes from; left out: not looked at. */
  address?: string;
  /** The browser's `origin` header; left out: not a browser. */
  origin?: string;
}

/** What the proxy finds where it looks whether it can work with an Odoo server. */
export interface Examination {
  /** True where no check failed. */
  ok: boolean;
  /** In order; the first that fails ends them. */
  checks: ExaminationCheck[];
  /** E.g. `18.0`; null where the server does not tell. */
  version: string | null;
  /** The one that carries calls of these credentials; null where none was made. */
  protocol: 'jsonrpc' | 'json2' | null;
  user: { id: number; name: string; login: string; company: string | null } | null;
  key: {
    /** Null: never, or not known. */
    expires_at: string | null;
    is_expiry_known: boolean;
  } | null;
  /** From the request to the head of the answer: the quickest of the calls that were made. */
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
  /** `skipped`: not looked at, or nobody tells. */
  state: 'ok' | 'failed' | 'skipped';
  /** What was found, and what to do. */
  text: string;
}

export type CheckState = 'ok' | 'degraded' | 'failed';

export interface StatusView {
  version: string;
  started_at: string;
  store: string;
  /** What `/readyz` looks at. */
  checks: Record<string, { state: CheckState; detail: string | null }>;
  audit: { waiting: number; lost: number };
  /** Upstream databases that this process knows, at most a thousand; a command that works on the store knows none. */
  upstreams: UpstreamView[];
}

export interface UpstreamView {
  /** Address and name of the database. */
  database: string;
  running: number;
  waiting: number;
  /** Calls at once at present. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
  /** Until the next try; 0 while the breaker is closed. */
  retry_after_seconds: number;
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

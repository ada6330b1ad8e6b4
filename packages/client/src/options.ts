/** The options of a client and of a call, and the types of requests. Types only. */
import type { ErpProxyError } from './errors.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The form of values: `odoo`, in which Odoo sends them, or `normalized`, if the client has this option. A many2one is
 * `[id, name]` or `{ id, name }`, an empty value `false` or `null`.
 */
export type ValueForm = 'odoo' | 'normalized';

/** Odoo's context: `lang`, `tz`, `allowed_company_ids`, `active_test` and others. */
export interface Context {
  lang?: string;
  tz?: string;
  allowed_company_ids?: readonly number[];
  default_company_id?: number;
  active_test?: boolean;
  [name: string]: unknown;
}

/** An Odoo server that is not stored in the proxy. Never use this in a browser: `apiKey` is Odoo's own key. */
export interface InstanceOptions {
  url: string;
  db: string;
  userId: number;
  apiKey: string;
}

/** An instance in the form of `erp_instance` in a call, which other programs send. */
export type WireInstance = { url: string; db: string; user_id: number; api_key: string } | { name: string };

export interface ClientOptions<Form extends ValueForm = 'odoo'> {
  /** Address of the proxy. Default: the environment variable ERP_PROXY_URL. */
  url?: string | undefined;
  /** Client key, `ep_…`. Default: the environment variable ERP_PROXY_KEY. */
  key?: string | undefined;
  /**
   * Name of an instance that is stored in the proxy, or a server with credentials. Default: the environment variable
   * ERP_PROXY_INSTANCE.
   */
  instance?: string | InstanceOptions | WireInstance | undefined;
  /**
   * The form of values that are read and written. `normalized`: a many2one is `{ id, name }`, an empty value is null, a
   * datetime is a text such as `2026-10-21T01:31:00Z`. Default: `odoo`, the values of Odoo.
   */
  values?: Form | undefined;
  /** Context of all calls. */
  context?: Context | undefined;
  /** Time limit of a call including its retries, in milliseconds. Default: the limit of the instance or the proxy. */
  timeout?: number | undefined;
  /** Maximum number of retries of a call. Default: 2. */
  retries?: number | undefined;
  /** False: writes get no idempotency key, and are retried only if they have certainly not run. */
  idempotencyKeys?: boolean | undefined;
  /** Replaces the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  hooks?: Hooks | undefined;
}

/** Options of one call: the last argument of each method. */
export interface CallOptions {
  /** Cancels the call. A write that Odoo has started may still run. */
  signal?: AbortSignal | undefined;
  /** Time limit of the call including its retries, in milliseconds. */
  timeout?: number | undefined;
  /** The key under which the call runs at most once. Default: a new one for each write. */
  idempotencyKey?: string | undefined;
  /**
   * The `approval` of an error `approval_required`, after an administrator has approved it. For a batch: those of its
   * calls.
   */
  approval?: string | readonly string[] | undefined;
  /** Context that is added to that of the client. */
  context?: Context | undefined;
}

/** Functions for logging and tracing. They receive no values, results or keys, and their errors are ignored. */
export interface Hooks {
  /** Called before each attempt. Headers added to `info.headers` are sent, e.g. `traceparent`. */
  onRequest?(info: RequestInfo): void;
  /** Called after each attempt, whether it succeeded or not. */
  onResponse?(info: ResponseInfo): void;
  /** Called before the wait for another attempt. */
  onRetry?(info: RetryInfo): void;
}

export interface RequestInfo {
  /** The call, or all calls of a batch. */
  calls: readonly { model: string; action: string }[];
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Sent as `x-request-id`, by which the proxy's log names the request. */
  requestId: string;
  headers: Record<string, string>;
}

export interface ResponseInfo extends Omit<RequestInfo, 'headers'> {
  durationMs: number;
  /** HTTP status; 0 if there was no answer. */
  status: number;
  /** The header `server-timing`: the time of Odoo, the wait for Odoo, and the time of the proxy. */
  timing: string | null;
  /** Why the attempt failed; null if it succeeded. For a batch, the first error. */
  error: unknown;
}

export interface RetryInfo extends Omit<RequestInfo, 'headers'> {
  delayMs: number;
  error: ErpProxyError;
}

/** A call in the form of the execute route, without its instance. */
export interface ExecuteCall {
  id?: string | number | null;
  /** A public method of the model. */
  action: string;
  model_id: string;
  fn_name?: string | null;
  /** Positional arguments. */
  params?: readonly unknown[] | null;
  /** Named arguments. */
  keyword?: { readonly [name: string]: unknown } | null;
}

/** The options of a client and of a call, and the shapes of the wire. Types only. */
import type { ErpProxyError } from './errors.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The form of values: `odoo`, as Odoo has them, or `normalized`, as the option `values` of a client asks for. A
 * many2one is `[id, name]` or `{ id, name }`, an empty value `false` or `null`.
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

/** An instance with the names of `erp_instance` in a call, as other programs send it. */
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
   * The form of values in results, and of values to write. `normalized`: a many2one is `{ id, name }`, an empty value
   * is null, a datetime is a text such as `2026-10-21T01:31:00Z`. Default: `odoo`, the values of Odoo.
   */
  values?: Form | undefined;
  /** Context of all calls. */
  context?: Context | undefined;
  /** Time limit of a call with its retries, in milliseconds. Default: the limit of the instance or the proxy. */
  timeout?: number | undefined;
  /** Maximum number of retries of a call. Default: 2. */
  retries?: number | undefined;
  /** False: writes carry no idempotency key of their own and are retried only if they surely have not run. */
  idempotencyKeys?: boolean | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  hooks?: Hooks | undefined;
}

/** Options of one call: the last argument of each method. */
export interface CallOptions {
  /** Cancels the call. A write that Odoo has begun may still run. */
  signal?: AbortSignal | undefined;
  /** Time limit of the call with its retries, in milliseconds. */
  timeout?: number | undefined;
  /** The key under which the call runs at most once. Default: a new one for each write. */
  idempotencyKey?: string | undefined;
  /**
   * `approval` of an error `approval_required`, once an administrator has approved it. For a batch: those of its calls.
   */
  approval?: string | readonly string[] | undefined;
  /** Added to the context of the client. */
  context?: Context | undefined;
}

/** For logging and tracing. No hook gets values, results or keys. An error that a hook throws is ignored. */
export interface Hooks {
  /** Before each attempt. Headers added to `info.headers` are sent, e.g. `traceparent`. */
  onRequest?(info: RequestInfo): void;
  /** After each attempt, whether it succeeded or not. */
  onResponse?(info: ResponseInfo): void;
  /** Before the wait for another attempt. */
  onRetry?(info: RetryInfo): void;
}

export interface RequestInfo {
  /** One call, or those of a batch. */
  calls: readonly { model: string; action: string }[];
  /** 1 for the first attempt. */
  attempt: number;
  /** Sent as `x-request-id`; the log of the proxy has it. */
  requestId: string;
  headers: Record<string, string>;
}

export interface ResponseInfo extends Omit<RequestInfo, 'headers'> {
  durationMs: number;
  /** HTTP status; 0 without an answer. */
  status: number;
  /** The header `server-timing`: the time of Odoo, the wait for it, and the time of the proxy. */
  timing: string | null;
  /** Why the attempt failed; null for a success. For a batch, the first error. */
  error: unknown;
}

export interface RetryInfo extends Omit<RequestInfo, 'headers'> {
  delayMs: number;
  error: ErpProxyError;
}

/** A call as the proxy takes it, without its instance. */
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

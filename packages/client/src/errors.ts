/** The error that every call of the client throws, and its creation from an answer. */

/** Whether a call ran in Odoo. */
export type Outcome = 'not_sent' | 'rolled_back' | 'unknown';

/** Types of errors without an answer of the proxy, which the client itself creates. */
type ClientErrorType =
  /** There was no connection, or it broke. */
  | 'connection_failed'
  /** `timeout` has passed. */
  | 'client_timeout'
  /** The job was cancelled. */
  | 'job_cancelled'
  /** The answer is not from the proxy, e.g. a page of a server in front of it. */
  | 'invalid_answer'
  /** The client was called wrongly; nothing was sent. */
  | 'usage';

/** Types of the proxy's errors. */
type ProxyErrorType =
  | 'parse_error'
  | 'invalid_request'
  | 'invalid_params'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'unauthorized'
  | 'action_invalid'
  | 'fn_name_missing'
  | 'upstream_timeout'
  | 'upstream_unreachable'
  | 'upstream_bad_response'
  | 'policy_denied'
  | 'egress_denied'
  | 'rate_limited'
  | 'overloaded'
  | 'idempotency_conflict'
  | 'outcome_unknown'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'approval_required'
  | 'connect_required'
  | 'internal';

/** Types of Odoo's errors, the same for every version. */
type OdooErrorType =
  | 'access_denied'
  | 'access_error'
  | 'record_missing'
  | 'validation_error'
  | 'user_error'
  | 'redirect_warning'
  | 'model_not_found'
  | 'method_not_found'
  | 'arguments_invalid'
  | 'query_invalid'
  | 'concurrency_conflict'
  | 'database_missing'
  | 'upstream_error';

export type ErrorType = ClientErrorType | ProxyErrorType | OdooErrorType;

interface ErrorDetails {
  code?: number;
  retryable?: boolean;
  outcome?: Outcome | undefined;
  status?: number;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  idempotencyKey?: string | undefined;
  data?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

export class ErpProxyError extends Error {
  /** The code in the proxy's error table; 0 for an error of the client itself. */
  readonly code: number;
  /** The type of the error. A later proxy may send types that this client does not know. */
  readonly type: ErrorType | (string & {});
  /** True if the same call may be sent again unchanged. */
  readonly retryable: boolean;
  /** Whether the call ran in Odoo; undefined if the type makes that clear. */
  readonly outcome: Outcome | undefined;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The id of the call in the log of the proxy. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another attempt. */
  readonly retryAfter: number | undefined;
  /** The idempotency key of the call, with which it can be sent again without running twice. */
  readonly idempotencyKey: string | undefined;
  /**
   * With `approval_required`: the id of the approval that an administrator must give. Pass it as option `approval` of
   * the next attempt.
   */
  readonly approval: string | undefined;
  /** Existing names that are similar to an unknown one, if the proxy sent them. */
  readonly nearest: readonly string[];
  /** The remaining members of the error, such as `path`, `rule`, `name`, `arguments` and `connect_url`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(type: ErrorType | (string & {}), message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.name = 'ErpProxyError';
    this.type = type;
    this.code = details.code ?? 0;
    this.retryable = details.retryable ?? false;
    this.outcome = details.outcome;
    this.status = details.status ?? 0;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.idempotencyKey = details.idempotencyKey;
    this.data = details.data ?? {};
    const { approval, nearest } = this.data;
    this.approval = typeof approval === 'string' ? approval : undefined;
    this.nearest = Array.isArray(nearest) ? nearest.map(String) : [];
  }
}

/** Creates the error for a wrong use of the client. */
export function refuse(message: string): ErpProxyError {
  return new ErpProxyError('usage', message);
}

/** True also for an error of another copy of this package. */
export function isErpProxyError(error: unknown): error is ErpProxyError {
  return error instanceof Error && error.name === 'ErpProxyError' && 'retryable' in error;
}

/** Creates the error of an answer. `details`: facts about the request. */
export function readError(body: unknown, details: ErrorDetails): ErpProxyError {
  const { code, message, data } = body as { code: number; message: string; data: Record<string, unknown> };
  const type = String(data?.['type']);
  const unknown = type === 'outcome_unknown' ? 'unknown' : undefined;
  return new ErpProxyError(type, message, {
    ...details,
    code,
    data: data ?? {},
    retryable: data?.['retryable'] === true,
    outcome: (data?.['outcome'] as Outcome | undefined) ?? unknown,
  });
}

/**
 * The one table of errors: from `data.type` to code, HTTP status and the rest. docs/errors.md is generated from it,
 * and nothing else in the code names a code or a status of an error.
 */

/**
 * Whether the same call may be sent again as it is. `if_safe`: only where nothing can have happened yet, or where the
 * action only reads.
 */
export type Retry = 'never' | 'always' | 'if_safe';

/** One row of the table. */
export interface ErrorRow {
  /** JSON-RPC error code. */
  code: number;
  /** HTTP status of an answer to a single call; within a batch it is always 200. */
  httpStatus: number;
  retry: Retry;
  /** True where `data.outcome` is part of the error. */
  hasOutcome?: true;
  /** Promised by the contract, but nothing gives it yet, and why. */
  notYet?: string;
  /** When it is given, for the documentation. */
  when: string;
  /** What the caller can do, for the documentation. */
  remedy: string;
}

/** Errors of the proxy itself: the call did not get an answer of Odoo's. */
export const PROXY_ERRORS = {
  parse_error: {
    code: -32700,
    httpStatus: 400,
    retry: 'never',
    when: 'The body is not JSON, not UTF-8, or begins with a byte order mark.',
    remedy: 'Send one JSON document in UTF-8.',
  },
  invalid_request: {
    code: -32600,
    httpStatus: 400,
    retry: 'never',
    when: 'The body is JSON but not of the shape of the execute call: a member is missing, unknown, doubled or of another type. `data.path` names it.',
    remedy: 'Correct the member that `data.path` names.',
  },
  invalid_params: {
    code: -32602,
    httpStatus: 400,
    retry: 'never',
    when: "A value breaks a rule of the proxy's own: `limit`, `allowed_company_ids`, `default_company_id` or `tz`. `data.path` names it.",
    remedy: 'Correct the value that `data.path` names.',
  },
  route_not_found: {
    code: -32601,
    httpStatus: 404,
    retry: 'never',
    when: 'No route has this path.',
    remedy: 'Call `POST /api/erp/execute`.',
  },
  method_not_allowed: {
    code: -32601,
    httpStatus: 405,
    retry: 'never',
    when: 'The route exists, but not with this HTTP method. The `allow` header names those it has.',
    remedy: 'Use a method that the `allow` header names.',
  },
  unauthorized: {
    code: -32000,
    httpStatus: 401,
    retry: 'never',
    when: 'The client key in `x-proxy-api` is missing, unknown, expired or revoked. `id` is null.',
    remedy: 'Send a valid key; an operator makes one with `erp-proxy keys create`.',
  },
  action_invalid: {
    code: -32001,
    httpStatus: 400,
    retry: 'never',
    when: '`action` (or `fn_name`) is not the name of a public method: letters, digits and `_`, not beginning with `_` or a digit.',
    remedy: 'Name a public method of the model.',
  },
  fn_name_missing: {
    code: -32002,
    httpStatus: 400,
    retry: 'never',
    when: '`action` is `call_method` and `fn_name` is missing.',
    remedy: 'Put the name of the method into `fn_name`.',
  },
  upstream_timeout: {
    code: -32003,
    httpStatus: 504,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'Odoo did not answer in time, or a reverse proxy in front of it said 504.',
    remedy:
      'For a write look at `data.outcome` first. Ask for less, or allow more time with `x-request-timeout`.',
  },
  upstream_unreachable: {
    code: -32004,
    httpStatus: 502,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'No answer from the server: no such host, connection refused or reset, TLS failure, or 502 from a reverse proxy.',
    remedy:
      'Check `erp_instance.url`, or wait until the server is back. For a write look at `data.outcome` first.',
  },
  upstream_bad_response: {
    code: -32005,
    httpStatus: 502,
    retry: 'never',
    hasOutcome: true,
    when: "What answered is not Odoo's JSON-RPC: HTML, a redirect, broken JSON, or an answer too large to be checked.",
    remedy:
      'Check that `erp_instance.url` is the base address of an Odoo server, with the right scheme and prefix.',
  },
  policy_denied: {
    code: -32010,
    httpStatus: 403,
    retry: 'never',
    when: "The key's policy does not allow the call. `data.rule` names the rule.",
    remedy: 'Ask the operator for a key that may do this.',
  },
  egress_denied: {
    code: -32011,
    httpStatus: 403,
    retry: 'never',
    when: 'The address of `erp_instance.url` is not one that the operator allows. Only public addresses over https are allowed unless `egress.allow` says more.',
    remedy: 'Use an allowed address, or ask the operator to add it to `egress.allow`.',
  },
  rate_limited: {
    code: -32012,
    httpStatus: 429,
    retry: 'always',
    when: 'Too many requests, or too many idempotency keys at once. `retry-after` says when to try again.',
    remedy: 'Wait for `retry-after` seconds.',
  },
  overloaded: {
    code: -32013,
    httpStatus: 503,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'The proxy is shutting down or has no room, or the server said 429 or 503.',
    remedy: 'Try again after `retry-after` seconds.',
  },
  idempotency_conflict: {
    code: -32014,
    httpStatus: 409,
    retry: 'if_safe',
    when: 'The idempotency key was used with another body, or its first call is still running: then it is retryable, and `retry-after` says when to try again.',
    remedy: 'Use a new key for a new call, and the same bytes for a retry.',
  },
  outcome_unknown: {
    code: -32015,
    httpStatus: 409,
    retry: 'never',
    when: 'An earlier attempt with this idempotency key was cut off: it may have happened. Or it has happened, and its answer was not kept.',
    remedy: 'Look in Odoo whether it happened before sending it again with a new key.',
  },
  payload_too_large: {
    code: -32016,
    httpStatus: 413,
    retry: 'never',
    when: 'The body is larger than `http.bodyBytesMax`, or larger than the server takes.',
    remedy: 'Send less in one call.',
  },
  unsupported_media_type: {
    code: -32017,
    httpStatus: 415,
    retry: 'never',
    when: 'The content type is not `application/json` in UTF-8, or the body has a content encoding.',
    remedy: 'Send `content-type: application/json` without `content-encoding`.',
  },
  internal: {
    code: -32603,
    httpStatus: 500,
    retry: 'never',
    when: 'A fault of the proxy. Nothing of its cause is shown; the log has it under the same `x-request-id`.',
    remedy: 'Tell the operator the `x-request-id`.',
  },
} as const satisfies Record<string, ErrorRow>;

/** A row of {@link BUSINESS_ERRORS}: the HTTP status is always 200, since Odoo did answer. */
export interface BusinessErrorRow {
  /** `data.status`: the HTTP status that the failure would deserve. */
  status: number;
  retry: Retry;
  when: string;
}

/**
 * What Odoo itself answered, by what went wrong; the same in every Odoo version and protocol. HTTP 200, with one of
 * {@link BUSINESS_CODES}.
 */
export const BUSINESS_ERRORS = {
  access_denied: {
    status: 401,
    retry: 'never',
    when: 'Odoo does not accept the credentials: wrong key, unknown or inactive user.',
  },
  access_error: {
    status: 403,
    retry: 'never',
    when: 'The user may not do this: model, record, field or company.',
  },
  record_missing: { status: 404, retry: 'never', when: 'A record does not exist or was deleted.' },
  validation_error: {
    status: 422,
    retry: 'never',
    when: 'A constraint was broken: required, unique, foreign key, or one of the model.',
  },
  user_error: {
    status: 422,
    retry: 'never',
    when: 'A business rule of Odoo says no; `message` is its text for the user.',
  },
  redirect_warning: {
    status: 422,
    retry: 'never',
    when: 'A business rule says no and names an action that would help; see `arguments`.',
  },
  model_not_found: { status: 404, retry: 'never', when: 'The database has no such model.' },
  method_not_found: { status: 404, retry: 'never', when: 'The model has no such method, or it is private.' },
  arguments_invalid: {
    status: 422,
    retry: 'never',
    when: 'The arguments do not fit the method: missing, unexpected, or of another type.',
  },
  query_invalid: {
    status: 422,
    retry: 'never',
    when: 'A field, domain, operator, order or grouping that does not exist.',
  },
  concurrency_conflict: {
    status: 409,
    retry: 'always',
    when: 'Another transaction was in the way; Odoo rolled back. The call may be sent again, a write too.',
  },
  database_missing: { status: 404, retry: 'never', when: 'The server has no such database.' },
  upstream_error: { status: 500, retry: 'never', when: 'Any other failure inside Odoo.' },
} as const satisfies Record<string, BusinessErrorRow>;

/** `error.code` of what Odoo answered, the same in every Odoo version. */
export const BUSINESS_CODES = { error: 200, session: 100, routeMissing: 404 } as const;

/** `data.type` of an error of the proxy's own. */
export type ProxyErrorType = keyof typeof PROXY_ERRORS;

/** `data.type` of what Odoo answered. */
export type BusinessErrorType = keyof typeof BUSINESS_ERRORS;

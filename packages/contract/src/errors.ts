/**
 * The table of errors: for each `data.type` the code, the HTTP status and the documentation. docs/errors.md is
 * generated from it. No other file states the code or the status of an error.
 */

/**
 * Whether the same call may be sent again unchanged. `if_safe`: only if the call only reads, or cannot have run yet.
 */
export type Retry = 'never' | 'always' | 'if_safe';

/** One row of the error table. */
export interface ErrorRow {
  /** JSON-RPC error code. */
  code: number;
  /** HTTP status of an answer to a single call. A batch always has status 200. */
  httpStatus: number;
  retry: Retry;
  /** True if the error has `data.outcome`. */
  hasOutcome?: true;
  /** The cause of the error, for the documentation. */
  when: string;
  /** What the caller can do, for the documentation. */
  remedy: string;
}

/** Errors of the proxy itself, without an answer from Odoo. */
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
    when: 'The body is JSON but not an execute call: a member is missing, unknown, duplicated or of the wrong type. `data.path` names it.',
    remedy: 'Correct the member that `data.path` names.',
  },
  invalid_params: {
    code: -32602,
    httpStatus: 400,
    retry: 'never',
    when: 'A value violates a rule of the proxy: half of a surrogate pair, a [normalized value](values.md#writing) of another form, `limit`, `ids`, `allowed_company_ids`, `default_company_id` or `tz`. `data.path` names it.',
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
    when: 'The route does not support this HTTP method. The `allow` header lists the supported ones.',
    remedy: 'Use a method that the `allow` header lists.',
  },
  unauthorized: {
    code: -32000,
    httpStatus: 401,
    retry: 'never',
    when: 'The client key in `x-proxy-api`, or the token in `authorization`, is missing, unknown, expired or revoked. `id` is null.',
    remedy:
      'Send a valid key. An operator creates one with `erp-proxy keys create`. With [tokens](tokens.md), `www-authenticate` leads to where you get one.',
  },
  action_invalid: {
    code: -32001,
    httpStatus: 400,
    retry: 'never',
    when: '`action` (or `fn_name`) is not the name of a public method. Such a name has letters, digits and `_`, and begins with a letter.',
    remedy: 'Name a public method of the model.',
  },
  fn_name_missing: {
    code: -32002,
    httpStatus: 400,
    retry: 'never',
    when: '`action` is `call_method` and `fn_name` is missing.',
    remedy: 'Set `fn_name` to the name of the method.',
  },
  upstream_timeout: {
    code: -32003,
    httpStatus: 504,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'Odoo did not answer in time, or a reverse proxy in front of it answered 504.',
    remedy:
      'For a write, check `data.outcome` first. Request less data, or allow more time with `x-request-timeout`.',
  },
  upstream_unreachable: {
    code: -32004,
    httpStatus: 502,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'The server did not answer: unknown host, refused or reset connection, TLS failure, or 502 from a reverse proxy.',
    remedy:
      'Check `erp_instance.url`, or wait until the server is available. For a write, check `data.outcome` first.',
  },
  upstream_bad_response: {
    code: -32005,
    httpStatus: 502,
    retry: 'never',
    hasOutcome: true,
    when: "The answer is not Odoo's JSON-RPC: HTML, a redirect, malformed JSON, or an answer too large to be checked.",
    remedy:
      'Check that `erp_instance.url` is the base address of an Odoo server, with the correct scheme and prefix.',
  },
  policy_denied: {
    code: -32010,
    httpStatus: 403,
    retry: 'never',
    when: "The key's policy does not allow the call. `data.rule` names the rule.",
    remedy: 'Ask the operator for a key whose policy allows the call.',
  },
  egress_denied: {
    code: -32011,
    httpStatus: 403,
    retry: 'never',
    when: 'The operator does not allow the address of `erp_instance.url`. By default only public addresses over https are allowed; `egress.allow` adds others.',
    remedy: 'Use an allowed address, or ask the operator to add it to `egress.allow`.',
  },
  rate_limited: {
    code: -32012,
    httpStatus: 429,
    retry: 'always',
    when: 'Too many requests, or too many idempotency keys at once. `retry-after` tells when to try again.',
    remedy: 'Wait for `retry-after` seconds.',
  },
  overloaded: {
    code: -32013,
    httpStatus: 503,
    retry: 'if_safe',
    hasOutcome: true,
    when: 'The proxy is shutting down or at capacity, or the time limit of the call passed before it was sent. Or the server answered 429 or 503, or Odoo 14 or 15 locks out new credentials.',
    remedy: 'Try again after `retry-after` seconds.',
  },
  idempotency_conflict: {
    code: -32014,
    httpStatus: 409,
    retry: 'if_safe',
    when: 'The idempotency key was used with another body, or its first call is still running. In the second case the call is retryable, and `retry-after` tells when.',
    remedy: 'Use a new key for a new call. Send the same bytes for a retry.',
  },
  outcome_unknown: {
    code: -32015,
    httpStatus: 409,
    retry: 'never',
    when: 'An earlier attempt with this idempotency key was cut off and may have run. Or it has run, and its answer was not kept.',
    remedy: 'Check in Odoo whether it ran before you send it again with a new key.',
  },
  payload_too_large: {
    code: -32016,
    httpStatus: 413,
    retry: 'never',
    when: 'The body is larger than `http.bodyBytesMax`, or than the server accepts. Or it exceeds a limit of its route, such as those of [tools](mcp.md#limits-log-and-audit).',
    remedy: 'Send less data in one call.',
  },
  unsupported_media_type: {
    code: -32017,
    httpStatus: 415,
    retry: 'never',
    when: 'The content type is not `application/json` in UTF-8, or the body has a content encoding.',
    remedy: 'Send `content-type: application/json` without `content-encoding`.',
  },
  approval_required: {
    code: -32018,
    httpStatus: 403,
    retry: 'never',
    when: "The key's policy lets the call run only after an administrator has approved it. `data.approval` is the id of the request for approval.",
    remedy:
      'Ask an administrator to approve it, then send the same call with `x-approval: <data.approval>` ([approvals.md](approvals.md)).',
  },
  connect_required: {
    code: -32019,
    httpStatus: 403,
    retry: 'never',
    when: 'The instance runs each call as the Odoo user of the person who calls, and this person has not connected one, or has to connect it again. `data.connect_url` is the page to do so; it is null if the proxy does not know its own address (`http.publicUrl`).',
    remedy:
      'Have the person open `data.connect_url` and connect, then send the call again ([persons.md](persons.md)).',
  },
  internal: {
    code: -32603,
    httpStatus: 500,
    retry: 'never',
    when: 'An internal error of the proxy. The cause is not shown; the log has it under the same `x-request-id`.',
    remedy: 'Give the operator the `x-request-id`.',
  },
} as const satisfies Record<string, ErrorRow>;

/** A row of {@link BUSINESS_ERRORS}. The HTTP status is always 200, because the call reached Odoo. */
export interface BusinessErrorRow {
  /** `data.status`: the HTTP status that matches the error. */
  status: number;
  retry: Retry;
  when: string;
}

/**
 * Errors from Odoo, by cause. They are the same for every Odoo version and protocol. The HTTP status is 200, the code
 * one of {@link BUSINESS_CODES}.
 */
export const BUSINESS_ERRORS = {
  access_denied: {
    status: 401,
    retry: 'never',
    when: 'Odoo rejects the credentials: wrong key, unknown or inactive user.',
  },
  access_error: {
    status: 403,
    retry: 'never',
    when: 'The user lacks access to the model, record, field or company.',
  },
  record_missing: { status: 404, retry: 'never', when: 'A record does not exist or was deleted.' },
  validation_error: {
    status: 422,
    retry: 'never',
    when: 'A constraint was violated: required, unique, foreign key, or one of the model.',
  },
  user_error: {
    status: 422,
    retry: 'never',
    when: 'A business rule of Odoo rejects the call. `message` is its text for the user.',
  },
  redirect_warning: {
    status: 422,
    retry: 'never',
    when: 'A business rule rejects the call and suggests an action; see `arguments`.',
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
    when: 'A field, operator, order or grouping does not exist, a field cannot be searched, sorted or grouped by, or a domain or a date in it is malformed.',
  },
  concurrency_conflict: {
    status: 409,
    retry: 'always',
    when: 'The call conflicted with another transaction and was rolled back. It can be sent again, even if it is a write.',
  },
  database_missing: { status: 404, retry: 'never', when: 'The server has no such database.' },
  upstream_error: { status: 500, retry: 'never', when: 'Any other failure in Odoo.' },
} as const satisfies Record<string, BusinessErrorRow>;

/** `error.code` of errors from Odoo, the same for every Odoo version. */
export const BUSINESS_CODES = { error: 200, session: 100, routeMissing: 404 } as const;

/** `data.type` of an error of the proxy itself. */
export type ProxyErrorType = keyof typeof PROXY_ERRORS;

/** `data.type` of an error from Odoo. */
export type BusinessErrorType = keyof typeof BUSINESS_ERRORS;

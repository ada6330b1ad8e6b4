/**
 * Errors of the routes for callers of ODXProxy: errors that only these routes have, and the codes and statuses that
 * their clients expect of common errors. docs/errors.md shows both tables.
 */
import { type ErrorRow, PROXY_ERRORS, type ProxyErrorType } from './errors.ts';

/** Errors that only the routes `/v2/odoo/…` have. */
export const COMPATIBLE_ERRORS = {
  json2_missing: {
    code: -32006,
    httpStatus: 200,
    retry: 'never',
    when: 'The server has no `/json/2` (Odoo 18 and older), or does not offer this database there (`dbfilter`).',
    remedy: 'Use `/api/odoo/execute`, which works with every version, or check `odoo_instance.url` and `db`.',
  },
  json2_call_invalid: {
    code: -32007,
    httpStatus: 400,
    retry: 'never',
    when: '`model_id`, `method`, `db` or `api_key` is not valid in a request to `/json/2`. `data.path` names it.',
    remedy: 'Correct the member that `data.path` names.',
  },
} as const satisfies Record<string, ErrorRow>;

/** Errors of the proxy with another code or status on the compatible routes; `data.type` is the same. */
export const COMPATIBLE_CHANGES: Partial<Record<ProxyErrorType, { code: number; httpStatus: number }>> = {
  // Clients of ODXProxy treat every 403 as an invalid licence.
  policy_denied: {
    code: PROXY_ERRORS.action_invalid.code,
    httpStatus: PROXY_ERRORS.action_invalid.httpStatus,
  },
  approval_required: {
    code: PROXY_ERRORS.approval_required.code,
    httpStatus: PROXY_ERRORS.action_invalid.httpStatus,
  },
  connect_required: {
    code: PROXY_ERRORS.connect_required.code,
    httpStatus: PROXY_ERRORS.action_invalid.httpStatus,
  },
  egress_denied: {
    code: PROXY_ERRORS.upstream_unreachable.code,
    httpStatus: PROXY_ERRORS.upstream_unreachable.httpStatus,
  },
  upstream_bad_response: { code: PROXY_ERRORS.upstream_bad_response.code, httpStatus: 500 },
};

/** `data.type` of an error of the compatible routes only. */
export type CompatibleErrorType = keyof typeof COMPATIBLE_ERRORS;

/** `data.type` of any error of the proxy, on any route. */
export const ALL_ERRORS: Readonly<Record<ProxyErrorType | CompatibleErrorType, ErrorRow>> = {
  ...PROXY_ERRORS,
  ...COMPATIBLE_ERRORS,
};

/**
 * The colour of each outcome of a call, the same in every plot and list. Similar colours mean similar causes; only
 * success is green.
 */
import {
  BUSINESS_ERRORS,
  type BusinessErrorType,
  COMPATIBLE_ERRORS,
  PROXY_ERRORS,
  type ProxyErrorType,
} from '@erp-proxy/contract';

const COLORS: { readonly [Outcome in 'ok' | ProxyErrorType | BusinessErrorType]?: string } = {
  ok: 'teal.6',
  // Faults.
  internal: 'red.9',
  upstream_error: 'red.7',
  upstream_timeout: 'red.5',
  upstream_unreachable: 'red.3',
  upstream_bad_response: 'pink.7',
  // Outcomes by lack of capacity.
  overloaded: 'orange.7',
  rate_limited: 'orange.4',
  // Outcomes of calls that are not allowed.
  policy_denied: 'grape.7',
  approval_required: 'grape.4',
  egress_denied: 'pink.4',
  unauthorized: 'violet.7',
  access_denied: 'violet.5',
  access_error: 'violet.3',
  // Outcomes by business rules of Odoo.
  validation_error: 'cyan.7',
  user_error: 'cyan.5',
  redirect_warning: 'cyan.3',
  concurrency_conflict: 'yellow.6',
  idempotency_conflict: 'yellow.4',
  outcome_unknown: 'yellow.8',
  // Missing.
  record_missing: 'blue.4',
  model_not_found: 'blue.6',
  method_not_found: 'blue.8',
  database_missing: 'indigo.4',
  // Outcomes by mistakes in the call.
  arguments_invalid: 'indigo.6',
  query_invalid: 'indigo.3',
  action_invalid: 'indigo.8',
  fn_name_missing: 'gray.6',
  invalid_request: 'gray.7',
  invalid_params: 'gray.4',
};

const OTHER = 'gray.5';

export function colorOutcome(outcome: string): string {
  return COLORS[outcome as keyof typeof COLORS] ?? OTHER;
}

const ORDER = [
  ...Object.keys(PROXY_ERRORS),
  ...Object.keys(BUSINESS_ERRORS),
  ...Object.keys(COMPATIBLE_ERRORS),
];

/** Sorts outcomes in the order of the error table, so that the layers of a plot keep their order. */
export function sortOutcomes(outcomes: Iterable<string>): string[] {
  const place = (outcome: string) => (ORDER.includes(outcome) ? ORDER.indexOf(outcome) : ORDER.length);
  return [...outcomes].sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1));
}

/**
 * Classifies the HTTP status of an upstream answer, independently of the protocol and the request. The answer may come
 * from Odoo, from a proxy in front of it or from another program. Pure functions.
 */

/** The status of an answer, with the headers that refine it. */
export interface AnswerStatus {
  status: number;
  /** By lower-case name. The value is a list if the header occurs several times. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export type StatusClass =
  /** 200, the status of every result of Odoo. Its body decides. */
  | 'success'
  /** 413: the request is too large. */
  | 'too_large'
  /** 429: the server refused the request, since it gets too many. */
  | 'overloaded'
  /** 503: the server has no room, or (Envoy) the connection of a proxy broke after the request was sent. */
  | 'unavailable'
  /** 502, and similar statuses of Cloudflare: a proxy did not reach Odoo, or lost the connection. */
  | 'bad_gateway'
  /** 504, and similar statuses of Cloudflare: a proxy got no answer of Odoo in time. */
  | 'gateway_timeout'
  /**
   * 303 to Odoo's login page. 18 redirects requests for a missing page there; 16 and 17 answer 404
   * (docs/odoo-facts.md#version-pages).
   */
  | 'login_redirect'
  /** 301 and 308: the server has another address for every request (RFC 9110 sections 15.4.2 and 15.4.9). */
  | 'moved'
  /** Any other 3xx. It can replace a 502 after the request was sent (nginx: `error_page 502 =302`). */
  | 'redirect'
  | 'not_found'
  /** 403, 405 and 410: the route is gone, or a proxy in front of Odoo blocks it. */
  | 'blocked'
  /** Any other 4xx. */
  | 'client_error'
  /** Any other 5xx, and statuses that HTTP does not define. */
  | 'server_error'
  /** Any other status below 300: Odoo does not send it. */
  | 'unexpected';

const CLASSES: ReadonlyMap<number, StatusClass> = new Map([
  [200, 'success'],
  [301, 'moved'],
  [308, 'moved'],
  [403, 'blocked'],
  [404, 'not_found'],
  [405, 'blocked'],
  [410, 'blocked'],
  [413, 'too_large'],
  [429, 'overloaded'],
  [502, 'bad_gateway'],
  [503, 'unavailable'],
  [504, 'gateway_timeout'],
  // Cloudflare, instead of 502: an empty or broken answer, connection refused, host unreachable, TLS handshake,
  // certificate, DNS.
  [520, 'bad_gateway'],
  [521, 'bad_gateway'],
  [523, 'bad_gateway'],
  [525, 'bad_gateway'],
  [526, 'bad_gateway'],
  [530, 'bad_gateway'],
  // Cloudflare, instead of 504: no connection in time, no answer within 100 s.
  [522, 'gateway_timeout'],
  [524, 'gateway_timeout'],
]);

export function classifyStatus(answer: AnswerStatus): StatusClass {
  const { status } = answer;
  const known = CLASSES.get(status);
  if (known !== undefined) return known;
  if (status === 303 && /\/web\/login(\?|$)/.test(readHeader(answer, 'location'))) return 'login_redirect';
  if (status < 300) return 'unexpected';
  if (status < 400) return 'redirect';
  return status < 500 ? 'client_error' : 'server_error';
}

const GATEWAY: ReadonlySet<StatusClass> = new Set(['bad_gateway', 'unavailable', 'gateway_timeout']);
const CONCLUSIVE: ReadonlySet<StatusClass> = new Set(['too_large', 'overloaded', ...GATEWAY]);
const ROUTE_MISSING: ReadonlySet<StatusClass> = new Set([
  'login_redirect',
  'moved',
  'redirect',
  'not_found',
  'blocked',
]);
const NOT_RUN: ReadonlySet<StatusClass> = new Set([
  'login_redirect',
  'moved',
  'not_found',
  'blocked',
  'too_large',
  'overloaded',
  'client_error',
]);

/** Whether a proxy in front of Odoo got no complete answer from Odoo. A request that only reads may be sent again. */
export function isGatewayError(answer: AnswerStatus): boolean {
  return GATEWAY.has(classifyStatus(answer));
}

/** Whether the status has the same meaning for every request, whatever the body. */
export function isConclusive(answer: AnswerStatus): boolean {
  return CONCLUSIVE.has(classifyStatus(answer));
}

/**
 * Whether `/jsonrpc` or a version page is missing, or a reverse proxy blocks it. Odoo itself answers `/jsonrpc` with
 * none of these statuses (docs/odoo-facts.md#jsonrpc-status), except for its 404 page and its redirect to the login
 * page. For `/json/2`, the body also counts (json2/json2-answer.ts).
 */
export function isRouteMissing(answer: AnswerStatus): boolean {
  return ROUTE_MISSING.has(classifyStatus(answer));
}

/** Whether the server refused the request before any method ran. */
export function isRefusedBeforeRun(answer: AnswerStatus): boolean {
  return NOT_RUN.has(classifyStatus(answer));
}

/** The value of a header; empty if there is none. */
export function readHeader({ headers }: AnswerStatus, name: string): string {
  return String(headers[name] ?? '');
}

const ROUTES = /\/(jsonrpc|json\/2(\/[^/]+)*|json\/version|web\/version|web\/webclient\/version_info)\/?$/;
const LOGIN_PAGE = '/web/login';
const TARGET_LENGTH_MAX = 200;

/**
 * The base address to which an answer redirects requests, without the route: `https://erp.example.com/odoo`, or a path
 * of the same server. Null if it redirects nowhere, or to the login page.
 */
export function findRedirect(answer: AnswerStatus): string | null {
  const kind = classifyStatus(answer);
  const location = readHeader(answer, 'location');
  if ((kind !== 'moved' && kind !== 'redirect') || location === '') return null;
  if (!URL.canParse(location, SAME_SERVER)) return null;
  const { protocol, host, pathname } = new URL(location, SAME_SERVER);
  if (!/^https?:$/.test(protocol) || pathname.endsWith(LOGIN_PAGE)) return null;
  const path = pathname.replace(ROUTES, '').replace(/\/$/, '');
  const target =
    `${protocol}//${host}` === SAME_SERVER ? `the path ${path || '/'}` : `${protocol}//${host}${path}`;
  return target.length > TARGET_LENGTH_MAX ? null : target;
}

/** Base for locations that are a path: stands for the server itself. */
const SAME_SERVER = 'http://same.invalid';

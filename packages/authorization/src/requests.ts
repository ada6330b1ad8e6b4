/** Prepares requests of applications for the library: scopes, parameters, and the address of the proxy. */
import type { IncomingMessage } from 'node:http';
import { PATHS, SCOPES } from './terms.ts';

/** The routes of calls, also those of ODXProxy's wire format. */
const CALL_PATH = /^\/(api|v\d)\/[\w/-]+$/;

/** The scopes that a resource of the proxy takes; null: the address is not one of it. */
export function findScopes(resource: string, url: string): readonly string[] | null {
  const address = resource.replace(/\/$/, '');
  if (address === url) return SCOPES;
  if (address === `${url}/mcp`) return ['mcp'];
  if (!address.startsWith(`${url}/`)) return null;
  return CALL_PATH.test(address.slice(url.length)) ? ['erp'] : null;
}

const PARAMETERS = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'resource'],
  ...['code_challenge', 'code_challenge_method'],
];

/**
 * Leaves out what applications send to servers of OpenID Connect, and completes the scope: the library would refuse
 * unknown scopes, and grants nothing without one (RFC 6749 section 3.3 allows both).
 */
export function adaptRequest(target: string, url: string): string {
  const given = new URL(target, url).searchParams;
  const adapted = new URLSearchParams();
  for (const name of PARAMETERS) for (const value of given.getAll(name)) adapted.append(name, value);
  const available = findScopes(given.get('resource') ?? url, url) ?? SCOPES;
  const wanted = given.get('scope')?.split(' ') ?? [];
  const scopes = available.filter((scope) => wanted.includes(scope));
  adapted.set('scope', (scopes.length === 0 ? available : scopes).join(' '));
  // The person is always asked. Without a page, that is not possible.
  if (given.get('prompt') === 'none') adapted.set('prompt', 'none');
  return `${PATHS.authorize}?${adapted}`;
}

/**
 * The library reads from the request under which address the proxy is reached. What a caller says does not count, and a
 * reverse proxy may have removed the path.
 */
export function tellAddress(request: IncomingMessage & { originalUrl?: string }, url: string): void {
  const { protocol, host, pathname } = new URL(url);
  delete request.headers['x-forwarded-for'];
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
  request.headers['x-forwarded-host'] = host;
  request.originalUrl = pathname.replace(/\/$/, '') + request.url;
}

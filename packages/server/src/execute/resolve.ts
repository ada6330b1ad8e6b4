/** Step: from what a call names to the server it runs on. Refuses addresses that the operator does not allow. */
import type { EgressDispatcher } from '../egress/dispatcher.ts';
import { Denial } from './denial.ts';
import type { Call } from './parse.ts';
import { denyEgress } from './upstream-denials.ts';

/** The server, database and credentials of a call, judged as far as they can be without asking DNS. */
export interface Target {
  /** Scheme, host and port, as URL.origin prints them. */
  origin: string;
  /** What the server's paths begin with; empty or beginning with a slash, never ending with one. */
  pathPrefix: string;
  db: string;
  userId: number;
  apiKey: string;
}

const PATH = 'erp_instance.url';

export function resolveTarget(call: Call, egress: EgressDispatcher): Target | Denial {
  const { instance } = call;
  if ('name' in instance) {
    return new Denial(
      'invalid_request',
      'The proxy has no instance of this name; send {"url", "db", "user_id", "api_key"} instead.',
      { path: 'erp_instance.name' },
    );
  }
  const address = readBaseUrl(instance.url);
  if (address instanceof Denial) return address;
  const denied = egress.judge(address.origin);
  if (denied !== null) return denyEgress(denied.detail);
  return { ...address, db: instance.db, userId: instance.userId, apiKey: instance.apiKey };
}

/** The parts of a base address: http or https; no userinfo, query or fragment; a trailing slash is fine. */
export function readBaseUrl(text: string): { origin: string; pathPrefix: string } | Denial {
  // The URL parser silently drops tabs and line breaks, reads `\` as `/`, and forgets an empty `?` or `#`.
  if (/[\s\\\p{Cc}]/u.test(text))
    return invalidUrl('must not have spaces, control characters or backslashes');
  if (/[?#]/.test(text)) return invalidUrl('must not have a query or fragment; give the base address only');
  const url = URL.parse(text);
  if (url === null) return invalidUrl('is not a URL; give the base address, e.g. "https://erp.example.com"');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return invalidUrl('must begin with https:// or http://');
  if (!/^https?:\/\/[^/]/i.test(text)) return invalidUrl('must name a host after "://"');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/]*@/.test(text)) {
    return invalidUrl('must not have a user name or password; credentials go into `user_id` and `api_key`');
  }
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

function invalidUrl(rule: string): Denial {
  return new Denial('invalid_request', `\`${PATH}\` ${rule}.`, { path: PATH });
}

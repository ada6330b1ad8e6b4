/** Reads the base address of an Odoo server as a caller gives it. Judges its form; where it leads is for egress/. */
import { Denial } from './denial.ts';

const PATH = 'erp_instance.url';

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

/** Reads the base address of an Odoo server as somebody wrote it. Pure: it judges the form, not where it leads. */

export interface BaseUrl {
  /** Scheme, host and port, as URL.origin prints them. */
  origin: string;
  /** What the server's paths begin with; empty or beginning with a slash, never ending with one. */
  pathPrefix: string;
}

export const URL_LENGTH_MAX = 2048;

/** The parts of a base address: http or https; no userinfo, query or fragment; a trailing slash is fine. */
export function parseBaseUrl(text: string): BaseUrl | { fault: string } {
  // The URL parser silently drops tabs and line breaks, reads `\` as `/`, and forgets an empty `?` or `#`.
  if (/[\s\\\p{Cc}]/u.test(text)) return fault('must not have spaces, control characters or backslashes');
  if (/[?#]/.test(text)) return fault('must not have a query or fragment; give the base address only');
  const url = URL.parse(text);
  if (url === null) return fault('is not a URL; give the base address, e.g. "https://erp.example.com"');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return fault('must begin with https:// or http://');
  if (!/^https?:\/\/[^/]/i.test(text)) return fault('must name a host after "://"');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/]*@/.test(text)) {
    return fault('must not have a user name or password; credentials go into `user_id` and `api_key`');
  }
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

function fault(rule: string): { fault: string } {
  return { fault: rule };
}

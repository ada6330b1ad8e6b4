/** Parses the base URL of an Odoo server. Pure: checks the syntax, not whether the address may be reached. */

export interface BaseUrl {
  /** Scheme, host and port, as in URL.origin. */
  origin: string;
  /** Prefix of all paths of the server: empty, or with a leading and without a trailing slash. */
  pathPrefix: string;
}

export const URL_LENGTH_MAX = 2048;

/** Accepts http and https without user info, query and fragment. Otherwise gives the problem as a sentence part. */
export function parseBaseUrl(text: string): BaseUrl | { problem: string } {
  // The URL parser silently drops tabs and line breaks, reads `\` as `/`, and drops an empty `?` or `#`.
  if (/[\s\\\p{Cc}]/u.test(text)) return explain('must not have spaces, control characters or backslashes');
  if (/[?#]/.test(text)) return explain('must not have a query or fragment; give the base address only');
  const url = URL.parse(text);
  if (url === null) return explain('is not a URL; give the base address, e.g. "https://erp.example.com"');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return explain('must begin with https:// or http://');
  if (!/^https?:\/\/[^/]/i.test(text)) return explain('must name a host after "://"');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/]*@/.test(text)) {
    return explain('must not have a user name or password; credentials go into `user_id` and `api_key`');
  }
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

function explain(problem: string): { problem: string } {
  return { problem };
}

/**
 * Where a request to `/json/2` goes and with which headers; its body is json2-arguments.ts'. Must not let a name or a
 * credential of the call become another part of the request.
 */

export interface Json2Call {
  /** Of the server's address: empty, or `/…` without a slash at the end. */
  pathPrefix: string;
  db: string;
  apiKey: string;
  model: string;
  method: string;
}

export type Json2Request =
  | { path: string; headers: Record<string, string> }
  /** Why the call cannot go over `/json/2`. */
  | { unmappable: string };

/**
 * Always send the body with a Content-Length: `/json/2` takes a chunked one for none (docs/odoo-facts.md#chunked-body).
 */
export function buildJson2Request({ pathPrefix, db, apiKey, model, method }: Json2Call): Json2Request {
  if (!isPathSegment(model) || !isPathSegment(method))
    return { unmappable: 'the name of the model or the method cannot stand in a path' };
  const headers = buildBearerHeaders(db, apiKey);
  if (headers === null)
    return { unmappable: 'the key or the database has characters that no header can hold' };
  return {
    path: `${pathPrefix}/json/2/${model}/${method}`,
    headers: { ...headers, 'content-type': 'application/json' },
  };
}

/** The request for a model's doc page: a GET. */
export function buildDocPageRequest({
  pathPrefix,
  db,
  apiKey,
  model,
}: Omit<Json2Call, 'method'>): Json2Request {
  if (!isPathSegment(model)) return { unmappable: 'the name of the model cannot stand in a path' };
  const headers = buildBearerHeaders(db, apiKey);
  if (headers === null)
    return { unmappable: 'the key or the database has characters that no header can hold' };
  return { path: `${pathPrefix}/doc-bearer/${model}.json`, headers };
}

/**
 * Whether a key looks like one that Odoo made (docs/odoo-facts.md#api-key-form). `/jsonrpc` takes the user's password
 * in its place (docs/odoo-facts.md#password-for-key), `/json/2` does not.
 */
export function isApiKeyShaped(apiKey: string): boolean {
  return /^[0-9a-f]{40}$/.test(apiKey);
}

/** `..` would be another path to any proxy on the way. */
function isPathSegment(name: string): boolean {
  return /^[A-Za-z0-9_.]+$/.test(name) && !/^\.+$/.test(name);
}

/** One word of visible ASCII (RFC 9110 section 5.5); Odoo cuts the value at white space. */
const HEADER_WORD = /^[\x21-\x7e]+$/;

function buildBearerHeaders(db: string, apiKey: string): Record<string, string> | null {
  if (!HEADER_WORD.test(db) || !HEADER_WORD.test(apiKey)) return null;
  return { authorization: `bearer ${apiKey}`, 'x-odoo-database': db };
}

/**
 * Builds the path and the headers of a request to `/json/2`; json2-arguments.ts builds the body. A name or a credential
 * of the call must not become another part of the request.
 */

export interface Json2Call {
  /** The path prefix of the server's address: empty, or `/…` without a trailing slash. */
  pathPrefix: string;
  db: string;
  apiKey: string;
  model: string;
  method: string;
}

export type Json2Request =
  | { path: string; headers: Record<string, string> }
  /** Why the call cannot be sent over `/json/2`. */
  | { unmappable: string };

/** The body must be sent with a Content-Length: `/json/2` ignores a chunked body (docs/odoo-facts.md#chunked-body). */
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

/** The GET request for the doc page of a model. */
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
 * Whether a key has the form of an API key of Odoo (docs/odoo-facts.md#api-key-form). `/jsonrpc` also accepts the
 * password of the user (docs/odoo-facts.md#password-for-key), `/json/2` does not.
 */
export function isApiKeyShaped(apiKey: string): boolean {
  return /^[0-9a-f]{40}$/.test(apiKey);
}

/** A proxy on the way would resolve `..` to another path. */
function isPathSegment(name: string): boolean {
  return /^[A-Za-z0-9_.]+$/.test(name) && !/^\.+$/.test(name);
}

/** One word of visible ASCII (RFC 9110 section 5.5). Odoo splits the value at white space. */
export const HEADER_WORD = /^[\x21-\x7e]+$/;

function buildBearerHeaders(db: string, apiKey: string): Record<string, string> | null {
  if (!HEADER_WORD.test(db) || !HEADER_WORD.test(apiKey)) return null;
  return { authorization: `bearer ${apiKey}`, 'x-odoo-database': db };
}

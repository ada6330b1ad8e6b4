/**
 * Reads the parts of a JSON Web Token (RFC 7519) before its signature is verified. Accepts only texts that all parsers
 * read in the same way: canonical base64url, and objects without duplicate members. Pure.
 */
import { readValue } from '@erp-proxy/json';
import type { Claims } from './issuer.ts';

/** Maximum length of a token. Common ones have 1 to 3 KiB. */
const TOKEN_LENGTH_MAX = 8 * 1024;
/** Three parts. The signature may not be empty, as it is with the algorithm `none`. */
const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface ReadToken {
  readonly header: Claims;
  /** Must not be trusted before the signature is verified. */
  readonly claims: Claims;
}

/** True if the text has the form of a token. A client key has no dots. */
export function isTokenForm(text: string): boolean {
  return text.length <= TOKEN_LENGTH_MAX && FORM.test(text);
}

/** Null if a part is not canonical, not JSON, not an object, or has a duplicate member. */
export function readToken(text: string): ReadToken | null {
  const [head = '', body = '', signature = ''] = text.split('.');
  const header = readPart(head);
  const claims = readPart(body);
  return header === null || claims === null || decode(signature) === null ? null : { header, claims };
}

function readPart(part: string): Claims | null {
  const bytes = decode(part);
  if (bytes === null) return null;
  try {
    const value = readValue(bytes);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null;
  } catch {
    return null;
  }
}

/** Null if another text decodes to the same bytes: each token then has only one text. */
function decode(part: string): Buffer | null {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : null;
}

/** Reads the directives of a request's `cache-control` (RFC 9111, section 5.2.1). Unknown directives are ignored. */
import { JOIN_MS } from './shared-reads.ts';

export interface CacheControl {
  /** False: the call must be sent on its own. */
  mayShare: boolean;
  /** Maximum age of a kept answer in milliseconds; null: the caller wants none, or may not have one. */
  maxAgeMs: number | null;
}

const NO_DIRECTIVE: CacheControl = { mayShare: true, maxAgeMs: null };
const OWN_CALL: CacheControl = { mayShare: false, maxAgeMs: null };

/** A number of seconds. Recipients should accept the quoted form, too. */
const SECONDS = /^"?(\d+)"?$/;

/** Reads the header. A key that may not get kept answers gets a fresh one, whatever age the caller accepts. */
export function readCacheControl(header: string | undefined, isCacheAllowed: boolean): CacheControl {
  if (header === undefined) return NO_DIRECTIVE;
  let maxAgeMs: number | null = null;
  for (const directive of header.split(',')) {
    const [name, value = ''] = directive.split('=', 2).map((part) => part.trim().toLowerCase());
    if (name === 'no-cache' || name === 'no-store') return OWN_CALL;
    const seconds = name === 'max-age' ? SECONDS.exec(value)?.[1] : undefined;
    if (seconds !== undefined)
      maxAgeMs = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, Number(seconds) * 1000);
  }
  // No existing answer is young enough.
  if (maxAgeMs === 0) return OWN_CALL;
  if (isCacheAllowed) return { mayShare: true, maxAgeMs };
  return maxAgeMs !== null && maxAgeMs < JOIN_MS ? OWN_CALL : NO_DIRECTIVE;
}

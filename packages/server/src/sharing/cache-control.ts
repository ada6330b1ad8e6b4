/** Reads what a request's `cache-control` asks for (RFC 9111, section 5.2.1). Directives that are not known are no mistake. */
import { JOIN_MS } from './shared-reads.ts';

export interface CacheWish {
  /** False: the answer must come from a call of its own. */
  mayShare: boolean;
  /** Age that a kept answer may have; null: none is wanted. */
  maxAgeMs: number | null;
}

const NO_WISH: CacheWish = { mayShare: true, maxAgeMs: null };
const OWN_CALL: CacheWish = { mayShare: false, maxAgeMs: null };

/** The form with quotes is one that a recipient should take, too. */
const SECONDS = /^"?(\d+)"?$/;

/** Who may not have kept answers gets a fresh one, whatever age it would accept. */
export function readCacheWish(header: string | undefined, isCacheAllowed: boolean): CacheWish {
  if (header === undefined) return NO_WISH;
  let maxAgeMs: number | null = null;
  for (const directive of header.split(',')) {
    const [name, value = ''] = directive.split('=', 2).map((part) => part.trim().toLowerCase());
    if (name === 'no-cache' || name === 'no-store') return OWN_CALL;
    const seconds = name === 'max-age' ? SECONDS.exec(value)?.[1] : undefined;
    if (seconds !== undefined)
      maxAgeMs = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, Number(seconds) * 1000);
  }
  // Nothing that is there already is young enough.
  if (maxAgeMs === 0) return OWN_CALL;
  if (isCacheAllowed) return { mayShare: true, maxAgeMs };
  return maxAgeMs !== null && maxAgeMs < JOIN_MS ? OWN_CALL : NO_WISH;
}

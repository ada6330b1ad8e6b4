/**
 * Limits the number of records of refused keys and logins: enough to trace a leaked key, but too few to fill the store.
 */

import { atMost } from '@erp-proxy/async/tasks';
import { LRUCache } from 'lru-cache';

const PERIOD_MS = 60_000;
/** Maximum number of records in a period for each id of a stored key. */
const KNOWN_ID_MAX = 10;
/** Maximum number of records in a period for all ids that callers may have invented. */
const UNKNOWN_IDS_MAX = 60;
const IDS_MAX = 1000;
const UNKNOWN = '';

export interface RefusalLimit {
  /** Whether one more refusal is recorded. `id` is null if the caller may have invented the id. */
  allows(id: string | null): boolean;
}

/** `clock` returns milliseconds. */
export function createRefusalLimit(clock: () => number): RefusalLimit {
  const periods = new LRUCache<string, { startedAt: number; count: number }>(atMost(IDS_MAX));

  return {
    allows(id) {
      const now = clock();
      const name = id ?? UNKNOWN;
      let period = periods.get(name);
      if (period === undefined || Math.abs(now - period.startedAt) >= PERIOD_MS) {
        period = { startedAt: now, count: 0 };
        periods.set(name, period);
      }
      period.count++;
      return period.count <= (id === null ? UNKNOWN_IDS_MAX : KNOWN_ID_MAX);
    },
  };
}

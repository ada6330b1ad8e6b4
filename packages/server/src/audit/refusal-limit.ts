/**
 * Limits how many refused keys and logins are recorded: enough to trace a leaked key, but too few to fill the store.
 */
import { LRUCache } from 'lru-cache';

const PERIOD_MS = 60_000;
/** For each id of a stored key. */
const OF_ONE_MAX = 10;
/** For all ids that callers may have made up, together. */
const OF_UNKNOWN_MAX = 60;
const IDS_MAX = 1000;
const UNKNOWN = '';

export interface RefusalLimit {
  /** Whether one more is recorded; null: its id may be made up. */
  allows(id: string | null): boolean;
}

/** `clock`: in milliseconds. */
export function createRefusalLimit(clock: () => number): RefusalLimit {
  const periods = new LRUCache<string, { startedAt: number; count: number }>({ max: IDS_MAX });

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
      return period.count <= (id === null ? OF_UNKNOWN_MAX : OF_ONE_MAX);
    },
  };
}

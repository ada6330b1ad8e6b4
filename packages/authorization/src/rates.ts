/** Bounds how often something is done: for each address, and in all. In memory, for one process. */
import { atMost } from '@erp-proxy/async/tasks';
import { groupAddress } from '@erp-proxy/control/keys';
import { LRUCache } from 'lru-cache';

export interface RateBounds {
  /** Within {@link WINDOW_MS}. */
  perAddress: number;
  total: number;
}

const WINDOW_MS = 600_000;
export const RETRY_AFTER_SECONDS = WINDOW_MS / 1000;
const ADDRESSES_MAX = 10_000;

export interface Rate {
  /** Counts one time. False if there were too many, which is not counted. */
  take(address: string): boolean;
}

/** `nowMs`: a monotonic clock in milliseconds. */
export function createRate({ perAddress, total }: RateBounds, nowMs: () => number): Rate {
  const counts = new LRUCache<string, number>(atMost(ADDRESSES_MAX));
  let endsMs = 0;
  let count = 0;
  return {
    take(address) {
      const now = nowMs();
      if (now >= endsMs) {
        counts.clear();
        endsMs = now + WINDOW_MS;
        count = 0;
      }
      const group = groupAddress(address);
      const own = counts.get(group) ?? 0;
      if (own >= perAddress || count >= total) return false;
      counts.set(group, own + 1);
      count++;
      return true;
    },
  };
}

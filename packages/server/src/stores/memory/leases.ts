/** Leases in memory. */
import type { LeaseStore } from '../ports.ts';

export function createMemoryLeases(): LeaseStore {
  const leases = new Map<string, { owner: string; endsAt: number }>();
  return {
    acquire(name, owner, ttlMs) {
      const lease = leases.get(name);
      const now = Date.now();
      if (lease && lease.owner !== owner && lease.endsAt > now) return false;
      leases.set(name, { owner, endsAt: now + ttlMs });
      return true;
    },
    release(name, owner) {
      if (leases.get(name)?.owner === owner) leases.delete(name);
    },
  };
}

/** Leases in memory. */
import type { LeaseStore } from '../ports.ts';

interface Lease {
  owner: string;
  endsAt: number;
}

export function createMemoryLeases(leases = new Map<string, Lease>()): LeaseStore {
  return {
    acquire(name, owner, ttlMs, latestMs = null) {
      const lease = leases.get(name);
      const now = Date.now();
      const isTooLate = latestMs !== null && lease !== undefined && lease.endsAt > now + latestMs;
      if (lease && lease.owner !== owner && lease.endsAt > now && !isTooLate) return false;
      for (const [other, { endsAt }] of leases) if (endsAt <= now) leases.delete(other);
      leases.set(name, { owner, endsAt: now + ttlMs });
      return true;
    },
    release(name, owner) {
      if (leases.get(name)?.owner === owner) leases.delete(name);
    },
  };
}

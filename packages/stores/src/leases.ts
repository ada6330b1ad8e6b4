/** Leases in a database. */
import type { LeaseStore } from './ports/leases.ts';
import type { Databases } from './statements.ts';

/** Maximum number of leases that one statement removes. */
const PRUNED_MAX = 1000;

export function createLeases({ quick }: Databases): LeaseStore {
  const { now, nowPlus, skipLocked } = quick.dialect;
  /** Removes expired leases. Replicas that do this at the same time skip rows that others have locked. */
  const prune = () =>
    quick.change(
      `DELETE FROM leases WHERE name IN
         (SELECT name FROM leases WHERE ends_at <= ${now} LIMIT $1 ${skipLocked})`,
      [PRUNED_MAX],
    );
  return {
    async acquire(name, owner, ttlMs, latestMs = null) {
      const taken = await quick.change(
        `INSERT INTO leases (name, owner, ends_at)
         VALUES ($1, $2, ${nowPlus('$3')})
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, ends_at = excluded.ends_at
         WHERE leases.owner = excluded.owner OR leases.ends_at <= ${now}
           OR leases.ends_at > ${nowPlus('$4')}`,
        [name, owner, ttlMs, latestMs],
      );
      if (taken === 1) await prune();
      return taken === 1;
    },
    async release(name, owner) {
      await quick.change('DELETE FROM leases WHERE name = $1 AND owner = $2', [name, owner]);
    },
  };
}

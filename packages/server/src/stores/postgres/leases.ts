/** Leases in PostgreSQL. Uses the clock of the server, so that replicas whose clocks differ agree. */
import type { LeaseStore } from '../ports.ts';
import type { Database } from './statements.ts';

/** Leases that are removed at once. */
const PRUNED_MAX = 1000;

export function createPostgresLeases(database: Database): LeaseStore {
  /** Replicas that do so at once skip each other's rows. */
  const prune = () =>
    database.change(
      `DELETE FROM leases WHERE name IN
         (SELECT name FROM leases WHERE ends_at <= clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [PRUNED_MAX],
    );
  return {
    async acquire(name, owner, ttlMs, latestMs = null) {
      const taken = await database.change(
        `INSERT INTO leases (name, owner, ends_at)
         VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3::double precision / 1000))
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, ends_at = excluded.ends_at
         WHERE leases.owner = excluded.owner OR leases.ends_at <= clock_timestamp()
           OR leases.ends_at > clock_timestamp() + make_interval(secs => $4::double precision / 1000)`,
        [name, owner, ttlMs, latestMs],
      );
      if (taken === 1) await prune();
      return taken === 1;
    },
    async release(name, owner) {
      await database.change('DELETE FROM leases WHERE name = $1 AND owner = $2', [name, owner]);
    },
  };
}

/** Leases in SQLite. Uses the clock of the machine, which all its processes share. */
import type { DatabaseSync } from 'node:sqlite';
import type { LeaseStore } from '../ports.ts';

export function createSqliteLeases(database: DatabaseSync): LeaseStore {
  const acquire = database.prepare(
    `INSERT INTO leases (name, owner, ends_at) VALUES (:name, :owner, :now + :ttlMs)
     ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, ends_at = excluded.ends_at
     WHERE owner = excluded.owner OR ends_at <= :now OR ends_at > :now + :latestMs`,
  );
  const prune = database.prepare('DELETE FROM leases WHERE ends_at <= ?');
  const release = database.prepare('DELETE FROM leases WHERE name = ? AND owner = ?');
  return {
    acquire(name, owner, ttlMs, latestMs = null) {
      const now = Date.now();
      const isTaken = acquire.run({ name, owner, now, ttlMs, latestMs }).changes > 0;
      if (isTaken) prune.run(now);
      return isTaken;
    },
    release(name, owner) {
      release.run(name, owner);
    },
  };
}

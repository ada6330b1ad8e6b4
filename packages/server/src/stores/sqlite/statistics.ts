/** Statistics of calls in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { StatisticsRow, StatisticsStore } from '../ports.ts';
import { transact } from './transaction.ts';

export function createSqliteStatistics(database: DatabaseSync): StatisticsStore {
  const put = database.prepare(
    `INSERT INTO statistics (step, starts_at, process, body) VALUES (:step, :startsAt, :process, :body)
     ON CONFLICT (step, starts_at, process) DO UPDATE SET body = excluded.body`,
  );
  const list = database.prepare(
    `SELECT step, starts_at AS startsAt, process, body FROM statistics
     WHERE step = :step AND starts_at < :until AND (starts_at, process) > (:startsAt, :process)
     ORDER BY starts_at, process LIMIT :limit`,
  );
  const prune = database.prepare(
    `DELETE FROM statistics WHERE rowid IN (
       SELECT rowid FROM statistics WHERE step = :step AND starts_at < :before LIMIT :limit
     )`,
  );
  return {
    put(rows) {
      transact(database, () => {
        for (const row of rows) put.run({ ...row });
      });
    },
    list({ step, since, until, after, limit }) {
      // No process has an empty name, so that this is the place before the first row.
      const { startsAt, process } = after ?? { startsAt: since, process: '' };
      return list.all({ step, until, startsAt, process, limit }) as unknown as StatisticsRow[];
    },
    prune: (step, before, limit) => Number(prune.run({ step, before, limit }).changes),
  };
}

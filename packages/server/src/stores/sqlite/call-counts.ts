/** Counts of calls in SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import { findOldestMonth } from '../oldest-month.ts';
import type { CallCountStore } from '../ports.ts';
import { transact } from './transaction.ts';

export function createSqliteCallCounts(database: DatabaseSync): CallCountStore {
  const add = database.prepare(
    `INSERT INTO call_counts (month, client_id, calls) VALUES (:month, :clientId, :calls)
     ON CONFLICT (month, client_id) DO UPDATE SET calls = calls + excluded.calls
     RETURNING calls`,
  );
  const read = database.prepare('SELECT calls FROM call_counts WHERE month = ? AND client_id = ?');
  const removeOld = database.prepare('DELETE FROM call_counts WHERE month < ?');
  return {
    add(counts) {
      return transact(database, () => {
        removeOld.run(findOldestMonth(counts));
        return counts.map((count) => ({ ...count, calls: Number(add.get({ ...count })?.['calls']) }));
      });
    },
    read(month, clientId) {
      return Number(read.get(month, clientId)?.['calls'] ?? 0);
    },
  };
}

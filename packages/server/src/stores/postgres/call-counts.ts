/** Counts of calls in PostgreSQL. */
import { findOldestMonth } from '../oldest-month.ts';
import type { CallCount, CallCountStore } from '../ports.ts';
import type { Database } from './statements.ts';

export function createPostgresCallCounts(database: Database): CallCountStore {
  return {
    async add(counts) {
      if (counts.length === 0) return [];
      // Locks the rows in one order, so that two replicas cannot deadlock.
      return await database.transact(async (statements) => {
        const sums = await statements.query<CallCount>(
          `INSERT INTO call_counts (month, client_id, calls)
           SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS added (month, client_id, calls)
           ORDER BY month, client_id
           ON CONFLICT (month, client_id) DO UPDATE SET calls = call_counts.calls + excluded.calls
           RETURNING month, client_id AS "clientId", calls`,
          [
            counts.map(({ month }) => month),
            counts.map(({ clientId }) => clientId),
            counts.map(({ calls }) => calls),
          ],
        );
        await statements.change('DELETE FROM call_counts WHERE month < $1', [findOldestMonth(counts)]);
        return sums;
      });
    },
    async read(month, clientId) {
      const [row] = await database.query<{ calls: number }>(
        'SELECT calls FROM call_counts WHERE month = $1 AND client_id = $2',
        [month, clientId],
      );
      return row?.calls ?? 0;
    },
  };
}

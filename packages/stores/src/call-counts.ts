/** Counts of calls in a database. */
import type { CallCount, CallCountStore } from './ports/call-counts.ts';
import { createParameters, placeRows, splitRows } from './sql.ts';
import type { Databases } from './statements.ts';

export function createCallCounts({ quick }: Databases): CallCountStore {
  return {
    add: (counts) =>
      quick.transact(async (statements) => {
        // Locks the rows in one order, so that two replicas cannot deadlock.
        const rows = counts.map(({ month, clientId, calls }) => [month, clientId, calls] as const);
        const sorted = rows.toSorted(([...one], [...other]) => (`${one}` < `${other}` ? -1 : 1));
        const sums: CallCount[] = [];
        for (const part of splitRows(sorted)) {
          const { values, place } = createParameters();
          const added = placeRows(place, ['text', 'text', 'bigint'], part);
          const summed = await statements.query<CallCount>(
            `INSERT INTO call_counts (month, client_id, calls) VALUES ${added}
             ON CONFLICT (month, client_id) DO UPDATE SET calls = call_counts.calls + excluded.calls
             RETURNING month, client_id AS "clientId", calls`,
            values,
          );
          sums.push(...summed);
        }
        await statements.change('DELETE FROM call_counts WHERE month < $1', [findOldestMonth(counts)]);
        return sums;
      }),
    async read(month, clientId) {
      const [row] = await quick.query<{ calls: number }>(
        'SELECT calls FROM call_counts WHERE month = $1 AND client_id = $2',
        [month, clientId],
      );
      return row?.calls ?? 0;
    },
  };
}

/** The oldest month whose counts of calls are kept after `counts` are added: the same month of the year before. */
function findOldestMonth(counts: readonly CallCount[]): string {
  const newest = counts.reduce((latest, { month }) => (month > latest ? month : latest), '');
  return newest === '' ? '' : `${Number(newest.slice(0, 4)) - 1}${newest.slice(4)}`;
}

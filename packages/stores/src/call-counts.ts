/** Counts of calls in a database. The column `month` has names of months and days: `2026-11`, `2026-11-28`. */
import type { CallCount, CallCountStore } from './ports/call-counts.ts';
import { createParameters, placeRows, splitRows } from './sql.ts';
import type { Databases } from './statements.ts';

const DAY_MS = 86_400_000;
const MONTH_LENGTH = '2026-11'.length;

export function createCallCounts({ quick }: Databases): CallCountStore {
  return {
    add: (counts) =>
      quick.transact(async (statements) => {
        // Locks the rows in one order, so that two replicas cannot deadlock.
        const rows = counts.map(({ period, clientId, calls }) => [period, clientId, calls] as const);
        const sorted = rows.toSorted(([...one], [...other]) => (`${one}` < `${other}` ? -1 : 1));
        const sums: CallCount[] = [];
        for (const part of splitRows(sorted)) {
          const { values, place } = createParameters();
          const added = placeRows(place, ['text', 'text', 'bigint'], part);
          const summed = await statements.query<CallCount>(
            `INSERT INTO call_counts (month, client_id, calls) VALUES ${added}
             ON CONFLICT (month, client_id) DO UPDATE SET calls = call_counts.calls + excluded.calls
             RETURNING month AS period, client_id AS "clientId", calls`,
            values,
          );
          sums.push(...summed);
        }
        await statements.change(
          'DELETE FROM call_counts WHERE month < $1 OR (month > $2 AND month < $3)',
          findEnded(counts),
        );
        return sums;
      }),
    async read(period, clientId) {
      const [row] = await quick.query<{ calls: number }>(
        'SELECT calls FROM call_counts WHERE month = $1 AND client_id = $2',
        [period, clientId],
      );
      return row?.calls ?? 0;
    },
  };
}

/**
 * The bounds of the names whose counts are removed: names before the first bound, and names between the other two,
 * which are days, because a day follows its month in the order of names.
 */
function findEnded(counts: readonly CallCount[]): [string, string, string] {
  const newest = counts.reduce((latest, { period }) => (period > latest ? period : latest), '');
  if (newest === '') return ['', '', ''];
  const yearBefore = `${Number(newest.slice(0, 4)) - 1}${newest.slice(4, 7)}`;
  if (newest.length === MONTH_LENGTH) return [yearBefore, '', ''];
  const dayBefore = new Date(Date.parse(newest) - DAY_MS).toISOString().slice(0, 10);
  return [yearBefore, dayBefore.slice(0, MONTH_LENGTH), dayBefore];
}

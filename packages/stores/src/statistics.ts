/** Statistics of calls in a database. */
import type { StatisticsRow, StatisticsStore } from './ports/statistics.ts';
import type { Databases } from './statements.ts';

export function createStatistics({ quick }: Databases): StatisticsStore {
  return {
    put: (rows) =>
      quick.transact(async (statements) => {
        for (const { step, startsAt, process, body } of rows) {
          await statements.change(
            `INSERT INTO statistics (step, starts_at, process, body) VALUES ($1, $2, $3, $4)
             ON CONFLICT (step, starts_at, process) DO UPDATE SET body = excluded.body`,
            [step, startsAt, process, body],
          );
        }
      }),
    list({ step, since, until, after, limit }) {
      // No process has an empty name, so this position is before the first row.
      const { startsAt, process } = after ?? { startsAt: since, process: '' };
      return quick.query<StatisticsRow>(
        `SELECT step, starts_at AS "startsAt", process, body FROM statistics
         WHERE step = $1 AND starts_at < $2 AND (starts_at, process) > ($3, $4)
         ORDER BY starts_at, process LIMIT $5`,
        [step, until, startsAt, process, limit],
      );
    },
    prune: (step, before, limit) =>
      quick.change(
        `DELETE FROM statistics WHERE step = $1 AND (starts_at, process) IN (
           SELECT starts_at, process FROM statistics WHERE step = $1 AND starts_at < $2 LIMIT $3
         )`,
        [step, before, limit],
      ),
  };
}

/** Statistics of calls in PostgreSQL. */
import type { StatisticsRow, StatisticsStore } from '../ports.ts';
import type { Database } from './statements.ts';

export function createPostgresStatistics(database: Database): StatisticsStore {
  return {
    async put(rows) {
      await database.transact(async (statements) => {
        await statements.change(
          `INSERT INTO statistics (step, starts_at, process, body)
           SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
           ON CONFLICT (step, starts_at, process) DO UPDATE SET body = excluded.body`,
          [
            rows.map(({ step }) => step),
            rows.map(({ startsAt }) => startsAt),
            rows.map(({ process }) => process),
            rows.map(({ body }) => body),
          ],
        );
      });
    },
    async list({ step, since, until, after, limit }) {
      // No process has an empty name, so that this is the place before the first row.
      const { startsAt, process } = after ?? { startsAt: since, process: '' };
      return await database.query<StatisticsRow>(
        `SELECT step, starts_at AS "startsAt", process, body FROM statistics
         WHERE step = $1 AND starts_at < $2 AND (starts_at, process) > ($3, $4)
         ORDER BY starts_at, process LIMIT $5`,
        [step, until, startsAt, process, limit],
      );
    },
    prune: (step, before, limit) =>
      database.change(
        `DELETE FROM statistics WHERE ctid = ANY(ARRAY(
           SELECT ctid FROM statistics WHERE step = $1 AND starts_at < $2 LIMIT $3
         ))`,
        [step, before, limit],
      ),
  };
}

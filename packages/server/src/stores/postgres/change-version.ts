/** Changes a row of one version in PostgreSQL, or finds out why it cannot. */
import type { Change } from '../ports.ts';
import type { Statements } from '../statements.ts';

/** `statement` must change the row with the id `$1` if its version is `$2`. */
export async function changeVersion(
  statements: Statements,
  table: 'client_keys' | 'instances' | 'subscriptions',
  statement: string,
  values: readonly unknown[],
): Promise<Change> {
  const [found] = await statements.query<{ isChanged: boolean; isKnown: boolean }>(
    `WITH changed AS (${statement} RETURNING 1)
     SELECT EXISTS (SELECT FROM changed) AS "isChanged",
            EXISTS (SELECT FROM ${table} WHERE id = $1) AS "isKnown"`,
    values,
  );
  if (found?.isChanged) return 'done';
  return found?.isKnown ? 'conflict' : 'missing';
}

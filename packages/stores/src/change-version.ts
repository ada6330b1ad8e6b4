/** Changes a row if it has the given version, or finds out why it cannot. */
import type { Change } from './ports/change.ts';
import type { Statements } from './statements.ts';

/** `statement` must change the row with the id `$1` if its version is `$2`. */
export async function changeVersion(
  statements: Statements,
  table: 'client_keys' | 'instances' | 'subscriptions',
  statement: string,
  values: readonly unknown[],
): Promise<Change> {
  if ((await statements.change(statement, values)) > 0) return 'done';
  const known = await statements.query(`SELECT 1 FROM ${table} WHERE id = $1`, values.slice(0, 1));
  return known.length > 0 ? 'conflict' : 'missing';
}

export function isDone(result: unknown): boolean {
  return result === 'done';
}

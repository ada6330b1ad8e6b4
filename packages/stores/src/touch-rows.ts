/** Stores when rows were last used, for the tables of secrets that callers send. */
import { createParameters, placeRows } from './sql.ts';
import type { StoreDatabase } from './statements.ts';

/** Sets `last_used_at` of these ids to later times, never to earlier ones. Skips unknown ids. */
export async function touchRows(
  database: StoreDatabase,
  table: 'client_keys' | 'operator_tokens',
  uses: ReadonlyMap<string, number>,
): Promise<void> {
  if (uses.size === 0) return;
  const { isIn, forUpdate } = database.dialect;
  const { values, place } = createParameters();
  const used = placeRows(place, ['text', 'bigint'], [...uses]);
  await database.transact(async (statements) => {
    // Locks the rows in one order, so that two replicas cannot deadlock.
    if (forUpdate !== '') {
      const lock = `SELECT 1 FROM ${table} WHERE ${isIn('id', '$1')} ORDER BY id ${forUpdate}`;
      await statements.query(lock, [[...uses.keys()]]);
    }
    await statements.change(
      `UPDATE ${table} SET last_used_at = used.column2 FROM (VALUES ${used}) AS used
       WHERE id = used.column1 AND (last_used_at IS NULL OR last_used_at < used.column2)`,
      values,
    );
  });
}

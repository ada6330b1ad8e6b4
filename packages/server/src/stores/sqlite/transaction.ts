/** A write transaction of SQLite. */
import type { DatabaseSync } from 'node:sqlite';

/** Gets the write lock first, so that it cannot fail later because of what it has read. Rolls back if `run` throws. */
export function transact<Result>(database: DatabaseSync, run: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = run();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

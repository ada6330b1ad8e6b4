/** A write transaction of SQLite. */
import type { DatabaseSync } from 'node:sqlite';

/**
 * Gets the write lock at the beginning: after a read, getting it could fail because another process has written. Rolls
 * back if `run` throws.
 */
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

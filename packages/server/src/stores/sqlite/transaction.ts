/** A transaction of SQLite that writes: all of it or nothing. */
import type { DatabaseSync } from 'node:sqlite';

/** Waits for the write of another process before it begins, so that it never fails for what it has read. */
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

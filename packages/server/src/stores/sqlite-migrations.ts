/**
 * The schema of the SQLite store as steps that only go forward: a step that has shipped is never edited, a change is a
 * new step at the end. Knows tables, not what is done with them.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

/** Version n is the first n of these. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE client_keys (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     last_used_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE secrets (
     name TEXT PRIMARY KEY,
     value BLOB NOT NULL
   ) STRICT, WITHOUT ROWID;`,
];

/**
 * Brings the file up to date. The version is read again under the write lock: of several processes that start at once,
 * one migrates and the others find it done. A file that is up to date is not locked at all.
 */
export function migrate(database: DatabaseSync): void {
  if (readVersion(database) === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = readVersion(database);
    database.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY) STRICT');
    const record = database.prepare('INSERT INTO migrations (version) VALUES (?)');
    for (const [index, step] of MIGRATIONS.entries()) {
      if (index < version) continue;
      database.exec(step);
      record.run(index + 1);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function readVersion(database: DatabaseSync): number {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  if (!tables.some((table) => table['name'] === 'migrations')) {
    throw new StoreError('it is the database of another program. Set store.url to a file of its own.');
  }
  const version = Number(
    database.prepare('SELECT coalesce(max(version), 0) AS version FROM migrations').get()?.['version'],
  );
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      `it was written by a newer erp-proxy (store version ${version}, this one knows ${MIGRATIONS.length}). ` +
        'Run that version, or restore the backup made before the upgrade.',
    );
  }
  return version;
}

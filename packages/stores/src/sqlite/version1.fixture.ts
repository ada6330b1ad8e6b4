/** For tests: a file with one key, as the first release has left it. */
import { DatabaseSync } from 'node:sqlite';

export function createFileOfVersion1(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE client_keys (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
      created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE migrations (version INTEGER PRIMARY KEY) STRICT;
    INSERT INTO migrations VALUES (1);
    INSERT INTO client_keys VALUES ('a', 'shop', zeroblob(32), 1, 2, 3, 4);
    INSERT INTO secrets VALUES ('key_hash', zeroblob(32));`);
  database.close();
}

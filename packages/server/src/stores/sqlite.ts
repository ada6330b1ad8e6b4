/**
 * The store in one SQLite file, shared by the processes of one machine (server, workers, CLI). Knows SQL and the file;
 * must not know what a key means or when it is valid.
 */
import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { KeyRecord, KeyStore, Store, StoredKey } from './ports.ts';
import { describeFailure, readSqliteCode, SQLITE_BUSY } from './sqlite-failures.ts';
import { migrate } from './sqlite-migrations.ts';
import { StoreError } from './store-error.ts';

/** How long a write waits for the write of another process. Reads never wait in WAL mode. */
const BUSY_TIMEOUT_MS = 5000;
const WAL_RETRY_MS = 20;

/** Opens the file, makes it where it is missing, and brings its schema up to date; throws a {@link StoreError}. */
export function openSqliteStore(path: string): Store {
  const file = resolve(path);
  let database: DatabaseSync | undefined;
  try {
    prepareFile(file);
    database = new DatabaseSync(file);
    switchToWal(database);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // A revocation must outlive a power cut; NORMAL may lose the last commits (sqlite.org/pragma.html#pragma_synchronous).
    database.exec('PRAGMA synchronous = FULL');
    migrate(database);
    return createStore(database);
  } catch (error) {
    database?.close();
    throw new StoreError(`The store ${file} cannot be used: ${describeFailure(error)}`, { cause: error });
  }
}

function createStore(database: DatabaseSync): Store {
  return {
    keys: createKeyStore(database),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

const RECORD_COLUMNS =
  'id, name, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt, last_used_at AS lastUsedAt';

function createKeyStore(database: DatabaseSync): KeyStore {
  const insert = database.prepare(
    `INSERT INTO client_keys (id, name, secret_hash, created_at, expires_at, revoked_at, last_used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const findById = database.prepare(
    `SELECT ${RECORD_COLUMNS}, secret_hash AS secretHash FROM client_keys WHERE id = ?`,
  );
  const list = database.prepare(`SELECT ${RECORD_COLUMNS} FROM client_keys ORDER BY created_at, id`);
  const hasAny = database.prepare('SELECT 1 FROM client_keys LIMIT 1');
  const revoke = database.prepare('UPDATE client_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?');
  const touch = database.prepare(
    'UPDATE client_keys SET last_used_at = max(coalesce(last_used_at, ?1), ?1) WHERE id = ?2',
  );
  const keepHashSecret = database.prepare(
    "INSERT INTO secrets (name, value) VALUES ('key_hash', ?) ON CONFLICT DO NOTHING",
  );
  const readHashSecret = database.prepare("SELECT value FROM secrets WHERE name = 'key_hash'");

  return {
    insert(key) {
      insert.run(
        key.id,
        key.name,
        key.secretHash,
        key.createdAt,
        key.expiresAt,
        key.revokedAt,
        key.lastUsedAt,
      );
    },
    findById(id) {
      return (findById.get(id) as StoredKey | undefined) ?? null;
    },
    list() {
      return list.all() as unknown as KeyRecord[];
    },
    isEmpty() {
      return hasAny.get() === undefined;
    },
    revoke(id, revokedAt) {
      return revoke.run(revokedAt, id).changes > 0;
    },
    touch(uses) {
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const [id, usedAt] of uses) touch.run(usedAt, id);
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    getOrCreateHashSecret(candidate) {
      const kept = readHashSecret.get();
      if (kept) return kept['value'] as Uint8Array;
      keepHashSecret.run(candidate);
      return readHashSecret.get()?.['value'] as Uint8Array;
    },
  };
}

/**
 * SQLite would make the file readable to all, and fall back to reading only where it may not write: so the file is
 * made here first (its -wal and -shm take over its mode). An existing file is never opened and closed besides
 * SQLite: that would drop the locks this process holds on it (sqlite.org/howtocorrupt.html, 2.2).
 */
function prepareFile(file: string): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  accessSync(file, constants.R_OK | constants.W_OK);
  accessSync(directory, constants.W_OK);
}

/**
 * While another process writes its first tables, SQLite answers "busy" to this switch at once, whatever its timeout is:
 * so it is tried again here. A file that was switched before only says so.
 */
function switchToWal(database: DatabaseSync): void {
  for (let waitedMs = 0; ; waitedMs += WAL_RETRY_MS) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (waitedMs >= BUSY_TIMEOUT_MS || readSqliteCode(error) !== SQLITE_BUSY) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

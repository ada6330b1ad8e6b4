/**
 * The store in one SQLite file, shared by the processes of one machine (server, workers, CLI). Knows the file and its
 * connections, and puts the parts together.
 */
import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from './ports.ts';
import { createSqliteAudit } from './sqlite-audit.ts';
import { followChanges } from './sqlite-changes.ts';
import { describeFailure, readSqliteCode, SQLITE_BUSY } from './sqlite-failures.ts';
import { createSqliteIdempotency } from './sqlite-idempotency.ts';
import { createSqliteInstances } from './sqlite-instances.ts';
import { createSqliteKeys } from './sqlite-keys.ts';
import { createSqliteLeases } from './sqlite-leases.ts';
import { type Migration, migrate } from './sqlite-migrations.ts';
import { StoreError } from './store-error.ts';

/** How long a write waits for the write of another process, and the calls with it. Reads never wait in WAL mode. */
const BUSY_TIMEOUT_MS = 5000;
/** Of what is tried again anyway. */
const QUICK_BUSY_TIMEOUT_MS = 1000;
const WAL_RETRY_MS = 20;

/** Opens the file, makes it where it is missing, and brings its schema up to date; throws a {@link StoreError}. */
export function openSqliteStore(path: string): Store & { readonly migration: Migration } {
  const file = resolve(path);
  const connections: DatabaseSync[] = [];
  try {
    prepareFile(file);
    // A revocation must outlive a power cut; NORMAL may lose the last commits (sqlite.org/pragma.html#pragma_synchronous).
    const durable = connect(file, connections, { synchronous: 'FULL', busyTimeoutMs: BUSY_TIMEOUT_MS });
    const migration = migrate(durable);
    // Records of calls come all the time, and waiting for the disk would stop the calls. What this connection commits
    // outlives the process, but a power cut may take the last seconds.
    const quick = connect(file, connections, { synchronous: 'NORMAL', busyTimeoutMs: QUICK_BUSY_TIMEOUT_MS });
    return createStore(file, migration, durable, quick);
  } catch (error) {
    for (const connection of connections) connection.close();
    throw new StoreError(`The store ${file} cannot be used: ${describeFailure(error)}`, { cause: error });
  }
}

function createStore(file: string, migration: Migration, durable: DatabaseSync, quick: DatabaseSync) {
  const changes = followChanges(durable);
  const probe = durable.prepare('SELECT 1 FROM migrations');
  return {
    label: `sqlite ${file}`,
    migration,
    keys: createSqliteKeys(durable, changes.look),
    instances: createSqliteInstances(durable, changes.look),
    audit: createSqliteAudit(quick),
    idempotency: createSqliteIdempotency({ durable, quick }, Date.now),
    leases: createSqliteLeases(quick),
    watch: changes.watch,
    get isWatching() {
      return changes.isWatching;
    },
    probe() {
      probe.get();
    },
    close() {
      changes.close();
      for (const connection of [quick, durable]) if (connection.isOpen) connection.close();
    },
  };
}

function connect(
  file: string,
  connections: DatabaseSync[],
  { synchronous, busyTimeoutMs }: { synchronous: 'FULL' | 'NORMAL'; busyTimeoutMs: number },
): DatabaseSync {
  const database = new DatabaseSync(file);
  connections.push(database);
  switchToWal(database);
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA synchronous = ${synchronous}`);
  return database;
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

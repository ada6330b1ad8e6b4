/** Opens the connections to the SQLite file, and migrates its schema. Blocks its thread. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { readSqliteCode, SQLITE_BUSY } from './failures.ts';
import { type Migration, migrate, readVersion } from './migrations.ts';

export interface SqliteConnections {
  /** Commits on this connection survive a power loss. */
  readonly durable: DatabaseSync;
  /** Commits on this connection survive the process. A power loss may take the last seconds. */
  readonly quick: DatabaseSync;
}

export interface SqliteDatabase extends SqliteConnections {
  readonly migration: Migration;
  close(): void;
}

/** Maximum wait for other processes that are opening the file. */
const OPEN_WAIT_MS = 5000;
const WAL_RETRY_MS = 20;

/**
 * Creates the file if it is missing. Operations on the connections never wait for a lock; the scheduler retries them.
 */
export function openDatabase(file: string): SqliteDatabase {
  const connections: DatabaseSync[] = [];
  const close = () => {
    for (const connection of connections) if (connection.isOpen) connection.close();
  };
  try {
    prepareFile(file);
    // A revocation must survive a power loss; NORMAL may lose the last commits
    // (sqlite.org/pragma.html#pragma_synchronous).
    const durable = connect(file, 'FULL', connections);
    const migration = migrate(durable);
    const quick = connect(file, 'NORMAL', connections);
    for (const connection of connections) connection.exec('PRAGMA busy_timeout = 0');
    return { durable, quick, migration, close };
  } catch (error) {
    close();
    throw error;
  }
}

function connect(file: string, synchronous: 'FULL' | 'NORMAL', connections: DatabaseSync[]): DatabaseSync {
  const database = new DatabaseSync(file);
  connections.push(database);
  database.exec(`PRAGMA busy_timeout = ${OPEN_WAIT_MS}; PRAGMA synchronous = ${synchronous}`);
  // Must come before the switch to WAL mode, which changes the file: a file that is refused must stay as it is.
  readVersion(database);
  switchToWal(database);
  return database;
}

/**
 * Switches the file to WAL mode. While another process writes the first tables, SQLite answers "busy" at once, whatever
 * the busy timeout, so the statement is retried here. It has no effect on a file that already is in WAL mode.
 */
function switchToWal(database: DatabaseSync): void {
  for (let waitedMs = 0; ; waitedMs += WAL_RETRY_MS) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (waitedMs >= OPEN_WAIT_MS || readSqliteCode(error) !== SQLITE_BUSY) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

/**
 * Creates the file of the SQLite store and its directory if missing, and refuses unusable ones. Opens no database.
 * SQLite would create the file readable to all, and would open a file without write permission as read-only. The file
 * is therefore created here first; its -wal and -shm get the same mode. An existing file is never opened and closed
 * outside of SQLite: that would drop the locks of this process on it (sqlite.org/howtocorrupt.html, 2.2).
 */
export function prepareFile(file: string): void {
  const directory = dirname(file);
  makeDirectory(directory);
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (readCode(error) !== 'EEXIST') throw error;
  }
  accessSync(file, constants.R_OK | constants.W_OK);
  if (!isFileOrDirectory(statSync(file))) throw new StoreError(NOT_A_FILE);
  accessSync(directory, constants.W_OK);
}

const NOT_A_FILE = 'its path is a device or a pipe, not a file. Set store.url to another place.';

/** A directory passes, because SQLite refuses it. A pipe does not: SQLite would wait for it forever. */
function isFileOrDirectory(found: Stats): boolean {
  return found.isFile() || found.isDirectory();
}

/**
 * Creates the missing directories. The option `recursive` of `mkdirSync` never returns on /proc, which answers ENOENT.
 */
function makeDirectory(directory: string): void {
  const missing: string[] = [];
  for (let path = directory; !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      // Another process has created it in the meantime.
      if (readCode(error) !== 'EEXIST') throw error;
    }
  }
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Opens the connections to the SQLite file, and migrates its schema. Blocks its thread. */
import { DatabaseSync } from 'node:sqlite';
import { readSqliteCode, SQLITE_BUSY } from './failures.ts';
import { prepareFile } from './file.ts';
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

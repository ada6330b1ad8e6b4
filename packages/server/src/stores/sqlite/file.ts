/** Creates the file of the SQLite store and its directory if missing, and refuses unusable ones. Opens no database. */
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
import { StoreError } from '../store-error.ts';

/**
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

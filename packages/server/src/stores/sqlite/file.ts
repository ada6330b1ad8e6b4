/** The file of the SQLite store and its directory: makes what is missing, and tells what may not be used. Opens no database. */
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
 * SQLite would make the file readable to all, and fall back to reading only where it may not write: so the file is
 * made here first (its -wal and -shm take over its mode). An existing file is never opened and closed besides
 * SQLite: that would drop the locks this process holds on it (sqlite.org/howtocorrupt.html, 2.2).
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
  if (!isStorage(statSync(file))) throw new StoreError(NO_FILE);
  accessSync(directory, constants.W_OK);
}

const NO_FILE = 'its path is no file of its own, but a device or a pipe. Set store.url to another place.';

/** SQLite itself refuses a directory. It would wait for a pipe without end. */
function isStorage(found: Stats): boolean {
  return found.isFile() || found.isDirectory();
}

/**
 * Not `mkdirSync(…, { recursive: true })`: where a file system refuses a directory with ENOENT, as /proc does, Node's
 * never returns.
 */
function makeDirectory(directory: string): void {
  const missing: string[] = [];
  for (let path = directory; !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      // Another process has made it in the meantime.
      if (readCode(error) !== 'EEXIST') throw error;
    }
  }
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

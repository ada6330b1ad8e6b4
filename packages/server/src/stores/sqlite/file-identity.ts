/**
 * Checks that the paths of the store still lead to the files that are open. Writes to a file that was moved or deleted
 * are lost after a restart. Without its -wal and -shm files, other processes do not see the writes and locks of this
 * one, and damage the file (sqlite.org/howtocorrupt.html, 2.4).
 */
import { statSync } from 'node:fs';

const GONE =
  'its file was moved or deleted while it is in use. Put it back, or stop the proxy and restore a backup.';
const REPLACED = 'another file has taken its place while it is in use. Restart the proxy to use that file.';
const UNSHARED =
  'its -wal or -shm file was moved or deleted while it is in use. Put it back, or restart the proxy at once: a stop writes the changes into the file.';

interface Identity {
  dev: bigint;
  ino: bigint;
}

/**
 * Must be called when the file is open. Returns a function that gives the reason for operators if the paths lead to
 * other files or to none, and null otherwise.
 */
export function watchFileIdentity(file: string): () => string | null {
  const opened = readIdentity(file);
  const companions = [`${file}-wal`, `${file}-shm`].map((path) => ({ path, opened: readIdentity(path) }));
  return () => {
    const now = readIdentity(file);
    if (now === undefined) return GONE;
    if (!isSame(opened, now)) return REPLACED;
    return companions.every(({ path, opened }) => isSame(opened, readIdentity(path))) ? null : UNSHARED;
  };
}

/** Whether both are the same file. True also if one of the two is not known. */
function isSame(opened: Identity | undefined | null, now: Identity | undefined | null): boolean {
  if (opened === null || opened === undefined || now === null) return true;
  return now?.ino === opened.ino && now.dev === opened.dev;
}

/** The identity of a file. Undefined: there is no file. Null: it cannot be determined. */
function readIdentity(file: string): Identity | undefined | null {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
}

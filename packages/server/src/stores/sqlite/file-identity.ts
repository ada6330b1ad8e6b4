/**
 * Checks that the path of the store still leads to the file that is open. Writes to a file that was moved or deleted
 * are lost after a restart.
 */
import { statSync } from 'node:fs';

const GONE =
  'its file was moved or deleted while it is in use. Put it back, or stop the proxy and restore a backup.';
const REPLACED = 'another file has taken its place while it is in use. Restart the proxy to use that file.';

/** Returns a function that gives the reason for operators if another file, or none, is at the path; null otherwise. */
export function watchFileIdentity(file: string): () => string | null {
  const opened = readIdentity(file);
  return () => {
    const now = readIdentity(file);
    if (now === undefined) return GONE;
    const isSame = now === null || opened === null || (now.ino === opened?.ino && now.dev === opened.dev);
    return isSame ? null : REPLACED;
  };
}

/** Undefined: there is no file. Null: it cannot be determined. */
function readIdentity(file: string): { dev: bigint; ino: bigint } | undefined | null {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
}

/**
 * Whether the path of the store still leads to the file that is open. What is written to a file that was moved or deleted
 * is gone after a restart.
 */
import { statSync } from 'node:fs';

const GONE =
  'its file was moved or deleted while it is in use. Put it back, or stop the proxy and restore a backup.';
const REPLACED = 'another file has taken its place while it is in use. Restart the proxy to use that file.';

/** Gives a function that tells what is wrong, for the operator; null: nothing, as far as can be seen. */
export function watchPlace(file: string): () => string | null {
  const opened = look(file);
  return () => {
    const now = look(file);
    if (now === undefined) return GONE;
    const isSame = now === null || opened === null || (now.ino === opened?.ino && now.dev === opened.dev);
    return isSame ? null : REPLACED;
  };
}

/** Undefined: there is no file. Null: that cannot be found out. */
function look(file: string): { dev: bigint; ino: bigint } | undefined | null {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
}

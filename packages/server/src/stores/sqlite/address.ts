/** Reads a `sqlite:` URL. Touches no file. */
import { StoreError } from '../store-error.ts';

/** Path of the file, absolute or relative to the working directory. Throws a {@link StoreError}. */
export function readSqlitePath(url: string): string {
  const path = findSqlitePath(url);
  if (path !== null) return path;
  throw new StoreError(
    'store.url names no file: write sqlite:./data/erp-proxy.db for a path below the working directory, ' +
      'sqlite:/srv/erp-proxy.db for an absolute path, or memory: to store nothing.',
  );
}

/** Path of the file as `readSqlitePath`; null if the URL names no file. */
export function findSqlitePath(url: string): string | null {
  const rest = url.slice('sqlite:'.length);
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  // `sqlite://data/x.db` names a host to a URL parser and an absolute path to a file system: neither is meant.
  const isFile = path !== '' && !path.startsWith('//') && !path.startsWith(':') && !path.includes('\0');
  return isFile ? path : null;
}

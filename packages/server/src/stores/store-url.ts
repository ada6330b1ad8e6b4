/** Reads `store.url`. An address may hold a password, so a refusal names its scheme only. */
import { StoreError } from './store-error.ts';

type StoreAddress = { kind: 'memory' } | { kind: 'sqlite'; path: string } | { kind: 'postgres' };

export function readStoreUrl(url: string): StoreAddress {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  const rest = url.slice(scheme?.length ?? 0);
  if (scheme === 'memory:' && rest === '') return { kind: 'memory' };
  if (scheme === 'sqlite:') return { kind: 'sqlite', path: readPath(rest) };
  if (scheme === 'postgres:' || scheme === 'postgresql:') return { kind: 'postgres' };
  throw new StoreError(
    `store.url ${scheme ? `has the scheme "${scheme}", which no store here takes` : 'has no scheme'}: ` +
      'use "sqlite:" and the path of a file, as in sqlite:./data/erp-proxy.db, ' +
      '"postgres://<user>@<host>/<database>", or "memory:" to keep nothing.',
  );
}

function readPath(rest: string): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  // `sqlite://data/x.db` names a host in a URL and an absolute path to a file system; it was meant as neither.
  if (path === '' || path.startsWith('//') || path.startsWith(':') || path.includes('\0')) {
    throw new StoreError(
      'store.url names no file: write sqlite:./data/erp-proxy.db for a path below the working directory, ' +
        'sqlite:/srv/erp-proxy.db for an absolute one, or memory: to keep nothing.',
    );
  }
  return path;
}

/**
 * The table of store engines: how `store.url` selects one, and how it is opened. A new engine needs its folder, with
 * its test, and a row here. An engine is loaded only if it is used.
 */
import type { FoundStore, OpenedStore } from './ports/store.ts';
import { StoreError } from './store-error.ts';
import type { StoreTables } from './tables.ts';

export interface StoreEngine {
  /** URLs that select this engine. The engine itself checks the rest of the URL. */
  readonly url: RegExp;
  /** Values that the setting `store.url` accepts. */
  readonly setting: RegExp;
  /** How the setting is written. */
  readonly form: string;
  readonly example: string;
  /** A sentence for the documentation of the setting. */
  readonly description: string;
  /** Path of the database file; null: the engine uses no file, or the URL names none. */
  findFile(url: string): string | null;
  /** Rejects with a {@link StoreError}. */
  open(url: string): Promise<OpenedStore>;
  /** Checks whether the store exists, and does not create it. Rejects with a {@link StoreError}. */
  lookFor(url: string): Promise<FoundStore>;
  /**
   * Opens an existing store as tables, to copy it. Null: the engine keeps nothing on disk. Rejects with a {@link
   * StoreError}.
   */
  openTables: ((url: string, mode: 'read' | 'write') => Promise<StoreTables>) | null;
}

export const STORE_ENGINES: readonly StoreEngine[] = [
  {
    url: /^sqlite:/i,
    setting: /^sqlite:.+$/,
    form: 'sqlite:<path of a file>',
    example: 'sqlite:./data/erp-proxy.db',
    description: '`sqlite:` takes the path of a file, which is created if missing.',
    findFile: findSqlitePath,
    open: async (url) => (await import('./sqlite/store.ts')).openSqliteStore(readSqlitePath(url)),
    lookFor: async (url) => (await import('./sqlite/store.ts')).lookForSqliteStore(readSqlitePath(url)),
    openTables: async (url, mode) =>
      (await import('./sqlite/store.ts')).openTablesOfSqliteStore(readSqlitePath(url), mode),
  },
  {
    url: /^postgres(ql)?:/i,
    setting: /^postgres(ql)?:\/\/.+$/,
    form: 'postgres://<user>@<host>/<database>',
    example: 'postgres://<user>@<host>/<database>',
    description: '`postgres://` serves several machines.',
    findFile: () => null,
    open: async (url) => (await import('./postgres/store.ts')).openPostgresStore(url),
    lookFor: async (url) => (await import('./postgres/store.ts')).lookForPostgresStore(url),
    openTables: async (url, mode) =>
      (await import('./postgres/store.ts')).openTablesOfPostgresStore(url, mode),
  },
  {
    url: /^memory:$/i,
    setting: /^memory:$/,
    form: 'memory:',
    example: 'memory:',
    description: '`memory:` loses everything at exit.',
    findFile: () => null,
    open: async () => (await import('./sqlite/memory.ts')).openMemoryStore(),
    lookFor: async () => (await import('./sqlite/memory.ts')).lookForMemoryStore(),
    openTables: null,
  },
];

/** Throws a {@link StoreError} that names the scheme only: the URL may contain a password. */
export function findEngine(url: string): StoreEngine {
  const engine = STORE_ENGINES.find((one) => one.url.test(url));
  if (engine !== undefined) return engine;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  const fault = scheme ? `has the scheme "${scheme}", which no store takes` : 'has no scheme';
  throw new StoreError(
    `store.url ${fault}: use ${joinAlternatives(STORE_ENGINES.map(({ example }) => example))}.`,
  );
}

/** `a, b or c` */
export function joinAlternatives(texts: readonly string[]): string {
  return `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

/** Path of the file of a `sqlite:` URL, absolute or relative to the working directory. Throws a {@link StoreError}. */
function readSqlitePath(url: string): string {
  const path = findSqlitePath(url);
  if (path !== null) return path;
  throw new StoreError(
    'store.url names no file: write sqlite:./data/erp-proxy.db for a path below the working directory, ' +
      'sqlite:/srv/erp-proxy.db for an absolute path, or memory: to store nothing.',
  );
}

/** Path of the file as `readSqlitePath`; null if the URL names no file. */
function findSqlitePath(url: string): string | null {
  const rest = url.slice('sqlite:'.length);
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  // `sqlite://data/x.db` names a host to a URL parser and an absolute path to a file system: neither is meant.
  const isFile = path !== '' && !path.startsWith('//') && !path.startsWith(':') && !path.includes('\0');
  return isFile ? path : null;
}

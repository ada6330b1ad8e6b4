/**
 * The table of store engines: how `store.url` selects one, and how it is opened. A new engine needs its folder, with
 * its test, and a row here. An engine is loaded only if it is used.
 */
import type { FoundStore, OpenedStore } from './ports/store.ts';
import { findSqlitePath, readSqlitePath } from './sqlite/address.ts';
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

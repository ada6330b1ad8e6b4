/**
 * The store in one SQLite file, which the processes of one machine share (server, workers, CLI). A separate thread has
 * the file open. The parts of the store, in this thread, send their operations to it.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FoundStore, OpenedStore } from '../ports/store.ts';
import { StoreError } from '../store-error.ts';
import type { StoreTables } from '../tables.ts';
import { createParts } from './operations.ts';
import { openSqliteTables } from './tables.ts';
import { labelFile, SqliteThread } from './thread.ts';

/** Opens the file, creates it if it is missing, and migrates its schema. Rejects with a {@link StoreError}. */
export async function openSqliteStore(path: string): Promise<OpenedStore> {
  const thread = new SqliteThread(resolve(path));
  const migration = await thread.open();
  const { store, ...parts } = createParts((part, method, args) => thread.request(part, method, args));
  return {
    label: thread.label,
    migration,
    ...parts,
    watch: (listener) => thread.watch(listener),
    get isWatching() {
      return thread.isWatching;
    },
    get trouble() {
      return thread.trouble;
    },
    probe: store.probe,
    close: () => thread.close(),
  };
}

/** Checks whether the file exists. A file without read permission counts as a store: opening it gives the reason. */
export function lookForSqliteStore(path: string): FoundStore {
  const file = resolve(path);
  return { label: labelFile(file), exists: hasContent(file) };
}

/** Opens the file as tables. Blocks this thread, so only commands may call it. Throws a {@link StoreError}. */
export function openTablesOfSqliteStore(path: string, mode: 'read' | 'write'): StoreTables {
  const file = resolve(path);
  return openSqliteTables(file, labelFile(file), mode);
}

function hasContent(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch {
    return true;
  }
}

/**
 * The store in one SQLite file, shared by the processes of one machine (server, workers, CLI). A thread of its own has
 * the file; here are the parts that ask it.
 */
import { resolve } from 'node:path';
import type { OpenedStore } from '../open.ts';
import { OPERATIONS, type PartName, type Parts } from './operations.ts';
import { SqliteThread } from './thread.ts';

/** Opens the file, makes it where it is missing, and brings its schema up to date; rejects with a {@link StoreError}. */
export async function openSqliteStore(path: string): Promise<OpenedStore> {
  const thread = new SqliteThread(resolve(path));
  const migration = await thread.open();
  const { probe } = createPart(thread, 'store');
  return {
    label: thread.label,
    migration,
    keys: createPart(thread, 'keys'),
    instances: createPart(thread, 'instances'),
    audit: createPart(thread, 'audit'),
    idempotency: createPart(thread, 'idempotency'),
    leases: createPart(thread, 'leases'),
    watch: (listener) => thread.watch(listener),
    get isWatching() {
      return thread.isWatching;
    },
    get trouble() {
      return thread.trouble;
    },
    probe,
    close: () => thread.close(),
  };
}

function createPart<Part extends PartName>(thread: SqliteThread, part: Part): Parts[Part] {
  const methods = Object.keys(OPERATIONS[part]).map((method) => [
    method,
    (...args: readonly unknown[]) => thread.ask(part, method, args),
  ]);
  return Object.fromEntries(methods) as Parts[Part];
}

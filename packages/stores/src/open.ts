/** Opens the store that `store.url` names, or checks whether it exists. */
import { findEngine } from './engines.ts';
import type { FoundStore, OpenedStore } from './ports/store.ts';

/** Creates the store if it is missing, and migrates its schema. Rejects with a `StoreError`. */
export async function openStore(url: string): Promise<OpenedStore> {
  return await findEngine(url).open(url);
}

/** The upgrade that opening the store has made, for operators; null: none. */
export function findUpgrade({ label, migration }: OpenedStore) {
  if (migration === undefined || migration.from === 0 || migration.from === migration.to) return null;
  return { store: label, ...migration, advice: 'Earlier versions of erp-proxy do not start on it.' };
}

/** Checks whether the store exists, and does not create it. Rejects with a `StoreError`. */
export async function lookForStore(url: string): Promise<FoundStore> {
  return await findEngine(url).lookFor(url);
}

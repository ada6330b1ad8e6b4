/** From `store.url` to a store. With look-for-store.ts it alone knows which stores there are. */
import { openMemoryStore } from './memory/store.ts';
import type { Store } from './ports.ts';
import { openSqliteStore } from './sqlite/store.ts';
import { readStoreUrl } from './store-url.ts';

export interface OpenedStore extends Store {
  /** Which version of the schema was found, and which it has now. Left out: it has no versions. */
  readonly migration?: { readonly from: number; readonly to: number };
}

export async function openStore(url: string): Promise<OpenedStore> {
  const address = readStoreUrl(url);
  if (address.kind === 'memory') return openMemoryStore();
  if (address.kind === 'sqlite') return openSqliteStore(address.path);
  // The driver is loaded by those who use it: the others start sooner.
  const { openPostgresStore } = await import('./postgres/store.ts');
  return await openPostgresStore(url);
}

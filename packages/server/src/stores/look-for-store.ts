/** Looks whether a store is there already, and makes none. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readStoreUrl } from './store-url.ts';

export interface FoundStore {
  /** The store as messages name it, without a password. */
  label: string;
  exists: boolean;
}

export async function lookForStore(url: string): Promise<FoundStore> {
  const address = readStoreUrl(url);
  if (address.kind === 'memory') return { label: 'memory', exists: true };
  if (address.kind === 'sqlite') {
    const file = resolve(address.path);
    return { label: `sqlite ${file}`, exists: hasContent(file) };
  }
  const { lookForPostgresStore } = await import('./postgres/store.ts');
  return lookForPostgresStore(url);
}

/** A file that this process may not look at counts as one: whoever opens it says why that fails. */
function hasContent(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch {
    return true;
  }
}

/**
 * Creates the first client key if the store has none, and prints it on a terminal. Without a terminal, output is
 * usually logged and visible to others, so no key is created, and the log says how to create one. Resolves to true if a
 * key was created.
 */
import { hostname } from 'node:os';
import type { App } from '../app/app.ts';

export interface FirstKeyOptions {
  print: (text: string) => unknown;
  /** True if the output goes to a terminal. */
  isTerminal: boolean;
  /** True in the one process, of several workers, that prints such messages. */
  isSpeaker: boolean;
}

export async function introduceFirstKey(
  app: App,
  { print, isTerminal, isSpeaker }: FirstKeyOptions,
): Promise<boolean> {
  if (!(await app.keys.isEmpty())) return false;
  if (!isTerminal) {
    if (isSpeaker) app.logger.warn('no client key', { advice: adviseNewKey(app.store.label) });
    return false;
  }
  const key = await makeFirstKey(app);
  if (key === null) return false;
  print(`The first client key, shown this once. Send it in the header x-proxy-api:\n\n  ${key}\n\n`);
  return true;
}

const LEASE_MS = 10_000;

/** Creates the first key. If several processes find the store empty, only one creates it. */
async function makeFirstKey({ keys, store: { leases } }: App): Promise<string | null> {
  if (!(await leases.acquire('first key', `${hostname()} ${process.pid}`, LEASE_MS))) return null;
  // Another process may have held the lease and created the key since the first check.
  if (!(await keys.isEmpty())) return null;
  return (await keys.create({ name: 'first key' })).key;
}

function adviseNewKey(store: string): string {
  if (store === 'memory') return 'Keys are in memory: make one with POST /admin/v1/keys (admin.token).';
  // Names the store's file: in another folder, without the settings of a service, the command would create a store of
  // its own.
  const file = /^sqlite (.+)$/.exec(store)?.[1];
  const where = file === undefined ? 'where the store is reached' : `with \`--store.url sqlite:${file}\``;
  return `Make one with \`erp-proxy keys create --name <who will use it>\` ${where}; in a container: \`docker exec <container> erp-proxy keys create --name <who will use it>\`.`;
}

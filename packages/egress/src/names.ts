/**
 * Resolves host names and keeps the addresses for a short time. It checks no address: every connection checks its
 * address again, kept or not.
 */
import { lookup } from 'node:dns/promises';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { SingleFlightCache } from '@erp-proxy/async/tasks';

/** All addresses of a name. If it has none, rejects or gives an empty list. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export type LookUpName = (name: string) => readonly string[] | Promise<readonly string[]>;

/** Short, so that a moved server is found soon: getaddrinfo does not report the TTL of the record. */
const KEPT_MS = 5_000;
const NAMES_MAX = 1_000;

/** `nowMs` is a monotonic clock in milliseconds. Concurrent lookups of one name share one query. */
export function cacheNames(resolve: ResolveName, nowMs: () => number): LookUpName {
  const answers = new SingleFlightCache<readonly string[]>(NAMES_MAX, nowMs);
  return (name) =>
    answers.get(name, async () => {
      const value = await resolve(name);
      return { value, ttlMs: value.length > 0 ? KEPT_MS : 0 };
    });
}

/**
 * The system's resolver, which uses the hosts file and the search domains like other programs on the machine. Rejects
 * with `EMFILE` or `ENFILE` if it lacks file descriptors: the system then says that the name does not exist.
 */
export async function resolveBySystem(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true, order: 'verbatim' })).map((answer) => answer.address);
  } catch (error) {
    const file = await open(devNull);
    await file.close();
    throw error;
  }
}

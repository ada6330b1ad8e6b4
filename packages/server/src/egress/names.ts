/**
 * Resolves host names, and remembers the answers for a short time. It judges nothing: whoever connects judges every
 * address again, remembered or not.
 */
import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';

/** All addresses of a name; rejects or gives none if it has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export type LookUpName = (name: string) => readonly string[] | Promise<readonly string[]>;

/** Short enough that a moved server is found soon; getaddrinfo does not tell the record's own time to live. */
const REMEMBERED_MS = 5_000;
const NAMES_MAX = 1_000;

/** `nowMs` is a clock that never goes back. Calls for one name at one time share one question. */
export function rememberNames(resolve: ResolveName, nowMs: () => number): LookUpName {
  const answers = new LRUCache<string, { addresses: readonly string[]; endMs: number }>({ max: NAMES_MAX });
  const asked = new Map<string, Promise<readonly string[]>>();

  async function ask(name: string): Promise<readonly string[]> {
    try {
      const addresses = await resolve(name);
      if (addresses.length > 0) answers.set(name, { addresses, endMs: nowMs() + REMEMBERED_MS });
      return addresses;
    } finally {
      asked.delete(name);
    }
  }

  return (name) => {
    const known = answers.get(name);
    if (known !== undefined && nowMs() < known.endMs) return known.addresses;
    const pending = asked.get(name) ?? ask(name);
    asked.set(name, pending);
    return pending;
  };
}

/** The system's resolver: it knows the hosts file and the search domains, as every other program on the machine. */
export async function resolveBySystem(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true, order: 'verbatim' })).map((answer) => answer.address);
}

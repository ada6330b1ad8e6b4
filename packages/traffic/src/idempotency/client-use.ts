/**
 * Counts the keys and answer bytes of each client in the store, and enforces its limits. The totals are read from the
 * store once a minute; this process counts what it adds in between. A limit therefore costs a call almost nothing.
 * Several processes can exceed it by what each adds in a minute.
 */

import { atMost } from '@erp-proxy/async/tasks';
import type { IdempotencyStore, IdempotencyUse } from '@erp-proxy/stores/ports';
import { LRUCache } from 'lru-cache';

/** Maximum amounts that one client key can have in the store. */
export interface ClientBounds {
  keysMax: number;
  answerBytesMax: number;
}

const TOTALS_MS = 60_000;
/** Number of clients whose totals are cached. With more clients, a call may have to read the totals again. */
const CLIENTS_MAX = 10_000;

export class ClientUse {
  readonly #bounds: ClientBounds;
  readonly #totals: LRUCache<string, IdempotencyUse>;

  constructor(store: Pick<IdempotencyStore, 'measure'>, bounds: ClientBounds, nowMs: () => number) {
    this.#bounds = bounds;
    this.#totals = new LRUCache<string, IdempotencyUse>({
      ...atMost(CLIENTS_MAX),
      ttl: TOTALS_MS,
      perf: { now: nowMs },
      ttlResolution: 0,
      fetchMethod: async (client) => ({ ...(await store.measure(client)) }),
    });
  }

  /** False, and nothing is counted, if the limit is reached. Rejects if the store fails, as does `addBytes`. */
  async addKey(client: string): Promise<boolean> {
    const use = await this.#totals.forceFetch(client);
    if (use.keys >= this.#bounds.keysMax) return false;
    use.keys++;
    return true;
  }

  removeKey(client: string): void {
    const use = this.#totals.get(client);
    if (use !== undefined) use.keys--;
  }

  async addBytes(client: string, bytes: number): Promise<boolean> {
    const use = await this.#totals.forceFetch(client);
    if (use.answerBytes + bytes > this.#bounds.answerBytesMax) return false;
    use.answerBytes += bytes;
    return true;
  }
}

/**
 * How much each client key has in the store, against its bounds. The store is asked once a minute, and what this process
 * adds is counted in between: so a bound costs a call next to nothing, and several processes can go beyond it by what each
 * adds in a minute. Knows nothing of what is kept.
 */
import { LRUCache } from 'lru-cache';
import type { IdempotencyStore, IdempotencyUse } from '../stores/ports.ts';

/** What one client key may have in the store. */
export interface ClientBounds {
  keysMax: number;
  answerBytesMax: number;
}

const KNOWN_MS = 60_000;
/** A client beyond costs the store one more question a call. */
const KNOWN_CLIENTS_MAX = 10_000;

export class ClientUse {
  readonly #bounds: ClientBounds;
  readonly #known: LRUCache<string, IdempotencyUse>;

  constructor(store: Pick<IdempotencyStore, 'measure'>, bounds: ClientBounds, nowMs: () => number) {
    this.#bounds = bounds;
    this.#known = new LRUCache<string, IdempotencyUse>({
      max: KNOWN_CLIENTS_MAX,
      ttl: KNOWN_MS,
      perf: { now: nowMs },
      ttlResolution: 0,
      fetchMethod: async (client) => ({ ...(await store.measure(client)) }),
    });
  }

  /** False, and nothing taken, where there is no room. Rejects where the store fails; so does `takeBytes`. */
  async takeKey(client: string): Promise<boolean> {
    const use = await this.#known.forceFetch(client);
    if (use.keys >= this.#bounds.keysMax) return false;
    use.keys++;
    return true;
  }

  giveKey(client: string): void {
    const use = this.#known.get(client);
    if (use !== undefined) use.keys--;
  }

  async takeBytes(client: string, bytes: number): Promise<boolean> {
    const use = await this.#known.forceFetch(client);
    if (use.answerBytes + bytes > this.#bounds.answerBytesMax) return false;
    use.answerBytes += bytes;
    return true;
  }
}

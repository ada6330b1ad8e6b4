/**
 * Retries the release of claims that could not be released because the store failed, every second until it succeeds.
 * Without the release, a call that was never sent would count as one that may have run.
 */
import type { IdempotencyStore } from '@erp-proxy/stores/ports';

const INTERVAL_MS = 1000;
/** Maximum number of pending releases. Further claims stay. */
const PENDING_MAX = 10_000;

export class PendingReleases {
  readonly #store: Pick<IdempotencyStore, 'release'>;
  /** The claimed id of each attempt. */
  readonly #pending = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(store: Pick<IdempotencyStore, 'release'>) {
    this.#store = store;
  }

  add(id: string, attempt: string): void {
    if (this.#pending.size >= PENDING_MAX) return;
    this.#pending.set(attempt, id);
    this.#timer ??= setInterval(() => this.#start(), INTERVAL_MS).unref();
  }

  /** Stops the retries, and resolves when no release is running. The remaining claims stay. */
  async close(): Promise<void> {
    this.#pending.clear();
    this.#stop();
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#release().finally(() => {
      this.#running = null;
    });
  }

  async #release(): Promise<void> {
    for (const [attempt, id] of this.#pending) {
      this.#pending.delete(attempt);
      try {
        await this.#store.release(id, attempt);
      } catch {
        // The failure was reported when the release was added. The next round begins with the other claims: the store
        // may be down, or refuse only this one.
        this.#pending.set(attempt, id);
        return;
      }
    }
    this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/**
 * Claims that could not be released because the store failed. Their release is retried every second until the store
 * answers. Without it, a call that was never sent would count as one that may have run.
 */
import type { IdempotencyStore } from '../stores/ports.ts';

const INTERVAL_MS = 1000;
/** Claims beyond this number stay. */
const PENDING_MAX = 10_000;

export class PendingReleases {
  readonly #store: Pick<IdempotencyStore, 'release'>;
  /** Attempt to the id that it claimed. */
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

  /** Resolves when no release is running. The remaining claims stay. */
  async close(): Promise<void> {
    this.#pending.clear();
    this.#stop();
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#release()
      // The failure was reported when the release was added.
      .catch(() => {})
      .finally(() => {
        this.#running = null;
      });
  }

  async #release(): Promise<void> {
    for (const [attempt, id] of this.#pending) {
      await this.#store.release(id, attempt);
      this.#pending.delete(attempt);
    }
    this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

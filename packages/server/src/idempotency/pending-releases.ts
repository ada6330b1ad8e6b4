/**
 * Claims that are to be taken back from a store that failed: tried again each second until it answers. Left alone, a call
 * that was never sent would be taken for one that may have been.
 */
import type { IdempotencyStore } from '../stores/ports.ts';

const INTERVAL_MS = 1000;
/** What is beyond stays taken. */
const PENDING_MAX = 10_000;

export class PendingReleases {
  readonly #store: Pick<IdempotencyStore, 'release'>;
  /** By attempt, the id that it has. */
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

  /** Resolves when nothing is being taken back any more; what is still releases stays taken. */
  async close(): Promise<void> {
    this.#pending.clear();
    this.#stop();
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#release()
      // Who owes has said so already.
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

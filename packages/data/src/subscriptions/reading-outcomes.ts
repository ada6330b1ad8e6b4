/**
 * Writes the time and the problem of readings that have stored no change. Many readings are written in one statement,
 * so that readings without changes cost next to nothing.
 */
import type { ReadingOutcome, SubscriptionStore } from '@erp-proxy/stores/ports';

export interface ReadingOutcomesOptions {
  store: Pick<SubscriptionStore, 'saveReadingOutcomes'>;
  /** Identifies this process. */
  owner: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Receives failures of writes that no caller awaits. */
  onError: (error: unknown) => void;
}

const WRITE_INTERVAL_MS = 5000;

export class ReadingOutcomes {
  readonly #options: ReadingOutcomesOptions;
  /** The entries to write, by the id of the subscription. */
  readonly #waiting = new Map<string, ReadingOutcome>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReadingOutcomesOptions) {
    this.#options = options;
  }

  /** Records that the subscription was read. `problem` null: without a problem. */
  add(id: string, problem: string | null): void {
    const { clock, onError } = this.#options;
    this.#waiting.set(id, { id, problem, at: clock() });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.write().catch(onError);
    }, WRITE_INTERVAL_MS).unref();
  }

  /** Drops the entry of a subscription, because the store has a newer state. */
  drop(id: string): void {
    this.#waiting.delete(id);
  }

  /** Writes all waiting entries. */
  async write(): Promise<void> {
    const { store, owner } = this.#options;
    const outcomes = [...this.#waiting.values()];
    this.#waiting.clear();
    if (outcomes.length > 0) await store.saveReadingOutcomes(owner, outcomes);
  }

  /** Writes the waiting entries. `add` must not be called after it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.write().catch(this.#options.onError);
  }
}

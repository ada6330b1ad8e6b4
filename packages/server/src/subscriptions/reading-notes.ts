/**
 * Writes the notes of readings that have stored nothing else: when a subscription was read, and its problem. They are
 * written together, so that readings without changes cost next to nothing.
 */
import type { ReadingNote, SubscriptionStore } from '../stores/ports/subscriptions.ts';

export interface ReadingNotesOptions {
  store: Pick<SubscriptionStore, 'noteReadings'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Receives failures of writes that nobody waits for. */
  onError: (error: unknown) => void;
}

const WRITE_INTERVAL_MS = 5000;

export class ReadingNotes {
  readonly #options: ReadingNotesOptions;
  /** Notes to write, by the id of the subscription. */
  readonly #waiting = new Map<string, ReadingNote>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReadingNotesOptions) {
    this.#options = options;
  }

  /** The subscription was read. `problem` null: it could be. */
  add(id: string, problem: string | null): void {
    const { clock, onError } = this.#options;
    this.#waiting.set(id, { id, problem, at: clock() });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.write().catch(onError);
    }, WRITE_INTERVAL_MS).unref();
  }

  /** Drops the note of a subscription, because the store has newer facts. */
  drop(id: string): void {
    this.#waiting.delete(id);
  }

  /** Writes what waits now. */
  async write(): Promise<void> {
    const notes = [...this.#waiting.values()];
    this.#waiting.clear();
    if (notes.length > 0) await this.#options.store.noteReadings(notes);
  }

  /** Writes what waits. Nothing may be added after it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.write().catch(this.#options.onError);
  }
}

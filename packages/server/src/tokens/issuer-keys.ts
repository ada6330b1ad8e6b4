/**
 * The keys of one issuer in memory. They are read again at intervals, and when a token names a key that is not known.
 * While the issuer cannot be reached, the last keys stay usable for a limited time. Does not know what a token is.
 */
import type { KeySet } from './key-set.ts';

/** Keys of this age are read again in the background. */
const REFRESH_MS = 600_000;
/**
 * Keys of this age are not used before they are read again, unless the issuer cannot be reached: nobody used them for a
 * while. A key that the issuer has withdrawn stays accepted for this time at most.
 */
const UNREAD_MS = 2 * REFRESH_MS;
/** Longer than most outages of a provider, and short enough for withdrawn keys to be refused on the same day. */
const STALE_MS = 4 * 3_600_000;
/** Callers can make up names of keys: the issuer is asked once in this time at most. */
const COOL_DOWN_MS = 10_000;

export interface IssuerKeysOptions {
  /** Reads the keys. Rejects if they cannot be read. */
  fetch: () => Promise<KeySet>;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
  onFailure: (error: unknown) => void;
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keys: KeySet | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failure: string | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The usable keys; null if there are none. Old ones are read again in the background. */
  get current(): KeySet | null {
    const age = this.#options.nowMs() - this.#readAt;
    if (age >= REFRESH_MS) void this.refresh();
    return age < STALE_MS ? this.#keys : null;
  }

  /** Why the keys could not be read the last time; null if they could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Reads keys that are too old to be used. Undefined if there is nothing to wait for. Never rejects. */
  prepare(): Promise<void> | undefined {
    const age = this.#options.nowMs() - this.#readAt;
    // During an outage no caller waits while old keys are usable.
    const isTooOld = age >= STALE_MS || (age >= UNREAD_MS && this.#failure === null);
    return isTooOld ? this.refresh() : undefined;
  }

  /**
   * Reads the keys again, unless this was tried a moment ago. Simultaneous callers share one reading. Never rejects:
   * afterwards `current` has what there is.
   */
  refresh(): Promise<void> {
    if (this.#reading !== null) return this.#reading;
    const now = this.#options.nowMs();
    if (now - this.#triedAt < COOL_DOWN_MS) return Promise.resolve();
    this.#triedAt = now;
    this.#reading = this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const keys = await this.#options.fetch();
      this.#keys = keys;
      this.#readAt = this.#options.nowMs();
      this.#failure = null;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#options.onFailure(error);
    }
  }
}

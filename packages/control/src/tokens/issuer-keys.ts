/**
 * The keys of one issuer in memory. They are read again at intervals, and when a token names an unknown key. While the
 * issuer cannot be reached, the last keys stay usable for a limited time. Does not know what a token is.
 */
import type { KeySet } from './key-set.ts';

/** Age from which keys are read again in the background. */
const REFRESH_MS = 600_000;
/**
 * Age from which keys must be read again before use, unless the issuer cannot be reached. Keys get so old only if no
 * token came for a while. A key that the issuer has withdrawn is accepted for this time at most.
 */
const UNREAD_MS = 2 * REFRESH_MS;
/**
 * Maximum age of usable keys: longer than most outages of a provider, and short enough that withdrawn keys are refused
 * on the same day.
 */
const STALE_MS = 4 * 3_600_000;
/** Minimum time between two requests to the issuer, because callers can make up names of keys. */
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

  /** The usable keys; null if there are none. Old keys are read again in the background. */
  get current(): KeySet | null {
    const age = this.#options.nowMs() - this.#readAt;
    if (age >= REFRESH_MS) void this.refresh();
    return age < STALE_MS ? this.#keys : null;
  }

  /** Reason why the keys could not be read the last time; null if they could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Reads the keys again if they are too old for use. Undefined if there is nothing to wait for. Never rejects. */
  prepare(): Promise<void> | undefined {
    const age = this.#options.nowMs() - this.#readAt;
    // During an outage, no caller waits while old keys are usable.
    const isTooOld = age >= STALE_MS || (age >= UNREAD_MS && this.#failure === null);
    return isTooOld ? this.refresh() : undefined;
  }

  /**
   * Reads the keys again, unless they were read a moment ago. Simultaneous callers share one request. Never rejects:
   * `current` then has the newest keys that could be read.
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

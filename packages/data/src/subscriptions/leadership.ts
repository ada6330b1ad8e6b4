/**
 * Of all processes that share the store, one reads changes and sends deliveries: the one with the lease. The monotonic
 * clock tells whether it has the lease, so that a process that was stopped for a while knows at once.
 */
import type { LeaseStore } from '@erp-proxy/stores/ports';

export interface LeadershipOptions {
  leases: LeaseStore;
  /** Identifies this process. */
  owner: string;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  ttlMs: number;
  onChange: () => void;
  onError: (error: unknown) => void;
}

const LEASE = 'subscriptions';
/** Fraction of the duration of the lease after which it is acquired again. */
const RENEWAL = 1 / 3;
/** Fraction of the duration of the lease that is kept as a margin for differences between clocks. */
const MARGIN = 1 / 10;
/** Tolerance for the end of a lease. A lease that ends later was acquired before the clock was set back. */
const LATE_MS_MAX = 1000;

export class Leadership {
  readonly #options: LeadershipOptions;
  #untilMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isClosed = false;
  #wasHeld = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#options.nowMs() < this.#untilMs;
  }

  /** The end of the lease by the monotonic clock, unless it is acquired again. */
  get untilMs(): number {
    return this.#untilMs;
  }

  start(): void {
    this.#running ??= this.#acquire().finally(() => {
      this.#running = null;
    });
  }

  /** Releases the lease, so that another process gets it at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    const { leases, owner, onError } = this.#options;
    if (this.#untilMs === Number.NEGATIVE_INFINITY) return;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    await (async () => leases.release(LEASE, owner))().catch(onError);
  }

  async #acquire(): Promise<void> {
    const { leases, owner, nowMs, ttlMs, onChange, onError } = this.#options;
    // The lease begins later than this moment, in the store.
    const startedMs = nowMs();
    try {
      // The limit is for a process that died before the clock was set back: it must not keep the lease that long.
      if (await leases.acquire(LEASE, owner, ttlMs, ttlMs + LATE_MS_MAX)) {
        // If the lease was lost in between, for example because this process was stopped, its work has ended and must
        // begin again.
        if (!this.isHeld) this.#wasHeld = false;
        this.#untilMs = startedMs + ttlMs * (1 - MARGIN);
      }
      // Another process has the lease, perhaps after a clock was set back.
      else this.#untilMs = Number.NEGATIVE_INFINITY;
    } catch (error) {
      onError(error);
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.start(), ttlMs * RENEWAL).unref();
    const { isHeld } = this;
    if (isHeld === this.#wasHeld) return;
    this.#wasHeld = isHeld;
    onChange();
  }
}

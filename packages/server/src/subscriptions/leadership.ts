/**
 * One process of all that share the store works the subscriptions: the one with the lease. Whether it has the lease is
 * told by the monotonic clock, so that a process that was stopped for a while knows it at once when it continues.
 */
import type { LeaseStore } from '../stores/ports/leases.ts';

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
/** Part of the time of the lease after which it is acquired again. */
const RENEWAL = 1 / 3;
/** Part of the time of the lease that is left to differences between clocks. */
const MARGIN = 1 / 10;
/** How much later than its time a lease may end. One that ends later is from before the clock was set back. */
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

  /** Gives the lease up, so that another process has it at once. */
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
    // The time of the lease begins in the store, after this.
    const startedMs = nowMs();
    try {
      // A process that died before the clock was set back must not keep the lease for that long.
      if (await leases.acquire(LEASE, owner, ttlMs, ttlMs + LATE_MS_MAX)) {
        // It was lost in between, for example because this process was stopped. Work that saw that has ended.
        if (!this.isHeld) this.#wasHeld = false;
        this.#untilMs = startedMs + ttlMs * (1 - MARGIN);
      }
      // Another process has it, as after a clock that was set back.
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

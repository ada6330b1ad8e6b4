/**
 * The shards whose subscriptions this process works. Of all processes that share the store, each holds a part of the
 * shards, and asks for its part again in time. The monotonic clock tells whether it still has them, so that a process
 * that was stopped for a while knows at once. What another process could change is also guarded in the store.
 */
import type { SubscriptionStore } from '@erp-proxy/stores/ports';

export interface HeldShards {
  holds(shard: number): boolean;
  /** True if this process holds a shard. */
  readonly holdsAny: boolean;
}

export interface ShardsOptions {
  store: Pick<SubscriptionStore, 'holdShards' | 'releaseShards'>;
  /** Identifies this process. */
  owner: string;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  ttlMs: number;
  /** Called when this process holds other shards than before, or lost them for a while. */
  onChange: () => void;
  onError: (error: unknown) => void;
}

/** Fraction of the duration of a lease after which it is acquired again. */
const RENEWAL = 1 / 3;
/** Fraction of the duration of a lease that is kept as a margin for differences between clocks. */
const MARGIN = 1 / 10;
/** Tolerance for the end of a lease. A lease that ends later was acquired before the clock was set back. */
const LATE_MS_MAX = 1000;

export class Shards implements HeldShards {
  readonly #options: ShardsOptions;
  #shards: ReadonlySet<number> = new Set();
  #untilMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isClosed = false;
  /** The shards of the last call of `onChange`. */
  #told = '';

  constructor(options: ShardsOptions) {
    this.#options = options;
  }

  get #isCurrent(): boolean {
    return this.#options.nowMs() < this.#untilMs;
  }

  /** The shards that this process holds, ascending. */
  get held(): readonly number[] {
    return this.#isCurrent ? [...this.#shards] : [];
  }

  get holdsAny(): boolean {
    return this.#shards.size > 0 && this.#isCurrent;
  }

  holds(shard: number): boolean {
    return this.#shards.has(shard) && this.#isCurrent;
  }

  start(): void {
    this.#running ??= this.#hold().finally(() => {
      this.#running = null;
    });
  }

  /** Releases the shards, so that other processes get them at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    const { store, owner, onError } = this.#options;
    if (this.#untilMs === Number.NEGATIVE_INFINITY) return;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    await (async () => store.releaseShards(owner))().catch(onError);
  }

  async #hold(): Promise<void> {
    const { store, owner, nowMs, ttlMs, onChange, onError } = this.#options;
    // The leases begin later than this moment, in the store.
    const startedMs = nowMs();
    try {
      // The limit is for a process that died before the clock was set back: it must not keep its shards that long.
      const shards = await store.holdShards(owner, { ttlMs, latestMs: ttlMs + LATE_MS_MAX });
      // If the shards were lost in between, for example because this process was stopped, its work has ended and must
      // begin again.
      if (!this.#isCurrent) this.#told = '';
      this.#shards = new Set(shards);
      this.#untilMs = startedMs + ttlMs * (1 - MARGIN);
    } catch (error) {
      onError(error);
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.start(), ttlMs * RENEWAL).unref();
    const now = this.held.join();
    if (now === this.#told) return;
    this.#told = now;
    onChange();
  }
}

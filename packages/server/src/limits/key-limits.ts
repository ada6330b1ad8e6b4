/**
 * The limits of a client key's policy that depend on what else the key does: calls in a time, in a day, and at once.
 * Counted in this process: exact where it is the only one; of several each keeps its share.
 */
import {
  type Admitted,
  BUSY,
  combineTaken,
  judgeRequest,
  type LimitedKey,
  type LimitingPolicy,
  readRate,
  UNLIMITED,
} from './admitted.ts';
import { DayCounts } from './day.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';
import { RateLimiter, type Taken } from './rate.ts';
import { takeShare } from './share.ts';

export type { Admitted, LimitedKey, RateState } from './admitted.ts';

/** What a request asks of the limits of its key. By promise only where they are shared with other processes. */
export interface Limits {
  /** Lets one call of the key's in, or says why not. Each one let in must `leave`. */
  enter(key: LimitedKey): Admitted | Promise<Admitted>;
  /** Counts further calls of a request that was let in, all or none. */
  takeMore(key: LimitedKey, count: number): Admitted | Promise<Admitted>;
  /** Takes up to `count` further slots for a request that was let in; gives how many. */
  takeSlots(key: LimitedKey, count: number): number | Promise<number>;
  leave(key: LimitedKey, slots?: number): void;
}

export class KeyLimits implements Limits {
  readonly #rates: RateLimiter;
  readonly #days: DayCounts;
  readonly #slots = new KeyedSemaphore();
  readonly #processes: () => number;

  /**
   * `nowMs`: a clock that never goes back. `clock`: milliseconds since 1970. `processes`: how many keep each limit
   * together without asking each other.
   */
  constructor(nowMs: () => number, clock: () => number, processes: () => number = () => 1) {
    this.#rates = new RateLimiter(nowMs);
    this.#days = new DayCounts(clock);
    this.#processes = processes;
  }

  enter(key: LimitedKey): Admitted {
    const { concurrency } = this.#share(key);
    if (concurrency !== undefined && !this.#slots.tryTake(key.id, concurrency)) return BUSY;
    const admitted = this.#take(key, 1);
    if (!admitted.ok) this.leave(key);
    return admitted;
  }

  takeMore(key: LimitedKey, count: number): Admitted {
    if (count === 0) return UNLIMITED;
    return judgeRequest(this.#take(key, count), key.policy, 1 + count);
  }

  takeSlots(key: LimitedKey, count: number): number {
    const { concurrency } = this.#share(key);
    if (concurrency === undefined) return count;
    let taken = 0;
    while (taken < count && this.#slots.tryTake(key.id, concurrency)) taken++;
    return taken;
  }

  leave({ id, policy: { concurrency } }: LimitedKey, slots = 1): void {
    if (concurrency === undefined) return;
    for (let slot = 0; slot < slots; slot++) this.#slots.free(id);
  }

  /** Counts what was let in elsewhere as if it had been let in here. */
  record(key: LimitedKey, calls: number, slots: number): void {
    const rate = readRate(this.#share(key));
    if (rate !== null) this.#rates.charge(key.id, rate, calls);
    this.#countDay(key, calls);
    if (key.policy.concurrency === undefined) return;
    for (let slot = 0; slot < slots; slot++) this.#slots.tryTake(key.id, Number.POSITIVE_INFINITY);
  }

  /** What this process has let in today (UTC), and which day it is by its clock, in days since 1970. */
  readDay(id: string): { day: number; counted: number } {
    return { day: this.#days.day, counted: this.#days.read(id) };
  }

  #take(key: LimitedKey, count: number): Admitted {
    const policy = this.#share(key);
    const { per_day } = policy;
    const day = per_day === undefined ? null : this.#days.judge(key.id, per_day, count);
    const rate = day?.ok === false ? null : this.#takeRate(key.id, policy, count);
    const admitted = combineTaken(policy, rate, day);
    if (admitted.ok) this.#countDay(key, count);
    return admitted;
  }

  #share({ policy }: LimitedKey): LimitingPolicy {
    return takeShare(policy, this.#processes());
  }

  #takeRate(id: string, policy: LimitingPolicy, count: number): Taken | null {
    const rate = readRate(policy);
    return rate && this.#rates.take(id, rate, count);
  }

  #countDay({ id, policy }: LimitedKey, count: number): void {
    if (policy.per_day !== undefined) this.#days.add(id, count);
  }
}

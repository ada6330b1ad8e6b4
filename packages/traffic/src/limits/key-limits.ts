/**
 * The limits of a client key that depend on its other calls: rate, calls per day and month, and concurrency. Counted in
 * this process, and exact if no other process runs. Otherwise each process enforces an equal share of rate and
 * concurrency, and the processes exchange their counts of calls per day and month.
 */
import {
  type Admitted,
  BUSY,
  checkRequest,
  combineTaken,
  type LimitedKey,
  type LimitingPolicy,
  readRate,
  takeShare,
  UNLIMITED,
} from './admitted.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';
import { PERIODS, PeriodCounts, type PeriodLimit, type PeriodTaken } from './periods.ts';
import { RateLimiter, type Taken } from './rate.ts';

export type { Admitted, LimitedKey } from './admitted.ts';

/** The limits of keys. Results are promises only if the limits are shared with other processes. */
export interface Limits {
  /** Reads the stored counts of the key unless they are known. Must be called before `admit`. Never rejects. */
  prepare(key: LimitedKey): Promise<void>;
  /** Admits one call of the key, or refuses it. Each admitted call needs one `release`. */
  admit(key: LimitedKey): Admitted | Promise<Admitted>;
  /**
   * Counts further calls of an admitted request, all or none. `together`: number of calls that the limits must allow at
   * once for the request to be possible at all; by default, all calls of the batch.
   */
  admitMore(key: LimitedKey, count: number, together?: number): Admitted | Promise<Admitted>;
  /**
   * Acquires up to `count` further units of the key's concurrency for an admitted request. Returns the number of
   * acquired units.
   */
  acquireMore(key: LimitedKey, count: number): number | Promise<number>;
  release(key: LimitedKey, count?: number): void;
}

export class KeyLimits implements Limits {
  readonly #rates: RateLimiter;
  readonly #periods: PeriodCounts;
  readonly #running = new KeyedSemaphore();
  readonly #processes: () => number;

  /**
   * `nowMs`: a monotonic clock. `clock`: milliseconds since 1970. `processes`: number of processes that share each
   * limit. `periods`: the counts of calls per day and month; if left out, a restart loses the counts.
   */
  constructor(
    nowMs: () => number,
    clock: () => number,
    processes: () => number = () => 1,
    periods: PeriodCounts = new PeriodCounts({ clock }),
  ) {
    this.#rates = new RateLimiter(nowMs);
    this.#periods = periods;
    this.#processes = processes;
  }

  async prepare({ id, policy }: LimitedKey): Promise<void> {
    for (const { limit } of PERIODS) if (policy[limit] !== undefined) await this.#periods.load(limit, id);
  }

  admit(key: LimitedKey): Admitted {
    const { concurrency } = this.#share(key);
    if (concurrency !== undefined && !this.#running.tryAcquire(key.id, concurrency)) return BUSY;
    const admitted = this.#take(key, 1);
    if (!admitted.ok) this.release(key);
    return admitted;
  }

  admitMore(key: LimitedKey, count: number, together = 1 + count): Admitted {
    if (count === 0) return UNLIMITED;
    return checkRequest(this.#take(key, count), key.policy, together);
  }

  acquireMore(key: LimitedKey, count: number): number {
    const { concurrency } = this.#share(key);
    if (concurrency === undefined) return count;
    let taken = 0;
    while (taken < count && this.#running.tryAcquire(key.id, concurrency)) taken++;
    return taken;
  }

  release({ id, policy: { concurrency } }: LimitedKey, count = 1): void {
    if (concurrency === undefined) return;
    for (let index = 0; index < count; index++) this.#running.release(id);
  }

  /** Counts calls that another instance of `Limits` has admitted. */
  record(key: LimitedKey, calls: number, running: number): void {
    const rate = readRate(this.#share(key));
    if (rate !== null) this.#rates.charge(key.id, rate, calls);
    this.#countPeriods(key, calls);
    if (key.policy.concurrency === undefined) return;
    for (let index = 0; index < running; index++) this.#running.tryAcquire(key.id, Number.POSITIVE_INFINITY);
  }

  /** Stores the time after which the burst that all processes share is full again. */
  setSharedBurst(id: string, fullInMs: number): void {
    this.#rates.setSharedBurst(id, fullInMs);
  }

  #take(key: LimitedKey, count: number): Admitted {
    const policy = this.#share(key);
    const periods: Partial<Record<PeriodLimit, PeriodTaken>> = {};
    for (const { limit } of PERIODS) {
      const max = policy[limit];
      if (max !== undefined) periods[limit] = this.#periods.check(limit, key.id, max, count);
    }
    const isPeriodLeft = Object.values(periods).every(({ ok }) => ok);
    const rate = isPeriodLeft ? this.#takeRate(key.id, policy, count) : null;
    const admitted = combineTaken(policy, { rate, periods });
    if (admitted.ok) this.#countPeriods(key, count);
    return admitted;
  }

  #share({ policy }: LimitedKey): LimitingPolicy {
    return takeShare(policy, this.#processes());
  }

  #takeRate(id: string, policy: LimitingPolicy, count: number): Taken | null {
    const rate = readRate(policy);
    return rate && this.#rates.take(id, rate, count);
  }

  #countPeriods({ id, policy }: LimitedKey, count: number): void {
    for (const { limit } of PERIODS) if (policy[limit] !== undefined) this.#periods.add(limit, id, count);
  }
}

/**
 * The limits of keys, counted in Redis for all replicas. Each replica also counts locally. While Redis is away, the
 * replica enforces its share of rate and concurrency from the local counts, and the calls of a period from the counts
 * in the store. Calls that it admits in that time are added to Redis later.
 */
import { type Admitted, BUSY, checkRequest, combineTaken, readRate, UNLIMITED } from '../limits/admitted.ts';
import { KeyLimits, type LimitedKey, type Limits } from '../limits/key-limits.ts';
import { PERIODS, PeriodCounts, type PeriodLimit, type PeriodTaken } from '../limits/periods.ts';
import { describeTaken, readIntervalMs } from '../limits/rate.ts';
import {
  ADMIT,
  type AdmitAnswer,
  type AdmitRequest,
  BY_PERIODS,
  BY_RATE,
  BY_RUNNING,
  RENEW,
  readAdmitAnswer,
} from './admit-script.ts';
import { type RedisClient, RedisFailure } from './client.ts';

/**
 * Duration of a lease, after which leases of a crashed replica end. A running replica renews its leases with each
 * heartbeat.
 */
const LEASE_MS = 5000;
/** Maximum number of keys with unreported calls. With more, the calls of the oldest key are not reported. */
const UNREPORTED_KEYS_MAX = 10_000;

export interface SharedKeyLimitsOptions {
  redis: RedisClient;
  /** A monotonic clock. */
  nowMs: () => number;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** The counts of calls per day and month. If left out, a restart loses the counts. */
  periods?: PeriodCounts;
}

export class SharedKeyLimits implements Limits {
  readonly #redis: RedisClient;
  /** Counts the calls that this replica has admitted. Enforces the share of the replica while Redis is away. */
  readonly #local: KeyLimits;
  readonly #periods: PeriodCounts;
  /** Number of calls of each key that were admitted while Redis was away. */
  readonly #unreported = new Map<string, number>();
  /** The names of the leases of each key's running calls. */
  readonly #leases = new Map<string, string[]>();
  #lastLease = 0;

  constructor({ redis, nowMs, clock, periods = new PeriodCounts({ clock }) }: SharedKeyLimitsOptions) {
    this.#redis = redis;
    this.#periods = periods;
    this.#local = new KeyLimits(nowMs, clock, () => redis.replicas, periods);
    redis.onHeartbeat(() => this.#renew());
  }

  prepare(key: LimitedKey): Promise<void> {
    return this.#local.prepare(key);
  }

  async admit(key: LimitedKey): Promise<Admitted> {
    const leases = this.#nameLeases(key, 1);
    const answer = await this.#ask(key, 1, leases);
    const admitted = answer === null ? this.#local.admit(key) : describeAnswer(key, 1, answer, this.#periods);
    if (!admitted.ok) return admitted;
    this.#count(key, 1, leases, answer);
    return admitted;
  }

  async admitMore(key: LimitedKey, count: number, together = 1 + count): Promise<Admitted> {
    if (count === 0) return UNLIMITED;
    const answer = await this.#ask(key, count, []);
    const admitted =
      answer === null
        ? this.#local.admitMore(key, count, together)
        : describeAnswer(key, count, answer, this.#periods);
    if (admitted.ok) this.#count(key, count, [], answer);
    return checkRequest(admitted, key.policy, together);
  }

  async acquireMore(key: LimitedKey, count: number): Promise<number> {
    const leases = this.#nameLeases(key, count);
    if (leases.length === 0) return count;
    const answer = await this.#ask(key, 0, leases);
    const taken = answer === null ? this.#local.acquireMore(key, count) : answer.leases;
    this.#count(key, 0, leases.slice(0, taken), answer);
    return taken;
  }

  release(key: LimitedKey, count = 1): void {
    this.#local.release(key, count);
    // The client may also have calls under another policy, whose leases do not belong to these calls.
    if (key.policy.concurrency === undefined) return;
    const held = this.#leases.get(key.id);
    if (held === undefined) return;
    const ended = held.splice(-count);
    if (held.length === 0) this.#leases.delete(key.id);
    // If the command fails, the leases expire.
    if (ended.length > 0) this.#redis.run('ZREM', this.#nameRunning(key.id), ...ended).catch(() => {});
  }

  /** Runs the script. Null if Redis is away or refuses the operation. */
  async #ask({ id, policy }: LimitedKey, calls: number, leases: string[]): Promise<AdmitAnswer | null> {
    if (this.#redis.trouble !== null) return null;
    const rate = calls > 0 ? readRate(policy) : null;
    const owed = rate === null ? 0 : this.#takeUnreported(id);
    const request: AdmitRequest = { calls, periods: [] };
    if (rate !== null) request.rate = { intervalMs: readIntervalMs(rate), burst: rate.burst, owed };
    if (policy.concurrency !== undefined && leases.length > 0)
      request.running = { max: policy.concurrency, leaseMs: LEASE_MS, leases };
    const keys = [this.#redis.name('rate', id), this.#nameRunning(id)];
    for (const { limit, name } of PERIODS) {
      const max = policy[limit];
      if (max === undefined || calls === 0) continue;
      const { period, calls: known, endsAt } = this.#periods.read(limit, id);
      request.periods.push({ max, known, endsAt });
      // Each period has its own name, because the clocks of replicas differ.
      keys.push(this.#redis.name(name, period, id));
    }
    try {
      const answer = readAdmitAnswer(await this.#redis.runScript(ADMIT, keys, [JSON.stringify(request)]));
      const isRateChecked = answer.refusedBy === 0 || answer.refusedBy === BY_RATE;
      if (!isRateChecked) this.#addUnreported(id, owed);
      else if (rate !== null) this.#local.setSharedBurst(id, answer.fullInMs);
      return answer;
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#addUnreported(id, owed);
      return null;
    }
  }

  /** Counts admitted calls locally. */
  #count(key: LimitedKey, calls: number, leases: string[], answer: AdmitAnswer | null): void {
    if (answer !== null) this.#local.record(key, calls, leases.length);
    else if (key.policy.rate !== undefined) this.#addUnreported(key.id, calls);
    if (leases.length === 0) return;
    const held = this.#leases.get(key.id);
    if (held === undefined) this.#leases.set(key.id, leases);
    else held.push(...leases);
  }

  #addUnreported(id: string, calls: number): void {
    if (calls === 0) return;
    this.#unreported.set(id, (this.#unreported.get(id) ?? 0) + calls);
    const [first] = this.#unreported.keys();
    if (this.#unreported.size > UNREPORTED_KEYS_MAX && first !== undefined) this.#unreported.delete(first);
  }

  /** Removes and returns the number of unreported calls. */
  #takeUnreported(id: string): number {
    const count = this.#unreported.get(id) ?? 0;
    this.#unreported.delete(id);
    return count;
  }

  #nameLeases({ policy }: LimitedKey, count: number): string[] {
    if (policy.concurrency === undefined) return [];
    return Array.from({ length: count }, () => `${this.#redis.replicaId}:${++this.#lastLease}`);
  }

  #nameRunning(id: string): string {
    return this.#redis.name('running', id);
  }

  /** Renews the leases. Ignores failures: while Redis is away, leases expire, and they are restored when it is back. */
  #renew(): void {
    for (const [id, leases] of this.#leases)
      this.#redis.runScript(RENEW, [this.#nameRunning(id)], [LEASE_MS, ...leases]).catch(() => {});
  }
}

function describeAnswer(
  { policy }: LimitedKey,
  count: number,
  { refusedBy, fullInMs, periodCalls }: AdmitAnswer,
  counts: PeriodCounts,
): Admitted {
  if (refusedBy === BY_RUNNING) return BUSY;
  const isOk = refusedBy === 0;
  const isChecked = (by: number) => isOk || refusedBy === by;
  const periods: Partial<Record<PeriodLimit, PeriodTaken>> = {};
  let by = BY_PERIODS;
  for (const { limit } of PERIODS) {
    const max = policy[limit];
    if (max === undefined) continue;
    const calls = periodCalls[by - BY_PERIODS] ?? 0;
    if (isChecked(by)) periods[limit] = counts.describe(limit, max, count, isOk, calls);
    by++;
  }
  const rate = readRate(policy);
  return combineTaken(policy, {
    rate: rate && isChecked(BY_RATE) ? describeTaken(rate, count, isOk, fullInMs) : null,
    periods,
  });
}

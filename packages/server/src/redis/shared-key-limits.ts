/**
 * The limits of keys, counted in Redis for all replicas together. Where Redis is away each replica goes on with its share
 * of them, from what it knows: it counts along all the time. What it lets in meanwhile is counted in Redis afterwards.
 */
import { type Admitted, BUSY, combineTaken, judgeRequest, readRate, UNLIMITED } from '../limits/admitted.ts';
import { describeDay } from '../limits/day.ts';
import { KeyLimits, type LimitedKey, type Limits } from '../limits/key-limits.ts';
import { describeTaken, readIntervalMs } from '../limits/rate.ts';
import {
  ADMIT,
  type AdmitAnswer,
  type AdmitQuestion,
  BY_DAY,
  BY_RATE,
  BY_RUNNING,
  RELEASE,
  RENEW,
  readAdmitAnswer,
} from './admit-script.ts';
import { type RedisClient, RedisFailure } from './client.ts';

/** The slots of a replica that died are free again after this time; a living one renews them with each beat. */
const LEASE_MS = 5000;
/** Beyond so many keys the debt of the first ones is forgotten. */
const OWED_KEYS_MAX = 10_000;

export interface SharedKeyLimitsOptions {
  redis: RedisClient;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export class SharedKeyLimits implements Limits {
  readonly #redis: RedisClient;
  /** What this replica has let in; decides by its share where Redis is away. */
  readonly #own: KeyLimits;
  /** By key, the calls that were let in while Redis was away. */
  readonly #owed = new Map<string, number>();
  /** By key, the names of the leases of calls that run. */
  readonly #leases = new Map<string, string[]>();
  #lastLease = 0;

  constructor({ redis, nowMs, clock }: SharedKeyLimitsOptions) {
    this.#redis = redis;
    this.#own = new KeyLimits(nowMs, clock, () => redis.replicas);
    redis.onBeat(() => this.#renew());
  }

  async admit(key: LimitedKey): Promise<Admitted> {
    const leases = this.#nameLeases(key, 1);
    const answer = await this.#ask(key, 1, leases);
    const admitted = answer === null ? this.#own.admit(key) : describeAnswer(key, 1, answer);
    if (!admitted.ok) return admitted;
    this.#count(key, 1, leases, answer);
    return admitted;
  }

  async admitMore(key: LimitedKey, count: number): Promise<Admitted> {
    if (count === 0) return UNLIMITED;
    const answer = await this.#ask(key, count, []);
    const admitted = answer === null ? this.#own.admitMore(key, count) : describeAnswer(key, count, answer);
    if (admitted.ok) this.#count(key, count, [], answer);
    return judgeRequest(admitted, key.policy, 1 + count);
  }

  async acquireMore(key: LimitedKey, count: number): Promise<number> {
    const leases = this.#nameLeases(key, count);
    if (leases.length === 0) return count;
    const answer = await this.#ask(key, 0, leases);
    const taken = answer === null ? this.#own.acquireMore(key, count) : answer.leases;
    this.#count(key, 0, leases.slice(0, taken), answer);
    return taken;
  }

  release(key: LimitedKey, count = 1): void {
    this.#own.release(key, count);
    const held = this.#leases.get(key.id);
    if (held === undefined) return;
    const ended = held.splice(-count);
    if (held.length === 0) this.#leases.delete(key.id);
    this.#tell(RELEASE, key.id, ended);
  }

  /** Null where Redis is away, or refuses it. */
  async #ask({ id, policy }: LimitedKey, calls: number, leases: string[]): Promise<AdmitAnswer | null> {
    if (this.#redis.trouble !== null) return null;
    const question: AdmitQuestion = { calls };
    const { concurrency, per_day } = policy;
    const rate = calls === 0 ? null : readRate(policy);
    const owed = rate === null ? 0 : this.#settle(id);
    if (leases.length > 0 && concurrency !== undefined)
      question.running = { max: concurrency, leaseMs: LEASE_MS, names: leases };
    if (calls > 0 && per_day !== undefined)
      question.day = { max: per_day, replica: this.#redis.replicaId, ...this.#own.readDay(id) };
    if (rate !== null) question.rate = { intervalMs: readIntervalMs(rate), burst: rate.burst, owed };
    const keys = ['rate', 'running', 'day'].map((kind) => this.#redis.name(kind, id));
    try {
      const answer = readAdmitAnswer(await this.#redis.run(ADMIT, keys, [JSON.stringify(question)]));
      if (answer.refusedBy === BY_RUNNING || answer.refusedBy === BY_DAY) this.#owe(id, owed);
      return answer;
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#owe(id, owed);
      return null;
    }
  }

  /** Counts here what was let in. */
  #count(key: LimitedKey, calls: number, leases: string[], answer: AdmitAnswer | null): void {
    if (answer !== null) this.#own.record(key, calls, leases.length);
    else if (key.policy.rate !== undefined) this.#owe(key.id, calls);
    if (leases.length === 0) return;
    const held = this.#leases.get(key.id);
    if (held === undefined) this.#leases.set(key.id, leases);
    else held.push(...leases);
  }

  #owe(id: string, calls: number): void {
    if (calls === 0) return;
    this.#owed.set(id, (this.#owed.get(id) ?? 0) + calls);
    const [first] = this.#owed.keys();
    if (this.#owed.size > OWED_KEYS_MAX && first !== undefined) this.#owed.delete(first);
  }

  /** The debt, which is now somebody else's to charge. */
  #settle(id: string): number {
    const owed = this.#owed.get(id) ?? 0;
    this.#owed.delete(id);
    return owed;
  }

  #nameLeases({ policy }: LimitedKey, count: number): string[] {
    if (policy.concurrency === undefined) return [];
    return Array.from({ length: count }, () => `${this.#redis.replicaId}:${++this.#lastLease}`);
  }

  #renew(): void {
    for (const [id, leases] of this.#leases) this.#tell(RENEW, id, [LEASE_MS, ...leases]);
  }

  /** Where Redis is away the leases end by themselves, or are renewed when it is back. */
  #tell(script: typeof RENEW, id: string, args: (string | number)[]): void {
    this.#redis.run(script, [this.#redis.name('running', id)], args).catch(() => {});
  }
}

function describeAnswer({ policy }: LimitedKey, count: number, answer: AdmitAnswer): Admitted {
  const { refusedBy, wholeInMs, dayCalls, dayLeftMs } = answer;
  if (refusedBy === BY_RUNNING) return BUSY;
  const isOk = refusedBy === 0;
  const rate = readRate(policy);
  const { per_day } = policy;
  const rateTaken = rate && refusedBy !== BY_DAY ? describeTaken(rate, count, isOk, wholeInMs) : null;
  const dayTaken =
    per_day !== undefined && refusedBy !== BY_RATE
      ? describeDay(per_day, count, isOk, dayCalls, dayLeftMs)
      : null;
  return combineTaken(policy, rateTaken, dayTaken);
}

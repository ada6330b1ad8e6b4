/**
 * One database limiter for each upstream database. It decides which calls may be sent now, which wait, and which are
 * refused. A limiter keeps its measurements after its last call. Callers can make up any number of databases, so the
 * number of limiters is bounded. Independent of HTTP, of Odoo and of the content of calls.
 */
import {
  DatabaseLimiter,
  type DatabaseLimiterOptions,
  type DatabaseLimiterState,
} from './database-limiter.ts';
import type { PermitOutcome, PermitRefusal, PermitRequest } from './permit.ts';

export type { Permit, PermitRefusal, PermitRequest, PermitResult } from './permit.ts';

export interface DatabaseLimitersOptions
  extends Pick<DatabaseLimiterOptions, 'concurrency' | 'queueMax' | 'nowMs'> {
  /**
   * Maximum number of limiters. Exceeded only while more databases have calls. Limiters without measurements are
   * dropped first, then those that have been idle longest.
   */
  databasesMax: number;
  random?: () => number;
  /** Default: 0. */
  ownDelayMs?: () => number;
  /** Default: 1. */
  processes?: () => number;
}

export interface DatabaseState extends DatabaseLimiterState {
  database: string;
}

const ENDED: PermitRefusal = { refused: 'ended', retryAfterSeconds: 1 };

export class DatabaseLimiters {
  readonly #limiters = new Map<string, DatabaseLimiter>();
  /** Limiters without calls, the longest idle first: `Blank` without measurements of their database, `Learnt` with. */
  readonly #idleBlank = new Set<DatabaseLimiter>();
  readonly #idleLearnt = new Set<DatabaseLimiter>();
  readonly #databasesMax: number;
  readonly #limiterOptions: DatabaseLimiterOptions;

  constructor({
    databasesMax,
    random = Math.random,
    ownDelayMs = () => 0,
    processes = () => 1,
    ...options
  }: DatabaseLimitersOptions) {
    this.#databasesMax = databasesMax;
    const onIdle = (limiter: DatabaseLimiter) => this.#keep(limiter);
    this.#limiterOptions = { ...options, random, ownDelayMs, processes, onIdle };
  }

  acquire(request: PermitRequest): PermitOutcome {
    const known = this.#limiters.get(request.database);
    if (request.signal.aborted) return known?.refuse('ended') ?? ENDED;
    const limiter = known ?? this.#open(request.database);
    if (!limiter.isIdle) return limiter.acquire(request);
    if (!this.#idleBlank.delete(limiter)) this.#idleLearnt.delete(limiter);
    const outcome = limiter.acquire(request);
    if (limiter.isIdle) this.#keep(limiter);
    return outcome;
  }

  /** The states of all limiters, for metrics and the admin API. */
  states(): DatabaseState[] {
    return this.#limiters
      .values()
      .map((limiter) => ({ database: limiter.database, ...limiter.describe() }))
      .toArray();
  }

  #open(database: string): DatabaseLimiter {
    if (this.#limiters.size >= this.#databasesMax) this.#forgetOne();
    const limiter = new DatabaseLimiter(database, this.#limiterOptions);
    this.#limiters.set(database, limiter);
    return limiter;
  }

  #keep(limiter: DatabaseLimiter): void {
    if (this.#limiters.size > this.#databasesMax) this.#limiters.delete(limiter.database);
    else (limiter.hasLearnt ? this.#idleLearnt : this.#idleBlank).add(limiter);
  }

  #forgetOne(): void {
    const idle = this.#idleBlank.size > 0 ? this.#idleBlank : this.#idleLearnt;
    const [oldest] = idle;
    if (oldest === undefined) return;
    idle.delete(oldest);
    this.#limiters.delete(oldest.database);
  }
}

/**
 * The gate in front of every upstream database: one lane each, which tells who may send now, who waits and who is refused.
 * Limiters are remembered after their last call for what they have learnt, up to a bound; callers may make up any number of
 * databases. Knows neither HTTP nor Odoo, nor what a call is.
 */
import {
  DatabaseLimiter,
  type DatabaseLimiterOptions,
  type DatabaseLimiterState,
} from './database-limiter.ts';
import { NO_PEERS, type Peers } from './peers.ts';
import type { Permit, PermitRefusal, PermitRequest } from './permit.ts';

export type { Permit, PermitRefusal, PermitRequest, PermitResult } from './permit.ts';

export interface DatabaseLimitersOptions
  extends Pick<DatabaseLimiterOptions, 'concurrency' | 'queueMax' | 'nowMs'> {
  /** Databases that are remembered; more only while each has calls. Those that nothing was learnt of go first. */
  databasesMax: number;
  random?: () => number;
  /** Left out: nothing. */
  ownDelayMs?: () => number;
  /** Left out: this process is alone. */
  processes?: () => number;
  peers?: Peers;
}

export interface DatabaseState extends DatabaseLimiterState {
  database: string;
}

const ENDED: PermitRefusal = { refused: 'ended', retryAfterSeconds: 1 };

export class DatabaseLimiters {
  readonly #lanes = new Map<string, DatabaseLimiter>();
  /** Those without calls, the longest unused first. */
  readonly #idleBlank = new Set<DatabaseLimiter>();
  readonly #idleLearnt = new Set<DatabaseLimiter>();
  readonly #databasesMax: number;
  readonly #laneOptions: DatabaseLimiterOptions;

  constructor({
    databasesMax,
    random = Math.random,
    ownDelayMs = () => 0,
    processes = () => 1,
    peers = NO_PEERS,
    ...options
  }: DatabaseLimitersOptions) {
    this.#databasesMax = databasesMax;
    const onIdle = (lane: DatabaseLimiter) => this.#keep(lane);
    this.#laneOptions = { ...options, random, ownDelayMs, processes, peers, onIdle };
    peers.onNews((database, news) => this.#lanes.get(database)?.hear(news));
  }

  /** Gives at once what can be told at once: a promise is for those who wait. */
  acquire(request: PermitRequest): Permit | PermitRefusal | Promise<Permit | PermitRefusal> {
    const known = this.#lanes.get(request.database);
    if (request.signal.aborted) return known?.refuse('ended') ?? ENDED;
    const lane = known ?? this.#open(request.database);
    if (!lane.isIdle) return lane.acquire(request);
    if (!this.#idleBlank.delete(lane)) this.#idleLearnt.delete(lane);
    const outcome = lane.acquire(request);
    if (lane.isIdle) this.#keep(lane);
    return outcome;
  }

  /** For metrics and the admin API: the databases that are remembered. */
  states(): DatabaseState[] {
    return this.#lanes
      .values()
      .map((lane) => ({ database: lane.database, ...lane.describe() }))
      .toArray();
  }

  #open(database: string): DatabaseLimiter {
    if (this.#lanes.size >= this.#databasesMax) this.#forgetOne();
    const lane = new DatabaseLimiter(database, this.#laneOptions);
    this.#lanes.set(database, lane);
    return lane;
  }

  #keep(lane: DatabaseLimiter): void {
    if (this.#lanes.size > this.#databasesMax) this.#lanes.delete(lane.database);
    else (lane.hasLearnt ? this.#idleLearnt : this.#idleBlank).add(lane);
  }

  #forgetOne(): void {
    const idle = this.#idleBlank.size > 0 ? this.#idleBlank : this.#idleLearnt;
    const [oldest] = idle;
    if (oldest === undefined) return;
    idle.delete(oldest);
    this.#lanes.delete(oldest.database);
  }
}

/**
 * Shares the circuit breakers of databases between replicas through Redis. A replica publishes a change at once, and
 * the others poll for changes four times a second. Only one replica may probe. Calls to databases that answer never
 * query Redis. While Redis is away, each replica uses its own observations.
 */
import type { BreakerNews, Opening, Peers } from '../limits/database/peers.ts';
import {
  type AnsweredRecord,
  CLOSE,
  DATABASES_MAX,
  OPEN,
  type OpenRecord,
  PROBE,
  READ_CHANGES,
  RECORD_TTL_MS,
  RETURN_PROBE,
  readRecord,
} from './breaker-script.ts';
import { type RedisClient, RedisFailure } from './client.ts';
import type { Script } from './script.ts';

const POLL_INTERVAL_MS = 250;
/** Longer database names are not shared, because callers can make up names of any length. */
const NAME_LENGTH_MAX = 512;

export interface SharedBreakersOptions {
  redis: RedisClient;
  /** A monotonic clock. */
  nowMs: () => number;
}

export class SharedBreakers implements Peers {
  readonly #redis: RedisClient;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Latest known openings, including those of databases that this process has never called. */
  readonly #openings = new Map<string, Opening>();
  #listener: (database: string, news: BreakerNews) => void = () => {};
  /** All changes before this time are known, by the clock of Redis. */
  #polledAt = 0;

  constructor({ redis, nowMs }: SharedBreakersOptions) {
    this.#redis = redis;
    this.#nowMs = nowMs;
    this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS).unref();
    void this.#poll();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  onNews(listener: (database: string, news: BreakerNews) => void): void {
    this.#listener = listener;
  }

  find(database: string): Opening | null {
    const opening = this.#openings.get(database);
    if (opening === undefined || opening.untilMs + RECORD_TTL_MS < this.#nowMs()) return null;
    return opening;
  }

  publishOpened(database: string, opening: Opening, isProbe: boolean): void {
    const { sinceMs, untilMs, openMs, witness } = opening;
    const now = this.#nowMs();
    void this.#act(OPEN, database, [now - sinceMs, untilMs - now, openMs, witness ?? '', isProbe ? 1 : 0]);
  }

  publishAnswered(database: string): void {
    void this.#act(CLOSE, database, []);
  }

  returnProbe(database: string, { othersUntilMs }: Opening): void {
    void this.#act(RETURN_PROBE, database, [othersUntilMs - this.#nowMs()]);
  }

  requestProbe(database: string, opening: Opening): true | Promise<boolean> {
    if (this.#redis.trouble !== null || !isShared(database)) return true;
    const { sinceMs, openMs, witness, lastProber, probeUntilMs, othersUntilMs } = opening;
    const now = this.#nowMs();
    const asked = this.#act(PROBE, database, [
      now - sinceMs,
      openMs,
      witness ?? '',
      lastProber ?? '',
      probeUntilMs - now,
      othersUntilMs - now,
    ]);
    return asked.then((isDone) => isDone ?? true);
  }

  /** Whether the script made its change; null if Redis is away or refuses the operation. */
  async #act(script: Script, database: string, args: (string | number)[]): Promise<boolean | null> {
    if (!isShared(database)) return null;
    const keys = [this.#redis.name('breaker', database), this.#redis.name('breakers')];
    const reply = await this.#run(script, keys, [database, this.#redis.replicaId, ...args]);
    if (!Array.isArray(reply)) return null;
    const [isDone, now, record] = reply;
    this.#receive(database, record, Number(now));
    return Number(isDone) === 1;
  }

  async #poll(): Promise<void> {
    const since = this.#polledAt;
    // If this poll fails, the next one reads all changes.
    this.#polledAt = 0;
    const reply = await this.#run(
      READ_CHANGES,
      [this.#redis.name('breakers')],
      [since, this.#redis.name('breaker', '')],
    );
    if (!Array.isArray(reply)) return;
    const [now, ...changes] = reply;
    // While Redis counts as away, what is published about a change is lost: the next poll reads the change again.
    if (this.#redis.trouble === null) this.#polledAt = Number(now);
    for (const [database, record] of changes) this.#receive(String(database), record, Number(now));
  }

  /** Null if Redis is away or refuses the operation. */
  async #run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#redis.run(script, keys, args);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      return null;
    }
  }

  #receive(database: string, reply: unknown, now: number): void {
    const record = readRecord(reply, now);
    if (record === null || !isShared(database)) return;
    const news = this.#describe(record, now);
    this.#openings.delete(database);
    if (!('answeredMs' in news)) this.#remember(database, news);
    this.#listener(database, news);
  }

  #remember(database: string, opening: Opening): void {
    this.#openings.set(database, opening);
    const [oldest] = this.#openings.keys();
    if (this.#openings.size > DATABASES_MAX && oldest !== undefined) this.#openings.delete(oldest);
  }

  /** Converts times from the clock of Redis to the process's own clock. */
  #describe(record: OpenRecord | AnsweredRecord, now: number): BreakerNews {
    const aheadMs = this.#nowMs() - now;
    if ('answeredAt' in record) return { answeredMs: record.answeredAt + aheadMs };
    return {
      witness: record.witness || null,
      sinceMs: record.since + aheadMs,
      openMs: record.openMs,
      untilMs: record.until + aheadMs,
      probeUntilMs: record.probeUntil + aheadMs,
      lastProber: record.prober || null,
      othersUntilMs: record.othersUntil + aheadMs,
    };
  }
}

function isShared(database: string): boolean {
  return database.length <= NAME_LENGTH_MAX;
}

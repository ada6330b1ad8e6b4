/**
 * Reads that need no call of their own: one that is the same as another in flight gets its answer from that one, and a
 * caller who accepts an answer of some age may get one that was kept. What a read, a result or a member is comes from
 * outside; whether two reads are the same is told by their names (name-read.ts).
 */
import { AnswerCache, type ReadMoment, type ReadScope } from './answer-cache.ts';
import { ByteBudget } from './byte-budget.ts';
import { Flight, type FlightMeans, type Member, type SharedCall } from './flight.ts';
import type { StreamedResult } from './result.ts';
import { WriteLog } from './write-log.ts';

export interface SharedReadsBounds {
  /** Bytes of all kept answers; 0: none is kept. */
  cacheBytesMax: number;
  /** A bigger answer is not kept. */
  answerBytesMax: number;
  /** Bytes of answers that pass through and are held for those who come later or are slower, in all. */
  heldBytesMax: number;
  /** Bytes of one answer's start that are held for who comes later. */
  startBytesMax: number;
  /** Bytes of one answer that are held for who is slower. */
  lagBytesMax: number;
  /** How long readers of one answer wait for slower ones, all in all. */
  patienceMs: number;
  /** A read that went out longer ago than this is not joined: what it tells is too old. */
  joinMs: number;
}

const SHARED_READS_BOUNDS: SharedReadsBounds = {
  cacheBytesMax: 64 * 1024 * 1024,
  answerBytesMax: 1024 * 1024,
  heldBytesMax: 32 * 1024 * 1024,
  startBytesMax: 256 * 1024,
  lagBytesMax: 1024 * 1024,
  patienceMs: 2000,
  joinMs: 2000,
};

export interface SharedReadsOptions<Result, Refusal, AnyMember>
  extends Omit<FlightMeans<Result, Refusal, AnyMember>, 'limits'> {
  /** A clock that never goes back. */
  nowMs: () => number;
  bounds?: Partial<SharedReadsBounds>;
}

export interface SharedAnswer<Reply> {
  reply: Reply;
  /** Whether the call was made for this member, for another one before it, or an answer was kept. */
  source: 'own' | 'joined' | 'kept';
  /** Of a kept answer: milliseconds since its call was made. */
  ageMs: number | null;
}

interface OpenFlight<Result extends StreamedResult, Refusal, AnyMember extends Member> extends ReadMoment {
  flight: Flight<Result, Refusal, AnyMember>;
}

export class SharedReads<Result extends StreamedResult, Refusal, AnyMember extends Member> {
  readonly #nowMs: () => number;
  readonly #joinMs: number;
  readonly #means: FlightMeans<Result, Refusal, AnyMember>;
  readonly #budget: ByteBudget;
  readonly #writes = new WriteLog();
  readonly #cache: AnswerCache<Result> | null;
  /** Those that can be joined. */
  readonly #open = new Map<string, OpenFlight<Result, Refusal, AnyMember>>();

  constructor({ nowMs, bounds, ...means }: SharedReadsOptions<Result, Refusal, AnyMember>) {
    const { cacheBytesMax, answerBytesMax, heldBytesMax, joinMs, ...each } = {
      ...SHARED_READS_BOUNDS,
      ...bounds,
    };
    const writes = this.#writes;
    const budget = new ByteBudget(heldBytesMax);
    this.#nowMs = nowMs;
    this.#joinMs = joinMs;
    this.#budget = budget;
    this.#means = { ...means, limits: { ...each, budget, nowMs } };
    this.#cache =
      cacheBytesMax === 0
        ? null
        : new AnswerCache({ bytesMax: cacheBytesMax, answerBytesMax, writes, budget, nowMs });
  }

  /** Bytes of answers that pass through and are held now. */
  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /**
   * The answer to a read. Where it cannot be had with others `begin` makes the call, which must not end with the signal
   * of any member. `maxAgeMs`: the age that a kept answer may have; null: none is wanted.
   */
  async read(
    scope: ReadScope,
    maxAgeMs: number | null,
    member: AnyMember,
    begin: () => SharedCall<Result | Refusal, AnyMember>,
  ): Promise<SharedAnswer<Result | Refusal>> {
    const kept = maxAgeMs === null ? undefined : this.#cache?.find(scope, maxAgeMs);
    if (kept) return { reply: kept.result, source: 'kept', ageMs: kept.ageMs };

    const joined = this.#findOpen(scope, member);
    const open = joined ?? this.#begin(scope, begin());
    const reply = await open.flight.join(member);
    const mayKeep = maxAgeMs !== null && this.#cache !== null && this.#means.isResult(reply);
    return {
      reply: mayKeep ? this.#cache.keep(reply, scope, open) : reply,
      source: joined === null ? 'own' : 'joined',
      ageMs: null,
    };
  }

  /**
   * Runs what may write: what went out before its end is given to nobody who asks after it. `model` is the one that it
   * changes; null where others may change too.
   */
  async write<Reply>(database: string, model: string | null, send: () => Promise<Reply>): Promise<Reply> {
    this.#writes.note(database, model);
    try {
      return await send();
    } finally {
      this.#writes.note(database, model);
    }
  }

  #findOpen({ name, database }: ReadScope, member: AnyMember): OpenFlight<Result, Refusal, AnyMember> | null {
    const open = this.#open.get(name);
    if (open === undefined || this.#nowMs() - open.askedMs > this.#joinMs) return null;
    if (!open.flight.takes(member)) return null;
    // A write to one model changes computed fields of others: nothing before it is joined after it.
    return this.#writes.hasAny(database, open.writes) ? null : open;
  }

  #begin(
    { name }: ReadScope,
    call: SharedCall<Result | Refusal, AnyMember>,
  ): OpenFlight<Result, Refusal, AnyMember> {
    const flight = new Flight(call, this.#means, () => {
      if (this.#open.get(name) === open) this.#open.delete(name);
    });
    const open = { flight, askedMs: this.#nowMs(), writes: this.#writes.count };
    this.#open.set(name, open);
    return open;
  }
}

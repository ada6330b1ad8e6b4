/**
 * Reads that need no call of their own: one that is the same as another in flight gets its answer from that one, and a
 * caller who accepts an answer of some age may get one that was kept. What a read, a result or a member is comes from
 * outside; whether two reads are the same is told by their names (name-read.ts).
 */
import { AnswerKeeper, type KeepingMoment } from './answer-keeper.ts';
import type { AnswerStore, ReadScope } from './answer-store.ts';
import { ByteBudget } from './byte-budget.ts';
import { Flight, type FlightMeans, type Member, type SharedCall } from './flight.ts';
import type { StreamedResult } from './result.ts';
import type { WriteLog } from './write-log.ts';

export interface SharedReadsBounds {
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

/** So old may a call be that is joined by callers who say nothing of age. */
export const JOIN_MS = 2000;

const SHARED_READS_BOUNDS: SharedReadsBounds = {
  answerBytesMax: 1024 * 1024,
  heldBytesMax: 32 * 1024 * 1024,
  startBytesMax: 256 * 1024,
  lagBytesMax: 1024 * 1024,
  patienceMs: 2000,
  joinMs: JOIN_MS,
};

export interface SharedReadsOptions<Result, Refusal> extends Omit<FlightMeans<Result, Refusal>, 'limits'> {
  /** The result that has these bytes, and is whole. */
  makeResult(bytes: Uint8Array): Result;
  /** A clock that never goes back. */
  nowMs: () => number;
  writes: WriteLog;
  /** Where answers are kept; null: nowhere. */
  answers: AnswerStore | null;
  bounds?: Partial<SharedReadsBounds>;
}

export interface SharedAnswer<Reply> {
  reply: Reply;
  /** Whether the call was made for this member, for another one before it, or an answer was kept. */
  source: 'own' | 'joined' | 'kept';
  /** Of a kept answer: milliseconds since its call was made. */
  ageMs: number | null;
}

const NOT_ASKED = { kept: null, mark: null };

interface OpenFlight<Result extends StreamedResult, Refusal, AnyMember extends Member> extends KeepingMoment {
  flight: Flight<Result, Refusal, AnyMember>;
}

export class SharedReads<Result extends StreamedResult, Refusal, AnyMember extends Member> {
  readonly #nowMs: () => number;
  readonly #joinMs: number;
  readonly #means: FlightMeans<Result, Refusal>;
  readonly #makeResult: (bytes: Uint8Array) => Result;
  readonly #budget: ByteBudget;
  readonly #writes: WriteLog;
  readonly #answers: AnswerStore | null;
  readonly #keeper: AnswerKeeper<Result> | null;
  /** Those that can be joined. */
  readonly #open = new Map<string, OpenFlight<Result, Refusal, AnyMember>>();

  constructor(options: SharedReadsOptions<Result, Refusal>) {
    const { nowMs, writes, answers, makeResult, bounds, ...means } = options;
    const { answerBytesMax, heldBytesMax, joinMs, ...each } = { ...SHARED_READS_BOUNDS, ...bounds };
    const budget = new ByteBudget(heldBytesMax);
    this.#nowMs = nowMs;
    this.#joinMs = joinMs;
    this.#makeResult = makeResult;
    this.#budget = budget;
    this.#writes = writes;
    this.#answers = answers;
    this.#means = { ...means, limits: { ...each, budget, nowMs } };
    this.#keeper = answers && new AnswerKeeper({ store: answers, answerBytesMax, budget });
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
    const found = maxAgeMs === null ? undefined : this.#answers?.find(scope, maxAgeMs);
    const { kept, mark } = (found instanceof Promise ? await found : found) ?? NOT_ASKED;
    if (kept !== null) return { reply: this.#makeResult(kept.answer), source: 'kept', ageMs: kept.ageMs };

    const joined = this.#findOpen(scope, member, maxAgeMs);
    const open = joined ?? this.#begin(scope, mark, begin());
    const reply = await open.flight.join(member);
    const isKept = maxAgeMs !== null && this.#keeper !== null && this.#means.isResult(reply);
    return {
      reply: isKept ? this.#keeper.keep(reply, scope, open, maxAgeMs) : reply,
      source: joined === null ? 'own' : 'joined',
      ageMs: null,
    };
  }

  /**
   * Runs what may write: what went out before its end is given to nobody who asks after it. `model` is the one that it
   * changes; null where others may change too.
   */
  async write<Reply>(database: string, model: string | null, send: () => Promise<Reply>): Promise<Reply> {
    void this.#drop(database, model);
    try {
      return await send();
    } finally {
      await this.#drop(database, model);
    }
  }

  #drop(database: string, model: string | null): void | Promise<void> {
    this.#writes.note(database, model);
    return this.#answers?.drop(database, model);
  }

  #findOpen(
    { name, database }: ReadScope,
    member: AnyMember,
    maxAgeMs: number | null,
  ): OpenFlight<Result, Refusal, AnyMember> | null {
    const open = this.#open.get(name);
    const ageMsMax = Math.min(this.#joinMs, maxAgeMs ?? this.#joinMs);
    if (open === undefined || this.#nowMs() - open.askedMs > ageMsMax) return null;
    if (!open.flight.takes(member)) return null;
    // A write to one model changes computed fields of others: nothing before it is joined after it.
    return this.#writes.hasAny(database, open.writes) ? null : open;
  }

  #begin(
    { name }: ReadScope,
    mark: string | null,
    call: SharedCall<Result | Refusal, AnyMember>,
  ): OpenFlight<Result, Refusal, AnyMember> {
    const flight = new Flight(call, this.#means, () => {
      if (this.#open.get(name) === open) this.#open.delete(name);
    });
    const open = { flight, askedMs: this.#nowMs(), writes: this.#writes.count, mark, isKept: false };
    this.#open.set(name, open);
    return open;
  }
}

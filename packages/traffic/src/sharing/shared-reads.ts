/**
 * Answers reads without a call: a caller joins an equal read in flight, and a caller that accepts an older answer can
 * get a kept one. The caller defines what a result and a member are. {@link nameRead} decides which reads are equal.
 */

import { hash } from 'node:crypto';
import { AnswerKeeper, type KeepingMoment } from './answer-keeper.ts';
import type { AnswerStore, Found, ReadScope } from './answer-store.ts';
import { ByteBudget } from './byte-budget.ts';
import { Flight, type FlightOptions, type Member, type SharedCall, type StreamedResult } from './flight.ts';
import type { WriteLog } from './write-log.ts';

export interface SharedReadsBounds {
  /** Maximum bytes of a kept answer. */
  answerBytesMax: number;
  /** Maximum bytes of all answers in flight that are held for slower or later callers. */
  heldBytesMax: number;
  /** Maximum bytes of the start of one answer that are held for callers that join later. */
  startBytesMax: number;
  /** Maximum bytes of one answer that are held for slower callers. */
  lagBytesMax: number;
  /** Total time in milliseconds for which the readers of one answer wait for slower ones. */
  patienceMs: number;
  /** Maximum age in milliseconds of a read that can be joined. */
  joinMs: number;
}

/** Maximum age in milliseconds of a read in flight that is joined by a caller without `max-age`. */
const JOIN_MS = 2000;

const SHARED_READS_BOUNDS: SharedReadsBounds = {
  answerBytesMax: 1024 * 1024,
  heldBytesMax: 32 * 1024 * 1024,
  startBytesMax: 256 * 1024,
  lagBytesMax: 1024 * 1024,
  patienceMs: 2000,
  joinMs: JOIN_MS,
};

export interface SharedReadsOptions<Result, Denied> extends Omit<FlightOptions<Result, Denied>, 'limits'> {
  /** Makes a result of the bytes of a kept answer. */
  makeResult(bytes: Uint8Array): Result;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  writes: WriteLog;
  /** Store of kept answers; null: no answers are kept. */
  answers: AnswerStore | null;
  bounds?: Partial<SharedReadsBounds>;
}

export interface SharedAnswer<Reply> {
  reply: Reply;
  /**
   * `own`: a call was made for this member. `joined`: a call of an earlier member answered it. `kept`: the answer was
   * in the store.
   */
  source: 'own' | 'joined' | 'kept';
  /** Age of a kept answer in milliseconds since its call was sent; null: no kept answer. */
  ageMs: number | null;
}

/** A read without a kept answer: it must join a flight or open one. */
export interface UnansweredRead {
  scope: ReadScope;
  maxAgeMs: number | null;
  mark: Found['mark'];
}

interface OpenFlight<Result extends StreamedResult, Denied, AnyMember extends Member> extends KeepingMoment {
  flight: Flight<Result, Denied, AnyMember>;
}

export class SharedReads<Result extends StreamedResult, Denied, AnyMember extends Member> {
  readonly #nowMs: () => number;
  readonly #joinMs: number;
  readonly #flightOptions: FlightOptions<Result, Denied>;
  readonly #makeResult: (bytes: Uint8Array) => Result;
  readonly #budget: ByteBudget;
  readonly #writes: WriteLog;
  readonly #answers: AnswerStore | null;
  readonly #keeper: AnswerKeeper<Result> | null;
  /** The flights that can be joined, by the name of their read. */
  readonly #open = new Map<string, OpenFlight<Result, Denied, AnyMember>>();

  constructor(options: SharedReadsOptions<Result, Denied>) {
    const { nowMs, writes, answers, makeResult, bounds, ...rest } = options;
    const { answerBytesMax, heldBytesMax, joinMs, ...each } = { ...SHARED_READS_BOUNDS, ...bounds };
    const budget = new ByteBudget(heldBytesMax);
    this.#nowMs = nowMs;
    this.#joinMs = joinMs;
    this.#makeResult = makeResult;
    this.#budget = budget;
    this.#writes = writes;
    this.#answers = answers;
    this.#flightOptions = { ...rest, limits: { ...each, budget, nowMs } };
    this.#keeper = answers && new AnswerKeeper({ store: answers, answerBytesMax, budget });
  }

  /** Number of bytes of answers in flight that are held now. */
  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /**
   * Returns a kept answer of at most this age, or the read to pass to `join` and `open`. `maxAgeMs` null: the caller
   * wants no kept answer. Returns a promise only if the store of kept answers does.
   */
  find(
    scope: ReadScope,
    maxAgeMs: number | null,
  ): SharedAnswer<Result> | UnansweredRead | Promise<SharedAnswer<Result> | UnansweredRead> {
    const conclude = ({ kept, mark }: Found) =>
      kept === null
        ? { scope, maxAgeMs, mark }
        : ({ reply: this.#makeResult(kept.answer), source: 'kept', ageMs: kept.ageMs } as const);
    if (maxAgeMs === null || this.#answers === null) return conclude(NOT_FOUND);
    const found = this.#answers.find(scope, maxAgeMs);
    return found instanceof Promise ? found.then(conclude) : conclude(found);
  }

  /** Joins an equal read in flight; null if there is none that this member can join. */
  join(read: UnansweredRead, member: AnyMember): Promise<SharedAnswer<Result | Denied>> | null {
    const open = this.#findOpen(read, member);
    return open && this.#answer(open, read, member, 'joined');
  }

  /**
   * Opens a flight for a call that has just begun. The signal of one member must not end the call. Must be called in
   * the same turn of the event loop in which `join` returned null: otherwise equal reads may be sent twice.
   */
  open(
    read: UnansweredRead,
    call: SharedCall<Result | Denied, AnyMember>,
    member: AnyMember,
  ): Promise<SharedAnswer<Result | Denied>> {
    const { name } = read.scope;
    const flight = new Flight(call, this.#flightOptions, () => {
      if (this.#open.get(name) === open) this.#open.delete(name);
    });
    const { mark } = read;
    const open = { flight, askedMs: this.#nowMs(), writes: this.#writes.count, mark, isKept: false };
    this.#open.set(name, open);
    return this.#answer(open, read, member, 'own');
  }

  /**
   * Records that a possible write begins or ends. Later callers do not join reads sent before it, and kept answers that
   * it makes stale are dropped. `model` is the changed model; null: other models may change too.
   */
  reportWrite(database: string, model: string | null): void | Promise<void> {
    this.#writes.add(database, model);
    return this.#answers?.drop(database, model);
  }

  #findOpen(
    { scope: { name, database }, maxAgeMs }: UnansweredRead,
    member: AnyMember,
  ): OpenFlight<Result, Denied, AnyMember> | null {
    const open = this.#open.get(name);
    const ageMsMax = Math.min(this.#joinMs, maxAgeMs ?? this.#joinMs);
    if (open === undefined || this.#nowMs() - open.askedMs > ageMsMax) return null;
    if (!open.flight.accepts(member)) return null;
    // A write to one model can change computed fields of other models, so any write to the database counts.
    return this.#writes.hasWrite(database, open.writes) ? null : open;
  }

  async #answer(
    open: OpenFlight<Result, Denied, AnyMember>,
    { scope, maxAgeMs }: UnansweredRead,
    member: AnyMember,
    source: 'own' | 'joined',
  ): Promise<SharedAnswer<Result | Denied>> {
    const reply = await open.flight.join(member);
    const isKept = maxAgeMs !== null && this.#keeper !== null && this.#flightOptions.isResult(reply);
    return { reply: isKept ? this.#keeper.keep(reply, scope, open, maxAgeMs) : reply, source, ageMs: null };
  }
}

const NOT_FOUND: Found = { kept: null, mark: null };

/** Reads the directives of a request's `cache-control` (RFC 9111, section 5.2.1). Unknown directives are ignored. */
export interface CacheControl {
  /** False: the call must be sent on its own. */
  mayShare: boolean;
  /** Maximum age of a kept answer in milliseconds; null: the caller wants none, or may not have one. */
  maxAgeMs: number | null;
}

const NO_DIRECTIVE: CacheControl = { mayShare: true, maxAgeMs: null };
const OWN_CALL: CacheControl = { mayShare: false, maxAgeMs: null };

/** A number of seconds. Recipients should accept the quoted form, too. */
const SECONDS = /^"?(\d+)"?$/;

/** Reads the header. A key that may not get kept answers gets a fresh one, whatever age the caller accepts. */
export function readCacheControl(header: string | undefined, isCacheAllowed: boolean): CacheControl {
  if (header === undefined) return NO_DIRECTIVE;
  let maxAgeMs: number | null = null;
  for (const directive of header.split(',')) {
    const [name, value = ''] = directive.split('=', 2).map((part) => part.trim().toLowerCase());
    if (name === 'no-cache' || name === 'no-store') return OWN_CALL;
    const seconds = name === 'max-age' ? SECONDS.exec(value)?.[1] : undefined;
    if (seconds !== undefined)
      maxAgeMs = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, Number(seconds) * 1000);
  }
  // No existing answer is young enough.
  if (maxAgeMs === 0) return OWN_CALL;
  if (isCacheAllowed) return { mayShare: true, maxAgeMs };
  return maxAgeMs !== null && maxAgeMs < JOIN_MS ? OWN_CALL : NO_DIRECTIVE;
}

export interface NamedRead {
  /**
   * Keyed hash of server, database, user and API key. Without the secret, it cannot be guessed what a name stands for.
   */
  credentialsId: string;
  /** The stored instance; null if the call has its own credentials. Instances differ in protocol and trust. */
  instanceId: string | null;
  model: string;
  method: string;
  /** The positional arguments as they are sent, after the policy was applied. */
  params: Uint8Array;
  keyword: Uint8Array;
}

/** Hashing longer arguments would cost more than sharing saves. */
const ARGUMENT_BYTES_MAX = 256 * 1024;

/**
 * Names a read by a hash of everything that its answer depends on. Reads with the same name can share one answer. Null
 * if the arguments are too long to be hashed.
 */
export function nameRead(read: NamedRead): string | null {
  const { credentialsId, instanceId, model, method, params, keyword } = read;
  if (params.length + keyword.length > ARGUMENT_BYTES_MAX) return null;
  const head = Buffer.from(JSON.stringify([credentialsId, instanceId, model, method, params.length]));
  return hash('sha256', Buffer.concat([head, params, keyword]), 'base64');
}

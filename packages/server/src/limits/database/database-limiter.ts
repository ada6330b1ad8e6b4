/** The way to one database: who may send now, who waits and for how long, who is refused. */
import { divideWhole } from '../share.ts';
import { AdaptiveConcurrency, type ConcurrencyBounds } from './adaptive-concurrency.ts';
import { Breaker, type BreakerChange, type JudgedResult, type JudgedTurn } from './breaker.ts';
import { FairQueue, type Place } from './fair-queue.ts';
import { InstanceLimits } from './instance-limits.ts';
import type { BreakerNews, Peers } from './peers.ts';
import type { InstanceBound, Permit, PermitRefusal, PermitRequest, PermitResult } from './permit.ts';
import { LATELY_MS, RecentCallers } from './recent-callers.ts';
import { runInSlices } from './run-in-slices.ts';

export interface DatabaseLimiterOptions {
  /** Calls at once: where they start, and within which bounds they find their level. Of all processes together. */
  concurrency: ConcurrencyBounds;
  /** Calls that may wait, of all processes together. */
  queueMax: number;
  /** How many share the bounds without asking each other: each keeps its part of them, at least one call. */
  processes: () => number;
  peers: Peers;
  /** A clock that never goes back. */
  nowMs: () => number;
  random: () => number;
  /** What this process itself adds to the time that an answer takes at present, in milliseconds. */
  ownDelayMs: () => number;
  /** Nobody runs or waits any more. */
  onIdle: (lane: DatabaseLimiter) => void;
}

export interface DatabaseLimiterState {
  running: number;
  waiting: number;
  /** Calls at once at present. */
  limit: number;
  /** `open` also where only the client is refused that alone has seen the failures. */
  breaker: 'closed' | 'open' | 'half_open';
  /** 0 while the breaker is closed. */
  retryAfterSeconds: number;
}

/**
 * The level sinks by a time-out only where the call had at least this time, and the time that an answer usually takes:
 * `x-request-timeout: 1` on a slow report is its caller's own choice, and must cost others nothing.
 */
const PATIENCE_MS = 2000;
/**
 * A call that ends without an answer is a sign of a hung server where it ran for the time that an answer usually takes,
 * whatever time it was given. Where its caller left, it must have run for this time at least, and for the other one where no
 * usual time is known.
 */
const SILENT_MS_MIN = 100;
const SILENT_MS_UNKNOWN = 250;
/** Silent calls open the breaker only after so long without any answer. */
const SILENCE_MS_MIN = 500;
/** Turns beyond the level for clients that have none, while others hold more than their share: a quarter of it. */
const EXTRA_SHARE = 4;
const RETRY_SECONDS_MAX = 60;
const TIMER_MS_MAX = 2 ** 31 - 1;

export class DatabaseLimiter {
  readonly database: string;
  readonly #options: DatabaseLimiterOptions;
  readonly #level: AdaptiveConcurrency;
  readonly #breaker: Breaker;
  readonly #queue = new FairQueue<Waiting>();
  readonly #bounds = new InstanceLimits();
  readonly #callers = new RecentCallers();
  #running = 0;
  #refilling: NodeJS.Timeout | null = null;
  /** Turns that have begun so far; each has its number. */
  #latest = 0;

  constructor(database: string, options: DatabaseLimiterOptions) {
    this.database = database;
    this.#options = options;
    this.#level = new AdaptiveConcurrency(options.concurrency, options.processes);
    this.#breaker = new Breaker({ database, ...options });
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  /** Forgetting it would lose something. */
  get hasLearnt(): boolean {
    return this.#breaker.hasFailures || this.#level.usualMs > 0;
  }

  describe(): DatabaseLimiterState {
    const breaker = this.#breaker.state;
    return {
      running: this.#running,
      waiting: this.#queue.size,
      limit: this.#level.limit,
      breaker,
      retryAfterSeconds: breaker === 'closed' ? 0 : this.#breaker.retryAfterSeconds,
    };
  }

  acquire(request: PermitRequest): Permit | PermitRefusal | Promise<Permit | PermitRefusal> {
    if (request.bound !== null) this.#bounds.hear(request.bound);
    this.#callers.note(request.client, this.#options.nowMs());
    if (this.#breaker.refuses(request.client)) return this.#probe(request);
    if (this.#next === null && this.#hasRoom(request)) return this.#begin(request);
    return this.#wait(request);
  }

  /** A probe is one request: the breaker refuses its client. */
  mayRetry({ client, deadlineMs }: StartedTurn, waitMs: number): boolean {
    if (this.#breaker.refuses(client)) return false;
    return this.#options.nowMs() + waitMs + this.#level.longMs < deadlineMs;
  }

  release(permit: StartedTurn, reported: PermitResult): void {
    const { nowMs, onIdle, ownDelayMs } = this.#options;
    const now = nowMs();
    this.#running--;
    if (permit.bound !== null) this.#bounds.end(permit.bound);
    this.#queue.end(permit.client);
    const tookMs = (permit.answeredMs ?? now) - permit.startedMs - ownDelayMs();
    const result = this.#judge(permit, reported, tookMs);
    if (result === 'answered') this.#learnTime(permit, tookMs, now);
    if (result === 'timed_out' || result === 'overloaded') this.#level.halve(permit.number, this.#latest);
    if (permit.answeredMs === null) this.#tellBreaker(permit, result);
    else this.#fill();
    if (this.isIdle) onIdle(this);
  }

  /** The head of the turn's answer has come. */
  hearAnswer(permit: StartedTurn): void {
    this.#tellBreaker(permit, 'answered');
  }

  #tellBreaker(permit: StartedTurn, result: JudgedResult): void {
    this.#follow(this.#breaker.judge(permit, result, this.#latest, this.#silenceMs));
  }

  /** What another process has found. */
  hear(news: BreakerNews): void {
    this.#follow(this.#breaker.hear(news, this.#latest));
  }

  #follow(change: BreakerChange): void {
    if (change === 'recovered') this.#level.restart(this.#latest);
    if (change === 'opened') this.#refuseWaiting();
    this.#fill();
  }

  #judge({ startedMs, deadlineMs }: StartedTurn, reported: PermitResult, tookMs: number): JudgedResult {
    if (reported !== 'timed_out' && reported !== 'caller_left') return reported;
    const { usualMs } = this.#level;
    const isPatient = deadlineMs - startedMs >= Math.max(PATIENCE_MS, usualMs);
    if (reported === 'timed_out' && isPatient) return reported;
    const leastMs = usualMs === 0 ? SILENT_MS_UNKNOWN : SILENT_MS_MIN;
    const silentMs = reported === 'timed_out' ? usualMs : Math.max(usualMs, leastMs);
    return tookMs >= silentMs ? 'silent' : 'abandoned';
  }

  /** Without any answer for so long, calls that end without one show a hung server. */
  get #silenceMs(): number {
    return Math.max(SILENCE_MS_MIN, this.#level.longMs);
  }

  /** Calls that wait may have no time left for an answer, where answers have come to take longer. */
  #learnTime({ number }: StartedTurn, tookMs: number, now: number): void {
    const { longMs } = this.#level;
    this.#level.answer(number, this.#latest, tookMs, now);
    if (this.#level.longMs > longMs) this.#dismissLate();
  }

  /**
   * A probe needs no room within the level or a share: calls that have hung since before the breaker opened may hold all of it
   * for minutes. The operator's bounds hold.
   */
  #probe(request: PermitRequest): Permit | PermitRefusal | Promise<Permit | PermitRefusal> {
    const isWithinBounds = this.#running < this.#level.limitMax && this.#isBelowBound(request);
    if (!isWithinBounds || !this.#breaker.mayProbe(request.client)) return this.refuse('breaker_open');
    const permit = this.#begin(request);
    const permission = this.#breaker.beginProbe(permit);
    return permission === true ? permit : this.#awaitPermission(permit, request, permission);
  }

  /** It holds its turn while other processes are asked. They may say that the database is well. */
  async #awaitPermission(
    permit: StartedTurn,
    { client, signal }: PermitRequest,
    permission: Promise<boolean>,
  ): Promise<Permit | PermitRefusal> {
    const mayGo = (await permission) || !this.#breaker.refuses(client);
    if (mayGo && !signal.aborted) return permit;
    permit.release('abandoned');
    return this.refuse(signal.aborted ? 'ended' : 'breaker_open');
  }

  #begin({ client, deadlineMs, bound }: PermitRequest): StartedTurn {
    this.#running++;
    if (bound !== null) this.#bounds.begin(bound);
    this.#latest++;
    this.#queue.begin(client);
    this.#level.begin(this.#running);
    return new StartedTurn(this, this.#latest, { client, bound, deadlineMs, nowMs: this.#options.nowMs });
  }

  #wait(request: PermitRequest): PermitRefusal | Promise<Permit | PermitRefusal> {
    const { client, bound } = request;
    const instance = bound?.instance ?? null;
    const ahead = this.#queue.countAhead({ client, instance });
    if (!this.#canMeetDeadline(request, ahead + 1)) return this.refuse('too_late');
    if (this.#queue.size >= this.#queueMax) {
      const victim = this.#queue.findVictim(client);
      if (victim === null) return this.refuse('queue_full');
      this.#dismiss(victim, this.refuse('queue_full'));
    }
    return new Promise((settle) => {
      const onEnd = () => {
        this.#dismiss(place, this.refuse('ended'));
        this.#fill();
      };
      const place = this.#queue.add({ client, instance, request, settle, onEnd, leaving: null });
      request.signal.addEventListener('abort', onEnd);
      this.#planLeaving(place);
      this.#fill();
    });
  }

  /** The call that has the next turn: those that a bound or share of their own holds back do not hold up the others. */
  get #next(): Place<Waiting> | null {
    return this.#queue.findNext(({ request }) => this.#isBelowBound(request) && this.#isBelowShare(request));
  }

  /** Gives turns while there is room for the next. */
  #fill(): void {
    for (let place = this.#next; place !== null; place = this.#next) {
      const { request } = place.item.call;
      if (!this.#canMeetDeadline(request, 0)) this.#dismiss(place, this.refuse('too_late'));
      else if (this.#hasRoom(request)) this.#dismiss(place, this.#begin(request));
      else return;
    }
    this.#noteHeldBack();
  }

  /**
   * Where calls wait for the share of their client alone, the level is used as fully as it can be: it may rise. And they may go
   * when the others have not called for a while, though nothing else happens then.
   */
  #noteHeldBack(): void {
    if (this.#queue.size === 0 || this.#running >= this.#level.limit) return;
    if (this.#queue.findNext(({ request }) => this.#isBelowBound(request)) === null) return;
    this.#level.begin(this.#level.limit);
    this.#refilling ??= setTimeout(() => {
      this.#refilling = null;
      this.#fill();
    }, LATELY_MS).unref();
  }

  /** When there will be no time left for an answer: later where who shares the call has brought it more time meanwhile. */
  #planLeaving(place: Place<Waiting>): void {
    const { call } = place.item;
    const leftMs = call.request.deadlineMs - this.#level.longMs - this.#options.nowMs();
    call.leaving = setTimeout(
      () => {
        if (this.#canMeetDeadline(call.request, 0)) return this.#planLeaving(place);
        this.#dismiss(place, this.refuse('too_late'));
        this.#fill();
      },
      Math.min(leftMs + 1, TIMER_MS_MAX),
    );
  }

  /** A call that cannot be done in its time any more leaves, wherever it stands. */
  #dismissLate(): void {
    this.#dismissAll('too_late', ({ request }) => !this.#canMeetDeadline(request, 0));
    this.#fill();
  }

  #refuseWaiting(): void {
    this.#dismissAll('breaker_open', ({ client }) => this.#breaker.refuses(client));
  }

  /** All of them leave the queue at once. Their answers cost much more, and are given a few at a time. */
  #dismissAll(refused: PermitRefusal['refused'], isMeant: (call: Waiting) => boolean): void {
    const refusal = this.refuse(refused);
    const calls = this.#queue
      .places()
      .filter((place) => isMeant(place.item.call) && this.#takeOut(place))
      .map(({ item }) => item.call);
    runInSlices(calls, ({ settle }) => settle(refusal));
  }

  /** Ends the wait of a call; without effect where it has ended already. */
  #dismiss(place: Place<Waiting>, outcome: Permit | PermitRefusal): void {
    if (this.#takeOut(place)) place.item.call.settle(outcome);
  }

  /** Whether the call was still waiting. */
  #takeOut(place: Place<Waiting>): boolean {
    const { request, onEnd, leaving } = place.item.call;
    if (!this.#queue.remove(place)) return false;
    if (leaving !== null) clearTimeout(leaving);
    request.signal.removeEventListener('abort', onEnd);
    return true;
  }

  #hasRoom(request: PermitRequest): boolean {
    if (!this.#isBelowBound(request) || !this.#isBelowShare(request)) return false;
    return this.#running < this.#level.limit || this.#mayExceed(request);
  }

  #isBelowShare({ client }: PermitRequest): boolean {
    return this.#queue.countRunning(client) < this.#findShare(client);
  }

  /** Turns that the client may hold: as many as each other one that calls, all of them where nobody else has called lately. */
  #findShare(client: string): number {
    const others = this.#queue.countOthers(client);
    const hasOther = others > 0 || this.#callers.hasOther(client, this.#options.nowMs());
    return Math.ceil(this.#level.limit / (1 + (hasOther ? Math.max(1, others) : 0)));
  }

  /** A call that runs cannot be stopped, so clients without a turn get one beyond the level while another holds more than its share. */
  #mayExceed({ client }: PermitRequest): boolean {
    const { limit, limitMax } = this.#level;
    const most = Math.min(limitMax, limit + Math.ceil(limit / EXTRA_SHARE));
    if (this.#running >= most || this.#queue.countRunning(client) > 0) return false;
    return this.#queue.mostRunning > this.#findShare(client);
  }

  #isBelowBound({ bound }: PermitRequest): boolean {
    return bound === null || !this.#bounds.isReached(bound, this.#options.processes());
  }

  /** How many calls like this one may run at once. */
  #limitFor({ bound }: PermitRequest): number {
    const { limit } = this.#level;
    return bound === null ? limit : Math.min(limit, divideWhole(bound.max, this.#options.processes()));
  }

  get #queueMax(): number {
    const { queueMax, processes } = this.#options;
    return queueMax === 0 ? 0 : divideWhole(queueMax, processes());
  }

  /** Whether there is time for what an answer takes, after so many other calls have ended. */
  #canMeetDeadline(request: PermitRequest, ends: number): boolean {
    const usualMs = this.#level.usualMs;
    const waitMs = (ends * usualMs) / this.#limitFor(request);
    return this.#options.nowMs() + waitMs + this.#level.longMs <= request.deadlineMs;
  }

  refuse(refused: PermitRefusal['refused']): PermitRefusal {
    return {
      refused,
      retryAfterSeconds: refused === 'breaker_open' ? this.#breaker.retryAfterSeconds : this.#drainSeconds,
    };
  }

  /** Until the calls that wait now will have had their turns. */
  get #drainSeconds(): number {
    const seconds = (this.#queue.size * this.#level.usualMs) / this.#level.limit / 1000;
    return Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(seconds)));
  }
}

interface StartedTurnOptions extends Pick<PermitRequest, 'client' | 'bound' | 'deadlineMs'> {
  nowMs: () => number;
}

class StartedTurn implements Permit, JudgedTurn {
  readonly number: number;
  readonly client: string;
  readonly bound: InstanceBound | null;
  startedMs: number;
  readonly deadlineMs: number;
  answeredMs: number | null = null;
  readonly #lane: DatabaseLimiter;
  readonly #nowMs: () => number;
  #isOver = false;

  constructor(
    lane: DatabaseLimiter,
    number: number,
    { client, bound, deadlineMs, nowMs }: StartedTurnOptions,
  ) {
    this.#lane = lane;
    this.number = number;
    this.client = client;
    this.bound = bound;
    this.startedMs = nowMs();
    this.#nowMs = nowMs;
    this.deadlineMs = deadlineMs;
  }

  markSent(): void {
    this.startedMs = this.#nowMs();
  }

  markAnswered(): void {
    this.answeredMs = this.#nowMs();
    this.#lane.hearAnswer(this);
  }

  mayRetry(waitMs: number): boolean {
    return this.#lane.mayRetry(this, waitMs);
  }

  release(result: PermitResult): void {
    if (this.#isOver) throw new Error('A permit is released once.');
    this.#isOver = true;
    this.#lane.release(this, result);
  }
}

interface Waiting {
  readonly client: string;
  readonly instance: string | null;
  readonly request: PermitRequest;
  readonly settle: (outcome: Permit | PermitRefusal) => void;
  readonly onEnd: () => void;
  leaving: NodeJS.Timeout | null;
}

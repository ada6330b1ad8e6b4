/**
 * Limits the calls to one database: which may be sent now, which wait and for how long, and which are refused.
 *
 * Background calls, such as the pages of an export, have their own queue. While no interactive call runs or waits, they
 * use a part of the concurrency limit. Beside interactive calls, one background call at a time runs, after a wait.
 * Background calls have no effect on the checks of interactive calls: on the limit, the shares of clients, the answer
 * times and the estimates of waiting (docs/decisions/0038-exports.md).
 */
import { divideWhole } from '../admitted.ts';
import { AdaptiveConcurrency, type ConcurrencyBounds } from './adaptive-concurrency.ts';
import { Breaker, type CheckedPermit, type CheckedResult } from './breaker.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';
import { InstanceLimits } from './instance-limits.ts';
import type {
  InstanceBound,
  Permit,
  PermitOutcome,
  PermitRefusal,
  PermitRequest,
  PermitResult,
} from './permit.ts';
import { RECENT_MS, RecentCallers } from './recent-callers.ts';
import { runInSlices } from './run-in-slices.ts';

export interface DatabaseLimiterOptions {
  /** Initial value and bounds of the adaptive concurrency limit, for the sum of all processes. */
  concurrency: ConcurrencyBounds;
  /** Maximum number of waiting calls, for the sum of all processes. */
  queueMax: number;
  /** Number of processes that share the bounds. Each uses an equal part, at least one call. */
  processes: () => number;
  /** A monotonic clock, in milliseconds. */
  nowMs: () => number;
  random: () => number;
  /** Milliseconds by which this process itself currently delays an answer. */
  ownDelayMs: () => number;
  /** Called when no call runs or waits any more. */
  onIdle: (limiter: DatabaseLimiter) => void;
}

export interface DatabaseLimiterState {
  /** Running calls, interactive and background ones. */
  running: number;
  /** Waiting interactive calls. */
  waiting: number;
  backgroundRunning: number;
  backgroundWaiting: number;
  /** Current limit of running calls. */
  limit: number;
  /** Also `open` if the breaker refuses only one client, which alone has seen the failures. */
  breaker: 'closed' | 'open' | 'half_open';
  /** 0 while the breaker is closed. */
  retryAfterSeconds: number;
  /** Mean answer time in milliseconds; 0 while unknown. */
  usualMs: number;
}

/**
 * A time-out lowers the concurrency limit only if the call had at least this time, and the usual time of an answer.
 * `x-request-timeout: 1` on a slow report is the choice of its caller, and must not affect others.
 */
const PATIENCE_MS = 2000;
/**
 * A call that ends without an answer indicates a hung server if it ran as long as an answer usually takes, whatever its
 * time limit was. If its caller left, it must also have run for SILENT_MS_MIN, or for SILENT_MS_UNKNOWN while the usual
 * time is unknown.
 */
const SILENT_MS_MIN = 100;
const SILENT_MS_UNKNOWN = 250;
/** Minimum time without any answer before silent calls open the circuit breaker. */
const SILENCE_MS_MIN = 500;
/**
 * Permits beyond the concurrency limit, as a fraction of that limit: for clients without a permit, while another client
 * holds more than its share.
 */
const EXTRA_SHARE = 1 / 4;
/**
 * Maximum fraction of the concurrency limit that background calls hold; at least one call. It is small, because before
 * any load the limit may be a multiple of the calls that the server can handle.
 */
const BACKGROUND_SHARE = 1 / 8;
/**
 * After this wait, one background call at a time may run beside running (or, below, waiting) interactive calls.
 * Otherwise constant load would keep background calls waiting for ever.
 */
const WAIT_FOR_RUNNING_MS = 100;
const WAIT_FOR_WAITING_MS = 1000;
const RETRY_SECONDS_MAX = 60;
const TIMER_MS_MAX = 2 ** 31 - 1;

export class DatabaseLimiter {
  readonly database: string;
  readonly #options: DatabaseLimiterOptions;
  readonly #concurrency: AdaptiveConcurrency;
  readonly #breaker: Breaker;
  /** The waiting interactive calls. */
  readonly #queue = new FairQueue<QueuedRequest>();
  readonly #backgroundQueue = new FairQueue<QueuedRequest>();
  readonly #instanceLimits = new InstanceLimits();
  readonly #recentCallers = new RecentCallers();
  /** Running calls, interactive and background ones. */
  #running = 0;
  #backgroundRunning = 0;
  #refillTimer: NodeJS.Timeout | null = null;
  /** Number of the latest permit. Permits are numbered from 1. */
  #latestNumber = 0;

  constructor(database: string, options: DatabaseLimiterOptions) {
    this.database = database;
    this.#options = options;
    this.#concurrency = new AdaptiveConcurrency(options.concurrency, options.processes);
    this.#breaker = new Breaker(options);
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0 && this.#backgroundQueue.size === 0;
  }

  /** Whether failures or answer times of the database are known. */
  get hasLearnt(): boolean {
    return this.#breaker.hasFailures || this.#concurrency.usualMs > 0;
  }

  describe(): DatabaseLimiterState {
    const breaker = this.#breaker.state;
    return {
      running: this.#running,
      waiting: this.#queue.size,
      backgroundRunning: this.#backgroundRunning,
      backgroundWaiting: this.#backgroundQueue.size,
      limit: this.#concurrency.limit,
      breaker,
      retryAfterSeconds: breaker === 'closed' ? 0 : this.#breaker.retryAfterSeconds,
      usualMs: this.#concurrency.usualMs,
    };
  }

  acquire(request: PermitRequest): PermitOutcome {
    if (request.bound !== null) this.#instanceLimits.update(request.bound);
    const isBackground = request.isBackground === true;
    if (!isBackground) this.#recentCallers.add(request.client, this.#options.nowMs());
    if (this.#breaker.refuses(request.client)) return this.#probe(request);
    if (isBackground) return this.#mayBeginBackground(request) ? this.#begin(request) : this.#wait(request);
    if (this.#next === null && this.#hasRoom(request)) return this.#begin(request);
    return this.#wait(request);
  }

  /** See {@link Permit.interactiveMs}. */
  get interactiveMs(): number | null {
    return this.#recentCallers.hasAny(this.#options.nowMs()) ? this.#concurrency.usualMs : null;
  }

  /** False for a probe: it is a single request, and the breaker refuses its client. */
  mayRetry({ client, deadlineMs }: HeldPermit, waitMs: number): boolean {
    if (this.#breaker.refuses(client)) return false;
    return this.#options.nowMs() + waitMs + this.#concurrency.longMs < deadlineMs;
  }

  release(permit: HeldPermit, reported: PermitResult): void {
    const { nowMs, onIdle, ownDelayMs } = this.#options;
    const now = nowMs();
    this.#running--;
    if (permit.isBackground) this.#backgroundRunning--;
    if (permit.bound !== null) this.#instanceLimits.end(permit.bound);
    this.#queueFor(permit).end(permit.client);
    const tookMs = (permit.answeredMs ?? now) - permit.startedMs - ownDelayMs();
    const result = this.#check(permit, reported, tookMs);
    // The times of long pages say nothing about interactive calls.
    if (result === 'answered' && !permit.isBackground) this.#learnTime(permit, tookMs, now);
    if (result === 'overloaded' || (result === 'timed_out' && !permit.isBackground))
      this.#concurrency.halve(permit.number, this.#latestNumber);
    if (permit.answeredMs === null) this.#reportToBreaker(permit, result);
    else this.#fill();
    if (this.isIdle) onIdle(this);
  }

  /** Called when the head of the answer has arrived. */
  recordAnswer(permit: HeldPermit): void {
    this.#reportToBreaker(permit, 'answered');
  }

  #reportToBreaker(permit: HeldPermit, result: CheckedResult): void {
    const change = this.#breaker.check(permit, result, this.#latestNumber, this.#silenceMs);
    if (change === 'recovered') this.#concurrency.restart(this.#latestNumber);
    if (change === 'opened') this.#refuseWaiting();
    this.#fill();
  }

  #check({ startedMs, deadlineMs }: HeldPermit, reported: PermitResult, tookMs: number): CheckedResult {
    if (reported !== 'timed_out' && reported !== 'caller_left') return reported;
    const { expectedMs } = this.#concurrency;
    const isPatient = deadlineMs - startedMs >= Math.max(PATIENCE_MS, expectedMs);
    if (reported === 'timed_out' && isPatient) return reported;
    const leastMs = expectedMs === 0 ? SILENT_MS_UNKNOWN : SILENT_MS_MIN;
    const silentMs = reported === 'timed_out' ? expectedMs : Math.max(expectedMs, leastMs);
    return tookMs >= silentMs ? 'silent' : 'abandoned';
  }

  /** Time without any answer after which silent calls open the breaker. */
  get #silenceMs(): number {
    return Math.max(SILENCE_MS_MIN, this.#concurrency.longMs);
  }

  /** Adds an answer time. If answers now take longer, waiting calls that have no time left for one are refused. */
  #learnTime({ number }: HeldPermit, tookMs: number, now: number): void {
    const { longMs } = this.#concurrency;
    this.#concurrency.addAnswer(number, this.#latestNumber, tookMs, now);
    if (this.#concurrency.longMs > longMs) this.#refuseLate();
  }

  /**
   * Sends a call as the probe of the breaker, if that is allowed. The concurrency limit and shares do not apply,
   * because calls that hang since before the breaker opened may occupy both for minutes. The operator's bounds apply.
   */
  #probe(request: PermitRequest): PermitOutcome {
    const isWithinBounds = this.#running < this.#concurrency.limitMax && this.#isBelowBound(request);
    if (!isWithinBounds || !this.#breaker.mayProbe(request.client)) return this.refuse('breaker_open');
    const permit = this.#begin(request);
    this.#breaker.beginProbe(permit);
    return permit;
  }

  #begin(request: PermitRequest): HeldPermit {
    const { client, deadlineMs, bound, isBackground = false } = request;
    this.#running++;
    if (isBackground) this.#backgroundRunning++;
    if (bound !== null) this.#instanceLimits.begin(bound);
    this.#latestNumber++;
    this.#queueFor(request).begin(client);
    this.#concurrency.recordRunning(this.#running);
    return new HeldPermit(this, this.#latestNumber, {
      client,
      bound,
      deadlineMs,
      isBackground,
      nowMs: this.#options.nowMs,
    });
  }

  #wait(request: PermitRequest): PermitOutcome {
    const { client, bound, isBackground = false } = request;
    const instance = bound?.instance ?? null;
    const queue = this.#queueFor(request);
    // The wait of a background call cannot be estimated.
    const ahead = isBackground ? 0 : queue.countAhead({ client, instance }) + 1;
    if (!this.#canMeetDeadline(request, ahead)) return this.refuse('too_late');
    if (queue.size >= this.#queueMax) {
      const victim = queue.findVictim(client);
      if (victim === null) return this.refuse('queue_full');
      this.#settle(victim, this.refuse('queue_full'));
    }
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#settle(entry, this.refuse('ended'));
        this.#fill();
      };
      const sinceMs = this.#options.nowMs();
      const entry = queue.add({ client, instance, request, sinceMs, resolve, onAbort, timer: null });
      request.signal.addEventListener('abort', onAbort);
      this.#startTimer(entry);
      this.#fill();
    });
  }

  /**
   * The call to run next. Calls that the bound of their instance or the share of their client holds back do not block
   * others.
   */
  get #next(): QueueEntry<QueuedRequest> | null {
    return this.#queue.findNext(({ request }) => this.#isBelowBound(request) && this.#isBelowShare(request));
  }

  /** Gives permits to waiting calls as long as there is room. */
  #fill(): void {
    // Background calls that have waited long enough come first: otherwise interactive calls would always take the free
    // permit.
    this.#fillBackground();
    if (!this.#fillInteractive()) return;
    this.#countHeldBack();
    this.#fillBackground();
  }

  /** Gives permits to interactive calls. Returns false if the next call waits for room. */
  #fillInteractive(): boolean {
    for (let entry = this.#next; entry !== null; entry = this.#next) {
      const { request } = entry.item.call;
      if (!this.#canMeetDeadline(request, 0)) this.#settle(entry, this.refuse('too_late'));
      else if (this.#hasRoom(request)) this.#settle(entry, this.#begin(request));
      else return false;
    }
    return true;
  }

  #fillBackground(): void {
    if (this.#backgroundQueue.size === 0) return;
    const findNext = () => this.#backgroundQueue.findNext((call) => this.#hasBackgroundRoom(call));
    for (let entry = findNext(); entry !== null; entry = findNext()) {
      const { request } = entry.item.call;
      const isInTime = this.#canMeetDeadline(request, 0);
      this.#settle(entry, isInTime ? this.#begin(request) : this.refuse('too_late'));
    }
  }

  /** Whether a background call may run now. Waiting background calls go first. */
  #mayBeginBackground(request: PermitRequest): boolean {
    const sinceMs = this.#options.nowMs();
    return this.#backgroundQueue.size === 0 && this.#hasBackgroundRoom({ request, sinceMs });
  }

  #hasBackgroundRoom({ request, sinceMs }: Pick<QueuedRequest, 'request' | 'sinceMs'>): boolean {
    const { limit } = this.#concurrency;
    if (this.#running >= limit || !this.#isBelowBound(request)) return false;
    const waitMs = this.#backgroundWaitMs;
    if (this.#options.nowMs() - sinceMs < waitMs) return false;
    return this.#backgroundRunning < (waitMs > 0 ? 1 : Math.max(1, Math.floor(limit * BACKGROUND_SHARE)));
  }

  /** Minimum wait of a background call before it runs beside interactive calls. */
  get #backgroundWaitMs(): number {
    if (this.#queue.size > 0) return WAIT_FOR_WAITING_MS;
    return this.#running > this.#backgroundRunning ? WAIT_FOR_RUNNING_MS : 0;
  }

  #queueFor({ isBackground }: Pick<PermitRequest, 'isBackground'>): FairQueue<QueuedRequest> {
    return isBackground === true ? this.#backgroundQueue : this.#queue;
  }

  /**
   * Calls that only the share of their client holds back count as full use of the limit, so that it may rise. They may
   * run once the other clients have not called recently, so the queue is checked again then.
   */
  #countHeldBack(): void {
    if (this.#queue.size === 0 || this.#running >= this.#concurrency.limit) return;
    if (this.#queue.findNext(({ request }) => this.#isBelowBound(request)) === null) return;
    this.#concurrency.recordRunning(this.#concurrency.limit);
    this.#refillTimer ??= setTimeout(() => {
      this.#refillTimer = null;
      this.#fill();
    }, RECENT_MS).unref();
  }

  /**
   * Starts the timer that refuses the call when no time is left for an answer. The deadline may have moved by then:
   * another caller of a shared read can allow more time.
   */
  #startTimer(entry: QueueEntry<QueuedRequest>): void {
    const { call } = entry.item;
    const leftMs = call.request.deadlineMs - this.#concurrency.longMs - this.#options.nowMs();
    // Only this timer notices that a background call has waited long enough.
    const waitMs = call.request.isBackground === true ? WAIT_FOR_RUNNING_MS : TIMER_MS_MAX;
    call.timer = setTimeout(
      () => {
        if (this.#canMeetDeadline(call.request, 0)) this.#startTimer(entry);
        else this.#settle(entry, this.refuse('too_late'));
        this.#fill();
      },
      Math.min(leftMs + 1, waitMs),
    );
  }

  /** Refuses waiting calls that can no longer meet their deadline, at any position. */
  #refuseLate(): void {
    this.#refuseAll('too_late', ({ request }) => !this.#canMeetDeadline(request, 0));
    this.#fill();
  }

  #refuseWaiting(): void {
    this.#refuseAll('breaker_open', ({ client }) => this.#breaker.refuses(client));
  }

  /** Removes matching calls from the queue at once, and refuses them in slices, because each refusal is expensive. */
  #refuseAll(refused: PermitRefusal['refused'], matches: (call: QueuedRequest) => boolean): void {
    const refusal = this.refuse(refused);
    const calls = [...this.#queue.entries(), ...this.#backgroundQueue.entries()]
      .filter((entry) => matches(entry.item.call) && this.#dequeue(entry))
      .map(({ item }) => item.call);
    runInSlices(calls, ({ resolve }) => resolve(refusal));
  }

  /** Ends the wait of a call, unless it has ended already. */
  #settle(entry: QueueEntry<QueuedRequest>, outcome: Permit | PermitRefusal): void {
    if (this.#dequeue(entry)) entry.item.call.resolve(outcome);
  }

  /** Removes a call from its queue. Returns whether it was still waiting. */
  #dequeue(entry: QueueEntry<QueuedRequest>): boolean {
    const { request, onAbort, timer } = entry.item.call;
    if (!this.#queueFor(request).remove(entry)) return false;
    if (timer !== null) clearTimeout(timer);
    request.signal.removeEventListener('abort', onAbort);
    return true;
  }

  #hasRoom(request: PermitRequest): boolean {
    if (!this.#isBelowBound(request) || !this.#isBelowShare(request)) return false;
    const { limit, limitMax } = this.#concurrency;
    // Running background calls do not reduce the room of interactive ones, except at the operator's bound.
    const isBelowLimit = this.#running - this.#backgroundRunning < limit && this.#running < limitMax;
    return isBelowLimit || this.#mayExceed(request);
  }

  #isBelowShare({ client }: PermitRequest): boolean {
    return this.#queue.countRunning(client) < this.#findShare(client);
  }

  /**
   * Number of permits that the client may hold: an equal share among active clients, or all if no other client is
   * active.
   */
  #findShare(client: string): number {
    const others = this.#queue.countOthers(client);
    const hasOther = others > 0 || this.#recentCallers.hasOther(client, this.#options.nowMs());
    return Math.ceil(this.#concurrency.limit / (1 + (hasOther ? Math.max(1, others) : 0)));
  }

  /**
   * Whether a client without a permit may exceed the limit, because another client holds more than its share. Running
   * calls cannot be stopped.
   */
  #mayExceed({ client }: PermitRequest): boolean {
    const { limit, limitMax } = this.#concurrency;
    const exceededMax = Math.min(limitMax, limit + Math.ceil(limit * EXTRA_SHARE));
    if (this.#running >= exceededMax || this.#queue.countRunning(client) > 0) return false;
    return this.#queue.mostRunning > this.#findShare(client);
  }

  #isBelowBound({ bound }: PermitRequest): boolean {
    return bound === null || !this.#instanceLimits.isReached(bound, this.#options.processes());
  }

  /** Maximum number of running calls of the same instance. */
  #limitFor({ bound }: PermitRequest): number {
    const { limit } = this.#concurrency;
    return bound === null ? limit : Math.min(limit, divideWhole(bound.max, this.#options.processes()));
  }

  get #queueMax(): number {
    const { queueMax, processes } = this.#options;
    return queueMax === 0 ? 0 : divideWhole(queueMax, processes());
  }

  /** Whether the call has time for an answer after `callsAhead` other calls have ended. */
  #canMeetDeadline(request: PermitRequest, callsAhead: number): boolean {
    const usualMs = this.#concurrency.usualMs;
    const waitMs = (callsAhead * usualMs) / this.#limitFor(request);
    return this.#options.nowMs() + waitMs + this.#concurrency.longMs <= request.deadlineMs;
  }

  refuse(refused: PermitRefusal['refused']): PermitRefusal {
    return {
      refused,
      retryAfterSeconds: refused === 'breaker_open' ? this.#breaker.retryAfterSeconds : this.#drainSeconds,
    };
  }

  /** Estimated seconds until all calls that wait now have begun. */
  get #drainSeconds(): number {
    const seconds = (this.#queue.size * this.#concurrency.usualMs) / this.#concurrency.limit / 1000;
    return Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(seconds)));
  }
}

interface HeldPermitOptions extends Required<Omit<PermitRequest, 'database' | 'signal'>> {
  nowMs: () => number;
}

class HeldPermit implements Permit, CheckedPermit {
  readonly number: number;
  readonly client: string;
  readonly bound: InstanceBound | null;
  readonly isBackground: boolean;
  startedMs: number;
  readonly deadlineMs: number;
  answeredMs: number | null = null;
  readonly #limiter: DatabaseLimiter;
  readonly #nowMs: () => number;
  #isReleased = false;

  constructor(
    limiter: DatabaseLimiter,
    number: number,
    { client, bound, deadlineMs, isBackground, nowMs }: HeldPermitOptions,
  ) {
    this.#limiter = limiter;
    this.number = number;
    this.client = client;
    this.bound = bound;
    this.isBackground = isBackground;
    this.startedMs = nowMs();
    this.#nowMs = nowMs;
    this.deadlineMs = deadlineMs;
  }

  get interactiveMs(): number | null {
    return this.#limiter.interactiveMs;
  }

  markSent(): void {
    this.startedMs = this.#nowMs();
  }

  markAnswered(): void {
    this.answeredMs = this.#nowMs();
    this.#limiter.recordAnswer(this);
  }

  mayRetry(waitMs: number): boolean {
    return this.#limiter.mayRetry(this, waitMs);
  }

  release(result: PermitResult): void {
    if (this.#isReleased) throw new Error('A permit can be released only once.');
    this.#isReleased = true;
    this.#limiter.release(this, result);
  }
}

interface QueuedRequest {
  readonly client: string;
  readonly instance: string | null;
  readonly request: PermitRequest;
  /** Time at which the call began to wait. */
  readonly sinceMs: number;
  readonly resolve: (outcome: Permit | PermitRefusal) => void;
  readonly onAbort: () => void;
  timer: NodeJS.Timeout | null;
}

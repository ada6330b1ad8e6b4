/**
 * The time limit of a request, and whether the request continues without its caller. It is the only object of a request
 * that its calls change. A read that several requests share has its own.
 */
import type { Indexed } from '@erp-proxy/async/tasks';

export interface RequestTimeOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Default time limit in milliseconds. */
  defaultMs: number;
  /** Closes the caller's connection if the answer has not been sent some time after the end. */
  cutOff?: () => void;
}

export class RequestTime {
  readonly deadline: Deadline;
  readonly #nowMs: () => number;
  readonly #onExtended: (() => void)[] = [];
  /** True if the caller sent `x-request-timeout`. */
  #isAsked = false;
  /** True for the time limit of a part, which is that of one instance. */
  #isPart = false;
  #allowedMs: number;
  #dueMs = Number.POSITIVE_INFINITY;
  #hasCallerLeft = false;
  /** Number of calls that continue if the caller leaves. */
  #outlivingCalls = 0;

  constructor({ nowMs, defaultMs, cutOff }: RequestTimeOptions) {
    this.#nowMs = nowMs;
    this.#allowedMs = defaultMs;
    this.deadline = new Deadline(cutOff);
  }

  get signal(): AbortSignal {
    return this.deadline.signal;
  }

  /** End of the time limit, by the monotonic clock. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Whole milliseconds until the end of the time limit. */
  get leftMs(): number {
    return Math.max(0, Math.ceil(this.#dueMs - this.#nowMs()));
  }

  get hasCallerLeft(): boolean {
    return this.#hasCallerLeft;
  }

  /** Starts the clock after the body has arrived. `askedMs` is the time limit that the caller set; null if none. */
  start(askedMs: number | null): void {
    this.#isAsked = askedMs !== null;
    this.#restart(askedMs ?? this.#allowedMs);
  }

  /** Starts the clock anew, with the time limit that applies now: for requests whose calls each have it. */
  renew(): void {
    this.#restart(this.#allowedMs);
  }

  /** Stops the clock until {@link renew}: for waits that have a bound of their own. */
  pause(): void {
    if (this.signal.aborted) return;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.deadline.clear();
  }

  /**
   * Starts the time limit of a part of the request, for one of several calls at once: that of the request if its caller
   * set one, otherwise `defaultMs` or that of the stored instance. The part ends with the request. `end` must be called
   * after its last call.
   */
  startPart(defaultMs: number): { time: RequestTime; end: () => void } {
    const time = new RequestTime({ nowMs: this.#nowMs, defaultMs });
    time.#isPart = true;
    time.#isAsked = this.#isAsked;
    // With a clock of its own, the part could end a moment before the request.
    if (this.#isAsked) time.extendTo(this.#dueMs);
    else time.#restart(Math.min(defaultMs, this.leftMs));
    const endWithRequest = () => {
      if (this.deadline.reason !== 'caller_left') return time.deadline.end(this.deadline.reason!);
      // The request, which has ended, does not end a call that continues without its caller.
      if (this.#isAsked) time.deadline.startClock(time.leftMs);
      time.callerLeft();
    };
    if (this.signal.aborted) endWithRequest();
    else this.signal.addEventListener('abort', endWithRequest, { once: true });
    return {
      time,
      end: () => {
        this.signal.removeEventListener('abort', endWithRequest);
        time.deadline.clear();
      },
    };
  }

  /**
   * Applies the time limit of a stored instance, unless the caller set one. A batch gets the longest time limit of its
   * calls.
   */
  allow(timeoutMs: number, isBatch: boolean): void {
    if (this.#isAsked) return;
    const isShared = isBatch && !this.#isPart;
    if (isShared ? timeoutMs <= this.#allowedMs : timeoutMs === this.#allowedMs) return;
    this.#restart(timeoutMs);
    for (const listener of this.#onExtended) listener();
  }

  /** Calls `listener` each time {@link allow} changes the time limit. */
  onExtended(listener: () => void): void {
    this.#onExtended.push(listener);
  }

  /** For a shared read: moves the end to `dueMs` if that is later. The caller of this method enforces the end. */
  extendTo(dueMs: number): void {
    this.#dueMs = this.#dueMs === Number.POSITIVE_INFINITY ? dueMs : Math.max(this.#dueMs, dueMs);
  }

  /** Records that the caller has left. The request ends now, or when no call continues without its caller. */
  callerLeft(): void {
    this.#hasCallerLeft = true;
    this.#endIfAbandoned();
  }

  /** Lets the request continue without its caller until the returned function is called. */
  outliveCaller(): () => void {
    this.#outlivingCalls++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#outlivingCalls--;
      this.#endIfAbandoned();
    };
  }

  #endIfAbandoned(): void {
    if (this.#hasCallerLeft && this.#outlivingCalls === 0) this.deadline.end('caller_left');
  }

  #restart(allowedMs: number): void {
    this.#allowedMs = allowedMs;
    this.#dueMs = this.#nowMs() + allowedMs;
    this.deadline.startClock(allowedMs);
  }
}

export type EndReason = 'timeout' | 'caller_left' | 'shutdown';

/** Time for sending the answers, mostly errors, after the end. */
const SENDING_MS = 2000;

/**
 * The single signal that ends a request early: after its time limit, when its caller leaves, or after the grace time
 * of a shutdown. It has the reason, which determines the answer.
 */
export class Deadline implements Indexed {
  index = -1;
  readonly #controller = new AbortController();
  readonly #cutOff: (() => void) | null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Creates a deadline whose clock is not running yet, because the time in which a client sends its body does not
   * count. `cutOff` is called if the answer has not been sent some time after the end, because its caller does not read
   * it.
   */
  constructor(cutOff: (() => void) | null = null) {
    this.#cutOff = cutOff;
  }

  /** Its `reason` is an {@link EndReason} after the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Null before the end. */
  get reason(): EndReason | null {
    return this.signal.aborted ? this.signal.reason : null;
  }

  end(reason: EndReason): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    if (this.#cutOff !== null) this.#timer = setTimeout(this.#cutOff, SENDING_MS);
    this.#controller.abort(reason);
  }

  /** Starts or restarts the clock: `timeoutMs` from now until the last byte of the answer. */
  startClock(timeoutMs: number): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs);
  }

  /** Stops the clock. Must be called after the answer was sent. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Maximum time limit of a call (docs/execute.md#headers). */
export const TIMEOUT_MS_MAX = 300_000;

/** Reads the time limit that the caller sets, at most 300 s. Returns null if it is absent, 0 or not an integer. */
export function readTimeoutMs(header: string | undefined): number | null {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return null;
  const seconds = Number(header);
  return seconds === 0 ? null : Math.min(seconds * 1000, TIMEOUT_MS_MAX);
}

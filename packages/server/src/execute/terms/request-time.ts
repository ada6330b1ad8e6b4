/**
 * The time of a request: how long it may take, and whether it goes on without its caller. The one object of a request
 * that its calls may change. A read that several requests share has one of its own.
 */
import { createDeadline, type Deadline } from './deadline.ts';

export interface RequestTimeOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Milliseconds that a request has by default. */
  defaultMs: number;
  /** Closes the caller's connection, if the answer has not left some time after the end. */
  cutOff?: () => void;
}

export class RequestTime {
  readonly deadline: Deadline;
  readonly #nowMs: () => number;
  readonly #onExtended: (() => void)[] = [];
  /** True if the caller sent `x-request-timeout`. */
  #isAsked = false;
  #allowedMs: number;
  #dueMs = Number.POSITIVE_INFINITY;
  #hasCallerLeft = false;
  /** Calls that continue if the caller leaves. */
  #outliving = 0;

  constructor({ nowMs, defaultMs, cutOff }: RequestTimeOptions) {
    this.#nowMs = nowMs;
    this.#allowedMs = defaultMs;
    this.deadline = createDeadline(cutOff);
  }

  get signal(): AbortSignal {
    return this.deadline.signal;
  }

  /** When the time is over, by the monotonic clock. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Whole milliseconds until then. */
  get leftMs(): number {
    return Math.max(0, Math.ceil(this.#dueMs - this.#nowMs()));
  }

  get hasCallerLeft(): boolean {
    return this.#hasCallerLeft;
  }

  /** Starts the clock, once the body is there. `askedMs` is null if the caller asked for no time. */
  start(askedMs: number | null): void {
    this.#isAsked = askedMs !== null;
    this.#restart(askedMs ?? this.#allowedMs);
  }

  /** Applies the time limit of a stored instance, unless the caller asked for a time. A batch has the longest of its calls. */
  allow(timeoutMs: number, isBatch: boolean): void {
    if (this.#isAsked) return;
    if (isBatch ? timeoutMs <= this.#allowedMs : timeoutMs === this.#allowedMs) return;
    this.#restart(timeoutMs);
    for (const listener of this.#onExtended) listener();
  }

  /** Calls `listener` each time that {@link allow} changes the time. */
  onExtended(listener: () => void): void {
    this.#onExtended.push(listener);
  }

  /** For a shared read: the time lasts at least until `dueMs`. The caller of this method enforces it. */
  extendTo(dueMs: number): void {
    this.#dueMs = this.#dueMs === Number.POSITIVE_INFINITY ? dueMs : Math.max(this.#dueMs, dueMs);
  }

  /** The caller has left: the request ends, unless calls outlive it. */
  callerLeft(): void {
    this.#hasCallerLeft = true;
    this.#endForNobody();
  }

  /** Lets the request continue without its caller until the returned function is called. */
  outliveCaller(): () => void {
    this.#outliving++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#outliving--;
      this.#endForNobody();
    };
  }

  #endForNobody(): void {
    if (this.#hasCallerLeft && this.#outliving === 0) this.deadline.end('caller_left');
  }

  #restart(allowedMs: number): void {
    this.#allowedMs = allowedMs;
    this.#dueMs = this.#nowMs() + allowedMs;
    this.deadline.startClock(allowedMs);
  }
}

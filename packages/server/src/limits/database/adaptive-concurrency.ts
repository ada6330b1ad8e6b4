/**
 * How many calls at once a server takes before they queue inside it, found from how long its answers take: additive
 * increase and multiplicative decrease, as in TCP and, for servers, in Netflix's concurrency-limits.
 *
 * Answers are judged by windows of a level's worth each. Where they take no longer than at rest, the level rises by one;
 * where they take half as long again, they queue inside the server, and it sinks by a tenth. So it settles at about one
 * and a half times the server's workers, enough that none idles between two calls. A few milliseconds more are no queue
 * (and would hurt nobody): so much comes from how busy machines share out their processors, on either side.
 *
 * How long answers take at rest is looked at now and then, at half the level (as BBR's ProbeRTT does): of a level up to
 * twice the workers, the half queues nowhere. Were it only remembered, it could creep up together with the level.
 *
 * A window counts by the geometric mean of its answers, of which a report of ten seconds among reads of ten milliseconds
 * changes little.
 */
import { divideWhole } from '../share.ts';

export interface ConcurrencyBounds {
  initial: number;
  min: number;
  max: number;
}

/** Of a window, however low the level: the mean of fewer says little. */
const ANSWERS_MIN = 10;
/** Of a look, by which many windows are judged. */
const LOOK_ANSWERS_MIN = 20;
/** Answers that take longer than at rest by this factor queue. Below 2, or looks at half the level would not converge. */
const TOLERANCE = Math.log(1.5);
/** And by so much, however short they are at rest. */
const TOLERANCE_MS = 5;
const DECREASE = 0.9;
/** Calls of all lengths must not make it seem that hardly any wait is worth while. */
const LONG_MAX = Math.log(5);
/** The level is whole again for this many times what the last look took, which is long where most of the calls are. */
const LOOK_INTERVAL = 20;
/** A look takes for ever where calls cease while it lasts. */
const LOOK_INTERVAL_MS_MAX = 300_000;

export class AdaptiveConcurrency {
  readonly #bounds: ConcurrencyBounds;
  readonly #processes: () => number;
  #level: number;
  /** Logarithm of the milliseconds that an answer takes at rest; null while unknown. */
  #restLog: number | null = null;
  #usualMs = 0;
  #longMs = 0;
  #isLooking = false;
  /** When the look began, or the last one ended. */
  #lookedMs = 0;
  #lookTookMs = 0;
  /** The level at that time. */
  #lookedLevel: number;
  /** Turns up to this number began before the window. */
  #windowStart = 0;
  #answers = 0;
  #logSum = 0;
  #squareSum = 0;
  #runningMax = 0;
  /** Turns up to this number began before the level was last halved. */
  #halvedAt = 0;

  /** `processes`: how many keep the bounds together, each its part. */
  constructor(bounds: ConcurrencyBounds, processes: () => number = () => 1) {
    this.#bounds = bounds;
    this.#processes = processes;
    this.#level = this.#bound(this.#divide(bounds.initial));
    this.#lookedLevel = this.#level;
  }

  /** Calls at once. */
  get limit(): number {
    return Math.floor(this.#isLooking ? this.#half : this.#bound(this.#level));
  }

  /** The highest that it can come to. */
  get limitMax(): number {
    return this.#divide(this.#bounds.max);
  }

  /** Milliseconds that an answer takes at present; 0 while unknown. */
  get usualMs(): number {
    return this.#usualMs;
  }

  /** Milliseconds in which nearly all answers are there at present; 0 while unknown. */
  get longMs(): number {
    return this.#longMs;
  }

  /** A call has begun, and so many run. */
  begin(running: number): void {
    if (running > this.#runningMax) this.#runningMax = running;
  }

  /** Permit `turn` was answered; `latest` is the last that has begun. */
  answer(turn: number, latest: number, tookMs: number, nowMs: number): void {
    if (turn <= this.#windowStart) return;
    this.#answers++;
    const log = Math.log(Math.max(tookMs, 1));
    this.#logSum += log;
    this.#squareSum += log * log;
    if (this.#answers < Math.max(this.limit, this.#isLooking ? LOOK_ANSWERS_MIN : ANSWERS_MIN)) return;
    this.#judge(this.#logSum / this.#answers, nowMs);
    this.#startWindow(latest);
  }

  /** The server did not bear turn `turn`: halves the level, once for all that ran at that time. */
  halve(turn: number, latest: number): void {
    if (turn <= this.#halvedAt) return;
    this.#level = this.#half;
    this.#halvedAt = latest;
    this.#startWindow(latest);
  }

  /** From below, since the server was away and comes back cold. */
  restart(latest: number): void {
    this.#level = this.#divide(this.#bounds.min);
    this.#isLooking = false;
    this.#startWindow(latest);
  }

  get #half(): number {
    return this.#bound(this.#level / 2);
  }

  #bound(level: number): number {
    return Math.min(this.#divide(this.#bounds.max), Math.max(this.#divide(this.#bounds.min), level));
  }

  #divide(bound: number): number {
    return divideWhole(bound, this.#processes());
  }

  #judge(log: number, nowMs: number): void {
    this.#usualMs = Math.exp(log);
    const deviation = Math.sqrt(Math.max(0, this.#squareSum / this.#answers - log * log));
    this.#longMs = Math.exp(log + Math.min(2 * deviation, LONG_MAX));
    const isAtRest = this.#isLooking || this.#runningMax <= this.#half;
    if (isAtRest) this.#restLog = log;
    if (this.#restLog !== null && log > tolerate(this.#restLog))
      this.#level = this.#bound(this.#level * DECREASE);
    // A level that nobody uses must not rise, nor one that is halved for a look.
    else if (!this.#isLooking && this.#runningMax >= this.limit) this.#level = this.#bound(this.#level + 1);
    if (isAtRest) this.#endLook(nowMs);
    else if (this.#isLookDue(nowMs)) this.#startLook(nowMs);
  }

  /** Where the level has come to half or double of what it was, the calls may be other ones than they were. */
  #isLookDue(nowMs: number): boolean {
    if (this.#level <= this.#lookedLevel / 2 || this.#level >= this.#lookedLevel * 2) return true;
    return nowMs - this.#lookedMs >= Math.min(LOOK_INTERVAL * this.#lookTookMs, LOOK_INTERVAL_MS_MAX);
  }

  #startLook(nowMs: number): void {
    this.#isLooking = true;
    this.#lookedMs = nowMs;
  }

  /** Also where nobody used more than half the level, which is a look that cost nothing. */
  #endLook(nowMs: number): void {
    if (this.#isLooking) this.#lookTookMs = nowMs - this.#lookedMs;
    this.#isLooking = false;
    this.#lookedMs = nowMs;
    this.#lookedLevel = this.#level;
  }

  #startWindow(latest: number): void {
    this.#windowStart = latest;
    this.#answers = 0;
    this.#logSum = 0;
    this.#squareSum = 0;
    this.#runningMax = 0;
  }
}

/** Of the logarithm of the milliseconds at rest: that of the longest which are no queue. */
function tolerate(restLog: number): number {
  return Math.max(restLog + TOLERANCE, Math.log(Math.exp(restLog) + TOLERANCE_MS));
}

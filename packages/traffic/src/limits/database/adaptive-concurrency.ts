/**
 * The adaptive concurrency limit of a server: the number of simultaneous calls that it takes before they queue inside
 * it. Derived from answer times by additive increase and multiplicative decrease (AIMD), as in TCP and in Netflix's
 * concurrency-limits.
 *
 * Answers are checked in windows of as many answers as the limit. If a window is about as fast as the baseline, the
 * limit rises by one. If it is more than 1.5 times as slow, calls queue inside the server, and the limit falls by a
 * tenth. The limit thus settles at about 1.5 times the server's workers, so that no worker idles between two calls. A
 * difference of a few milliseconds is ignored: busy processors on either side cause it, and it is harmless.
 *
 * The baseline is the answer time without queueing. It is measured regularly at half the limit, like ProbeRTT in BBR:
 * if the limit is at most twice the number of workers, half of it does not queue. A baseline that was only remembered
 * could rise together with the limit.
 *
 * A window counts by the geometric mean of its answer times. A report of ten seconds among reads of ten milliseconds
 * changes it little.
 */
import { divideWhole } from '../admitted.ts';

export interface ConcurrencyBounds {
  initial: number;
  min: number;
  max: number;
}

/** Minimum number of answers in a window. The mean of fewer answers is too imprecise. */
const ANSWERS_MIN = 10;
/** Minimum number of answers in a measurement of the baseline, with which many windows are compared. */
const BASELINE_ANSWERS_MIN = 20;
/**
 * Calls queue if they take longer than the baseline by this factor. It must be below 2, or measurements at half the
 * limit would not converge.
 */
const TOLERANCE = Math.log(1.5);
/** Minimum tolerance in milliseconds, however short the baseline is. */
const TOLERANCE_MS = 5;
const DECREASE = 0.9;
/**
 * Maximum factor between `longMs` and `usualMs`. A larger one, from calls of very different lengths, could rule out any
 * waiting.
 */
const LONG_MAX = Math.log(5);
/**
 * Time between two measurements of the baseline, as a multiple of the duration of the last measurement. Most calls run
 * in that time.
 */
const MEASURE_INTERVAL = 20;
/**
 * Maximum time between two measurements. A measurement during which no calls arrive would otherwise delay the next one
 * without limit.
 */
const MEASURE_INTERVAL_MS_MAX = 300_000;

/**
 * Maximum of `#slowestMs`: one report of a minute does not show that other calls take as long. Other calls must still
 * show that a server hangs.
 */
const SLOWEST_MS_MAX = 10_000;

/**
 * The adaptive limit of one server. Permits are identified by their numbers; `latest` is the number of the latest
 * permit.
 */
export class AdaptiveConcurrency {
  readonly #bounds: ConcurrencyBounds;
  readonly #processes: () => number;
  /** The limit before rounding, and before it is halved for a measurement. */
  #limit: number;
  /** Logarithm of the baseline in milliseconds; null while unknown. */
  #baselineLog: number | null = null;
  #usualMs = 0;
  /** The longest answer time so far, at most SLOWEST_MS_MAX, until the mean is known. */
  #slowestMs = 0;
  #longMs = 0;
  #isMeasuring = false;
  /** Start of the current measurement, or end of the last one. */
  #measuredMs = 0;
  #measureTookMs = 0;
  /** The limit at the end of the last measurement. */
  #measuredLimit: number;
  /** Permits up to this number began before the window. */
  #windowStart = 0;
  #answers = 0;
  #logSum = 0;
  #squareSum = 0;
  #runningMax = 0;
  /** Permits up to this number began before the limit was last halved. */
  #halvedAt = 0;

  /** `processes`: number of processes that share the bounds equally. */
  constructor(bounds: ConcurrencyBounds, processes: () => number = () => 1) {
    this.#bounds = bounds;
    this.#processes = processes;
    this.#limit = this.#clamp(this.#divide(bounds.initial));
    this.#measuredLimit = this.#limit;
  }

  /** Maximum number of simultaneous calls at present. */
  get limit(): number {
    return Math.floor(this.#isMeasuring ? this.#half : this.#clamp(this.#limit));
  }

  /** The highest possible limit. */
  get limitMax(): number {
    return this.#divide(this.#bounds.max);
  }

  /** Current mean answer time in milliseconds; 0 while unknown. */
  get usualMs(): number {
    return this.#usualMs;
  }

  /**
   * Milliseconds after which an answer is late: the mean, or the longest time so far if there are too few answers for a
   * mean. 0 if there was no answer.
   */
  get expectedMs(): number {
    return this.#usualMs === 0 ? this.#slowestMs : this.#usualMs;
  }

  /** Milliseconds within which nearly all answers arrive at present; 0 while unknown. */
  get longMs(): number {
    return this.#longMs;
  }

  /** Must be called when a call begins, with the number of running calls. */
  recordRunning(running: number): void {
    if (running > this.#runningMax) this.#runningMax = running;
  }

  addAnswer(permit: number, latest: number, tookMs: number, nowMs: number): void {
    if (this.#usualMs === 0) this.#slowestMs = Math.min(SLOWEST_MS_MAX, Math.max(this.#slowestMs, tookMs));
    if (permit <= this.#windowStart) return;
    this.#answers++;
    const log = Math.log(Math.max(tookMs, 1));
    this.#logSum += log;
    this.#squareSum += log * log;
    if (this.#answers < Math.max(this.limit, this.#isMeasuring ? BASELINE_ANSWERS_MIN : ANSWERS_MIN)) return;
    this.#check(this.#logSum / this.#answers, nowMs);
    this.#startWindow(latest);
  }

  /** Halves the limit because a call overloaded the server: once for all calls that ran at that time. */
  halve(permit: number, latest: number): void {
    if (permit <= this.#halvedAt) return;
    this.#limit = this.#half;
    this.#halvedAt = latest;
    this.#startWindow(latest);
  }

  /** Restarts at the minimum, because a server returns from an outage with cold caches. */
  restart(latest: number): void {
    this.#limit = this.#divide(this.#bounds.min);
    this.#isMeasuring = false;
    this.#startWindow(latest);
  }

  get #half(): number {
    return this.#clamp(this.#limit / 2);
  }

  #clamp(limit: number): number {
    return Math.min(this.#divide(this.#bounds.max), Math.max(this.#divide(this.#bounds.min), limit));
  }

  #divide(bound: number): number {
    return divideWhole(bound, this.#processes());
  }

  #check(log: number, nowMs: number): void {
    this.#usualMs = Math.exp(log);
    const deviation = Math.sqrt(Math.max(0, this.#squareSum / this.#answers - log * log));
    this.#longMs = Math.exp(log + Math.min(2 * deviation, LONG_MAX));
    const isBaseline = this.#isMeasuring || this.#runningMax <= this.#half;
    if (isBaseline) this.#baselineLog = log;
    if (this.#baselineLog !== null && log > tolerate(this.#baselineLog))
      this.#limit = this.#clamp(this.#limit * DECREASE);
    // The limit rises only if calls reached it, and not during a measurement.
    else if (!this.#isMeasuring && this.#runningMax >= this.limit) this.#limit = this.#clamp(this.#limit + 1);
    if (isBaseline) this.#endMeasurement(nowMs);
    else if (this.#isMeasurementDue(nowMs)) this.#startMeasurement(nowMs);
  }

  /**
   * Whether a measurement is due. If the limit has halved or doubled since the last one, the kind of calls has probably
   * changed.
   */
  #isMeasurementDue(nowMs: number): boolean {
    if (this.#limit <= this.#measuredLimit / 2 || this.#limit >= this.#measuredLimit * 2) return true;
    const intervalMs = Math.min(MEASURE_INTERVAL * this.#measureTookMs, MEASURE_INTERVAL_MS_MAX);
    return nowMs - this.#measuredMs >= intervalMs;
  }

  #startMeasurement(nowMs: number): void {
    this.#isMeasuring = true;
    this.#measuredMs = nowMs;
  }

  /** Also called when calls happened to use at most half the limit, which measures the baseline at no cost. */
  #endMeasurement(nowMs: number): void {
    if (this.#isMeasuring) this.#measureTookMs = nowMs - this.#measuredMs;
    this.#isMeasuring = false;
    this.#measuredMs = nowMs;
    this.#measuredLimit = this.#limit;
  }

  #startWindow(latest: number): void {
    this.#windowStart = latest;
    this.#answers = 0;
    this.#logSum = 0;
    this.#squareSum = 0;
    this.#runningMax = 0;
  }
}

/** The longest mean answer time that counts as free of queueing. Both values are logarithms of milliseconds. */
function tolerate(baselineLog: number): number {
  return Math.max(baselineLog + TOLERANCE, Math.log(Math.exp(baselineLog) + TOLERANCE_MS));
}

/** Initial concurrency limit: what a small Odoo server can handle. */
const INITIAL = 8;

/** Chooses the bounds of the adaptive concurrency limit of a database from the settings. */
export function chooseConcurrencyBounds({
  concurrency: max,
  concurrencyMin,
}: {
  concurrency: number;
  concurrencyMin: number;
}): ConcurrencyBounds {
  const min = Math.min(concurrencyMin, max);
  return { initial: Math.min(Math.max(INITIAL, min), max), min, max };
}

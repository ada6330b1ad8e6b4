/**
 * Admits requests while this process has processor time for them, whatever their caller and target. A call that waits
 * for Odoo takes no processor time and is not counted. The clock and the event loop are passed in. Knows nothing of
 * HTTP.
 *
 * The measure is the duration of a turn (one iteration) of the event loop. A call is served in pieces over several
 * turns, so that each piece waits for the length of a turn. The number of requests admitted per turn is adapted to keep
 * turns short. Other requests wait in a queue, where they have cost little so far. The loop does not pause while a
 * request waits.
 *
 * A stall or a burst makes requests wait, but none is refused. When the queue has not been empty for {@link BURST_MS},
 * it may hold only as many requests as can be served within {@link BURST_WAIT_MS} of the time at which it began to
 * fill. The queue shrinks at the rate of admissions minus the rate of requests from returning callers, who were
 * answered before and call again. Callers of a burst send one call each. Returning callers replace served ones, so that
 * the queue stands: it is then kept short, as CoDel does (RFC 8289). Requests are admitted and refused from its head.
 *
 * Unlimited refusals would take all processor time from the admitted calls. So refusals get a share of the time, part
 * of which is saved up. If the share is not enough, the queue grows again, up to the number of callers.
 */

/** A request that is admitted or refused once, unless its caller leaves before. */
export interface SheddableRequest {
  readonly hasCallerLeft: boolean;
  /** True if the request is known to be the first on its connection. */
  readonly isFirst?: boolean;
  admit(): void;
  refuse(): void;
}

export interface LoadShedderOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Calls back at the end of the current turn of the event loop, and keeps the loop from pausing (`setImmediate`). */
  atEndOfTurn: (callback: () => void) => void;
  /** Called with the number of refusals of a turn, if there were any. */
  onRefused: (count: number) => void;
}

/**
 * Target duration of a turn. Long enough to do the same work for several calls at once, which is cheaper. A call takes
 * about six turns.
 */
const TURN_MS = 3;
/**
 * For this long after a new connection, turns are shorter: Node accepts one connection per turn, and further ones may
 * wait.
 */
const CONNECTING_MS = 20;
const CONNECTING_TURN_MS = 0.3;
/** Turns between sending the request to Odoo and receiving the head of its answer: to connect, to write, to read. */
const TURNS_PER_ANSWER = 3;
/** Admissions per turn: the initial number and its bounds. */
const ADMISSIONS_PER_TURN_INITIAL = 16;
const ADMISSIONS_PER_TURN_MIN = 0.1;
const ADMISSIONS_PER_TURN_MAX = 64;
/** Factors by which the admissions per turn are adapted: they fall faster than they rise. */
const SHRINK = 0.9;
const GROW = 1.05;
/**
 * Longest time for which the queue may stay non-empty before its length is limited. Counted in periods of {@link
 * STANDING_MS}: a stall of the process makes one period longer, but says nothing about the calls.
 */
const BURST_MS = 2000;
/**
 * For this long after a connection, more may follow: accepting 10,000 connections takes this process two to three
 * seconds.
 */
const CONNECTED_MS = 500;
/** Longest time in which a burst is served, which is less than most callers wait. */
const BURST_WAIT_MS = 10_000;
/** At most as many requests may wait in a standing queue as were admitted in the last {@link STANDING_MS}. */
const STANDING_MS = 250;
/**
 * Weight of the last {@link STANDING_MS} in the average rate of admissions. Low, because a stall must not look like
 * overload.
 */
const ADMISSION_WEIGHT = 0.25;
/**
 * While requests are refused, and for this long afterwards, the maximum above is divided by {@link STANDING_DIVISOR}.
 */
const REFUSING_MS = 2000;
const STANDING_DIVISOR = 10;
/** This many requests may always wait, however few were admitted. */
const WAITING_MIN = 32;
/** Share of the time that refusals may take in the long run. */
const REFUSING_SHARE = 0.2;
/**
 * Maximum time saved up for refusals, by which a long queue is shortened quickly. A caller that is refused early calls
 * again while its connection is still in the processor's caches.
 */
const REFUSING_MS_MAX = 1000;
/** Share of a single turn that refusals may take. */
const REFUSING_TURN_SHARE = 0.5;

export class LoadShedder {
  readonly #options: LoadShedderOptions;
  #admissionsPerTurn = ADMISSIONS_PER_TURN_INITIAL;
  /** Admissions left in this turn. A rate below one per turn adds up over several turns. */
  #admissionsLeft = ADMISSIONS_PER_TURN_INITIAL;
  #refusingBudgetMs = REFUSING_MS_MAX;
  #budgetUpdatedMs = 0;
  #isTurnWatched = false;
  /** Start of the current turn; null if the loop may have paused during it. */
  #turnStartedMs: number | null = null;
  /** Average duration of a turn, moving over some dozens of turns. */
  #averageTurnMs = TURN_MS;
  #lastConnectionMs = Number.NEGATIVE_INFINITY;
  readonly #queue = new RequestQueue();
  /** The time since which the queue has not been empty, and the number of periods of {@link STANDING_MS} since then. */
  #waitingSinceMs = 0;
  #waitingPeriods = 0;
  /** How many requests of a burst may wait. The number only falls, until the queue is empty. */
  #burstMax = 0;
  /** Number of requests from returning callers, and number of admissions, since `#countedMs`. */
  #returned = 0;
  #admitted = 0;
  #countedMs = 0;
  /** Rates per millisecond: recent admissions, and requests of returning callers in the last {@link STANDING_MS}. */
  #admissionRate = 0;
  #returnRate = 0;
  #lastRefusalMs = Number.NEGATIVE_INFINITY;

  constructor(options: LoadShedderOptions) {
    this.#options = options;
  }

  /** Milliseconds for which this process delays the reading of Odoo's answers; 0 while no request waits. */
  get delayMs(): number {
    return this.#queue.isEmpty ? 0 : this.#averageTurnMs * TURNS_PER_ANSWER;
  }

  /** Records that a client has connected. */
  recordConnection(): void {
    this.#lastConnectionMs = this.#options.nowMs();
  }

  /** Admits the request now, or queues it. */
  submit(request: SheddableRequest): void {
    this.#watchTurn();
    if (request.isFirst !== true) this.#returned++;
    if (this.#queue.isEmpty) {
      if (this.#admissionsLeft >= 1) {
        this.#admit(request);
        return;
      }
      this.#waitingSinceMs = this.#options.nowMs();
      this.#waitingPeriods = 0;
      this.#burstMax = this.#isRefusing(this.#waitingSinceMs) ? 0 : Number.POSITIVE_INFINITY;
    }
    this.#queue.add(request);
  }

  /** Admits all waiting requests, however long that takes. */
  admitAll(): void {
    for (let request = this.#queue.take(); request !== null; request = this.#queue.take()) {
      if (!request.hasCallerLeft) request.admit();
    }
  }

  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    this.#options.atEndOfTurn(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnWatched = false;
    const perTurn = this.#admissionsPerTurn;
    this.#admissionsLeft = Math.min(this.#admissionsLeft + perTurn, Math.max(perTurn, 1));
    if (this.#queue.isEmpty) {
      this.#turnStartedMs = null;
      return;
    }
    this.#watchTurn();
    const nowMs = this.#options.nowMs();
    const turnMs = this.#turnStartedMs === null ? 0 : nowMs - this.#turnStartedMs;
    this.#turnStartedMs = nowMs;
    if (turnMs > 0) this.#adapt(turnMs, nowMs);
    this.#refuseExcess(turnMs, nowMs);
    this.#admitWaiting();
    this.#countRequests(nowMs);
  }

  #adapt(turnMs: number, nowMs: number): void {
    this.#averageTurnMs += (turnMs - this.#averageTurnMs) / 32;
    const targetMs = nowMs - this.#lastConnectionMs < CONNECTING_MS ? CONNECTING_TURN_MS : TURN_MS;
    const perTurn = this.#admissionsPerTurn * (turnMs > targetMs ? SHRINK : GROW);
    this.#admissionsPerTurn = Math.min(Math.max(perTurn, ADMISSIONS_PER_TURN_MIN), ADMISSIONS_PER_TURN_MAX);
  }

  #refuseExcess(turnMs: number, nowMs: number): void {
    const savedMs = this.#refusingBudgetMs + REFUSING_SHARE * (nowMs - this.#budgetUpdatedMs);
    this.#refusingBudgetMs = Math.min(savedMs, REFUSING_MS_MAX);
    this.#budgetUpdatedMs = nowMs;
    const waitingMax = this.#findWaitingMax(nowMs);
    const allowedMs = Math.min(this.#refusingBudgetMs, REFUSING_TURN_SHARE * turnMs);
    let tookMs = 0;
    let count = 0;
    while (tookMs < allowedMs && this.#queue.length > waitingMax) {
      const request = this.#queue.take();
      if (request === null || request.hasCallerLeft) continue;
      request.refuse();
      count++;
      tookMs = this.#options.nowMs() - nowMs;
    }
    this.#refusingBudgetMs -= tookMs;
    if (count === 0) return;
    this.#lastRefusalMs = nowMs;
    this.#options.onRefused(count);
  }

  #findWaitingMax(nowMs: number): number {
    const isRefusing = this.#isRefusing(nowMs);
    if (!isRefusing && this.#waitingPeriods * STANDING_MS <= BURST_MS) return Number.POSITIVE_INFINITY;
    const standing = this.#admissionRate * STANDING_MS;
    const rate = this.#admissionRate - this.#returnRate;
    const leftMs = Math.max(this.#waitingSinceMs + BURST_WAIT_MS - nowMs, 0);
    // Accepting connections takes time, too, so the rate says little while clients connect.
    const isGrowing = nowMs - this.#lastConnectionMs < CONNECTED_MS && rate > this.#admissionRate / 2;
    if (leftMs === 0 || !isGrowing) this.#burstMax = Math.min(rate * leftMs, this.#burstMax);
    return Math.max(isRefusing ? standing / STANDING_DIVISOR : standing, this.#burstMax, WAITING_MIN);
  }

  #isRefusing(nowMs: number): boolean {
    return nowMs - this.#lastRefusalMs < REFUSING_MS;
  }

  #admitWaiting(): void {
    while (this.#admissionsLeft >= 1) {
      const request = this.#queue.take();
      if (request === null) return;
      if (!request.hasCallerLeft) this.#admit(request);
    }
  }

  #admit(request: SheddableRequest): void {
    this.#admissionsLeft--;
    this.#admitted++;
    request.admit();
  }

  #countRequests(nowMs: number): void {
    const elapsedMs = nowMs - this.#countedMs;
    if (elapsedMs < STANDING_MS) return;
    this.#admissionRate += ADMISSION_WEIGHT * (this.#admitted / elapsedMs - this.#admissionRate);
    this.#returnRate = this.#returned / elapsedMs;
    this.#waitingPeriods++;
    this.#countedMs = nowMs;
    this.#returned = 0;
    this.#admitted = 0;
  }
}

/** A first-in, first-out queue. With an array alone, `shift` would copy thousands of items each time. */
class RequestQueue {
  #requests: SheddableRequest[] = [];
  /** Index of the oldest request in the queue. */
  #head = 0;

  get length(): number {
    return this.#requests.length - this.#head;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  add(request: SheddableRequest): void {
    this.#requests.push(request);
  }

  take(): SheddableRequest | null {
    const request = this.#requests[this.#head];
    if (request === undefined) return null;
    this.#head++;
    if (2 * this.#head >= this.#requests.length) {
      this.#requests = this.#requests.slice(this.#head);
      this.#head = 0;
    }
    return request;
  }
}

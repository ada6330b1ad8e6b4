/**
 * Lets requests in as this process has processor time for them, whoever sends them and wherever their calls go: a call that
 * waits for Odoo takes none and is not counted. Knows the clock and the event loop by what it is given, and no HTTP.
 *
 * The measure is the turn of the event loop. A call is served piece by piece over several turns, so that the length of
 * a turn is what each piece waits for. So many requests are let in in one turn that it stays short; the rest waits at the
 * door, where it has cost little yet, and the loop turns without a pause while anyone does. A stall makes requests wait, but
 * none is refused for it. A burst waits too; only where there has been no end of the waiting for a while, the line is kept
 * short (as CoDel keeps a standing queue, RFC 8289), and who is at its head goes, let in or refused.
 *
 * Refusals would take the whole of the processor from who is let in. So they get a part of the time, of which some is saved
 * up; where that is not enough for all, the line grows again, to as many as there are callers.
 */

/** A request at the door: it is let in or refused, unless its caller leaves before. */
export interface PermitRequest {
  readonly hasLeft: boolean;
  letIn(): void;
  refuse(): void;
}

export interface LoadShedderOptions {
  /** A clock that never goes back, in milliseconds. */
  nowMs: () => number;
  /** Calls back at the end of the present turn of the event loop, and keeps the loop from pausing (`setImmediate`). */
  atEndOfTurn: (callback: () => void) => void;
  /** Told after refusals, once a turn. */
  onRefused: (count: number) => void;
}

/** Long enough that a turn does one thing for several calls, which is cheaper; a call takes some six turns. */
const TURN_MS = 3;
/** For so long after a connection has come, turns are shorter: Node accepts one in each, and others may wait. */
const CONNECTING_MS = 20;
const CONNECTING_TURN_MS = 0.3;
/** Of these, between the request to Odoo and the head of its answer: to connect, to write, to read. */
const TURNS_PER_ANSWER = 3;
/** Requests let in in one turn: at first, and whatever the turns take. */
const SHARE_AT_FIRST = 16;
const SHARE_MIN = 0.1;
const SHARE_MAX = 64;
/** Steps of finding the share: down faster than up. */
const SHRINK = 0.9;
const GROW = 1.05;
/** The longest time for which there may be always one waiting. */
const BURST_MS = 2000;
/** Once that is over, no more may wait than were let in in so long a time; and while some are refused, a part of these. */
const STANDING_MS = 250;
const STANDING_FACTOR = 10;
/** So many may wait whatever was. */
const WAITING_MIN = 32;
/** Of the time, that refusals may take in the long run; */
const REFUSING_SHARE = 0.2;
/** what is saved up of that, so that a long line is made short soon: who is refused soon calls again on a connection that is still at hand; */
const REFUSING_MS_MAX = 1000;
/** and of one turn. */
const REFUSING_TURN_SHARE = 0.5;

export class LoadShedder {
  readonly #options: LoadShedderOptions;
  #share = SHARE_AT_FIRST;
  /** How many may still be let in in this turn. Less than one a turn is one in several turns. */
  #entries = SHARE_AT_FIRST;
  #refusingMs = REFUSING_MS_MAX;
  #refilledMs = 0;
  #isTurnWatched = false;
  /** Since when the turn runs; null where the loop may have paused in it. */
  #turnSinceMs: number | null = null;
  /** The mean of some dozens. */
  #usualTurnMs = TURN_MS;
  #connectedMs = Number.NEGATIVE_INFINITY;
  readonly #line = new Line();
  /** Since when there was always one waiting. */
  #waitingSinceMs = 0;
  /** Let in: since `#countedMs`, and in the {@link STANDING_MS} before. */
  #entered = 0;
  #enteredLately = 0;
  #countedMs = 0;
  #refusedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LoadShedderOptions) {
    this.#options = options;
  }

  /** By how much an answer of Odoo is taken later than it comes, in milliseconds: 0 while there is time for all. */
  get delayMs(): number {
    return this.#line.isEmpty ? 0 : this.#usualTurnMs * TURNS_PER_ANSWER;
  }

  /** A client has connected. */
  welcome(): void {
    this.#connectedMs = this.#options.nowMs();
  }

  enter(visitor: PermitRequest): void {
    this.#watchTurn();
    if (this.#line.isEmpty) {
      if (this.#entries >= 1) {
        this.#letIn(visitor);
        return;
      }
      this.#waitingSinceMs = this.#options.nowMs();
    }
    this.#line.add(visitor);
  }

  /** Whoever waits is let in, whatever that takes. */
  letAllIn(): void {
    for (let visitor = this.#line.take(); visitor !== null; visitor = this.#line.take()) {
      if (!visitor.hasLeft) visitor.letIn();
    }
  }

  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    this.#options.atEndOfTurn(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnWatched = false;
    this.#entries = Math.min(this.#entries + this.#share, Math.max(this.#share, 1));
    if (this.#line.isEmpty) {
      this.#turnSinceMs = null;
      return;
    }
    this.#watchTurn();
    const nowMs = this.#options.nowMs();
    const turnMs = this.#turnSinceMs === null ? 0 : nowMs - this.#turnSinceMs;
    this.#turnSinceMs = nowMs;
    if (turnMs > 0) this.#adapt(turnMs, nowMs);
    this.#refuseSurplus(turnMs, nowMs);
    this.#letInWaiting();
    this.#count(nowMs);
  }

  #adapt(turnMs: number, nowMs: number): void {
    this.#usualTurnMs += (turnMs - this.#usualTurnMs) / 32;
    const wantedMs = nowMs - this.#connectedMs < CONNECTING_MS ? CONNECTING_TURN_MS : TURN_MS;
    const share = this.#share * (turnMs > wantedMs ? SHRINK : GROW);
    this.#share = Math.min(Math.max(share, SHARE_MIN), SHARE_MAX);
  }

  #refuseSurplus(turnMs: number, nowMs: number): void {
    const savedMs = this.#refusingMs + REFUSING_SHARE * (nowMs - this.#refilledMs);
    this.#refusingMs = Math.min(savedMs, REFUSING_MS_MAX);
    this.#refilledMs = nowMs;
    const waitingMax = this.#findWaitingMax(nowMs);
    const allowedMs = Math.min(this.#refusingMs, REFUSING_TURN_SHARE * turnMs);
    let tookMs = 0;
    let count = 0;
    while (tookMs < allowedMs && this.#line.length > waitingMax) {
      const visitor = this.#line.take();
      if (visitor === null || visitor.hasLeft) continue;
      visitor.refuse();
      count++;
      tookMs = this.#options.nowMs() - nowMs;
    }
    this.#refusingMs -= tookMs;
    if (count === 0) return;
    this.#refusedMs = nowMs;
    this.#options.onRefused(count);
  }

  #findWaitingMax(nowMs: number): number {
    const isRefusing = nowMs - this.#refusedMs < BURST_MS;
    if (!isRefusing && nowMs - this.#waitingSinceMs <= BURST_MS) return Number.POSITIVE_INFINITY;
    return Math.max(isRefusing ? this.#enteredLately / STANDING_FACTOR : this.#enteredLately, WAITING_MIN);
  }

  #letInWaiting(): void {
    while (this.#entries >= 1) {
      const visitor = this.#line.take();
      if (visitor === null) return;
      if (!visitor.hasLeft) this.#letIn(visitor);
    }
  }

  #letIn(visitor: PermitRequest): void {
    this.#entries--;
    this.#entered++;
    visitor.letIn();
  }

  #count(nowMs: number): void {
    if (nowMs - this.#countedMs < STANDING_MS) return;
    this.#countedMs = nowMs;
    this.#enteredLately = this.#entered;
    this.#entered = 0;
  }
}

/** Who waits, in the order of coming. An array of thousands is copied at each `shift`. */
class Line {
  #visitors: PermitRequest[] = [];
  /** Those before it have gone. */
  #head = 0;

  get length(): number {
    return this.#visitors.length - this.#head;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  add(visitor: PermitRequest): void {
    this.#visitors.push(visitor);
  }

  take(): PermitRequest | null {
    const visitor = this.#visitors[this.#head];
    if (visitor === undefined) return null;
    this.#head++;
    if (2 * this.#head >= this.#visitors.length) {
      this.#visitors = this.#visitors.slice(this.#head);
      this.#head = 0;
    }
    return visitor;
  }
}

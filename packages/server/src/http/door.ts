/**
 * Lets requests in as this process has processor time for them, whoever sends them and wherever their calls go: a call that
 * waits for Odoo takes none and is not counted. Knows the clock and the event loop by what it is given, and no HTTP.
 *
 * The measure is the turn of the event loop. A call is served piece by piece over several turns, so that the length of
 * a turn is what each piece waits for. So many requests are let in in one turn that it stays short; the rest waits at the
 * door, where it has cost little yet, and the loop turns without a pause while anyone does. A stall makes requests wait, but
 * none is refused for it. A burst waits too; only where there has been no end of the waiting for a while, who comes is
 * refused at once (as CoDel tells a standing queue, RFC 8289).
 *
 * Refusals would take the whole of the processor from who is let in. So a caller that was refused is not heard for a moment: what it
 * sends meanwhile waits in its connection, where it costs nothing.
 */

/** A request at the door: it is let in or refused, unless its caller leaves before. */
export interface Visitor {
  readonly hasLeft: boolean;
  letIn(): void;
  /** From then on its caller is not heard, whatever it sends, until what this gives is called. */
  refuse(): Hear;
}

/** Holds nothing of the request: thousands of them may be kept for seconds. */
export type Hear = () => void;

export interface DoorOptions {
  /** A clock that never goes back, in milliseconds. */
  nowMs: () => number;
  /** Calls back at the end of the present turn of the event loop, and keeps the loop from pausing (`setImmediate`). */
  atEndOfTurn: (callback: () => void) => void;
  /** Told after refusals, once a turn. */
  onRefused: (count: number) => void;
}

/** A call takes some six turns. Node accepts one connection in each, so that long ones would keep callers out. */
const TURN_MS = 0.5;
/** Requests let in in one turn: at first, and whatever the turns take. */
const SHARE_AT_FIRST = 16;
const SHARE_MIN = 0.1;
const SHARE_MAX = 64;
/** Steps of finding the share: down faster than up. */
const SHRINK = 0.9;
const GROW = 1.05;
/** The longest wait at the door, and the longest time for which there may be always one waiting. */
const BURST_MS = 2000;
/** Once that is over, no more may wait than were let in in so long a time … */
const STANDING_MS = 250;
/** … and the longest wait is this. */
const STANDING_WAIT_MS = 500;
/** Callers heard again for each request that is let in. To hear and refuse one costs about a tenth of a call. */
const HEARD_PER_ENTRY = 1;
/** The longest time for which a caller is not heard, although its refusal takes more then than it should. */
const UNHEARD_MS_MAX = 2000;

export class Door {
  readonly #options: DoorOptions;
  #share = SHARE_AT_FIRST;
  readonly #entries = new Allowance(SHARE_AT_FIRST);
  readonly #hearings = new Allowance(0);
  #isTurnWatched = false;
  /** Since when the turn runs; null where the loop may have paused in it. */
  #turnSinceMs: number | null = null;
  /** In the order of coming. */
  readonly #waiting: { visitor: Visitor; sinceMs: number }[] = [];
  /** Since when there was always one waiting. */
  #waitingSinceMs = 0;
  /** In the order of their refusal. */
  readonly #unheard: { hear: Hear; sinceMs: number }[] = [];
  /** Let in from among those waiting: since `#countedMs`, and in the {@link STANDING_MS} before. */
  #entered = 0;
  #enteredLately = 0;
  #countedMs = 0;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #refusedThisTurn = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  enter(visitor: Visitor): void {
    this.#watchTurn();
    if (this.#waiting.length === 0 && this.#entries.take()) {
      visitor.letIn();
      return;
    }
    const nowMs = this.#options.nowMs();
    if (this.#waiting.length === 0) this.#waitingSinceMs = nowMs;
    if (this.#isSurplus(nowMs)) this.#refuse(visitor, nowMs);
    else this.#waiting.push({ visitor, sinceMs: nowMs });
  }

  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    this.#options.atEndOfTurn(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnWatched = false;
    this.#entries.renew(this.#share);
    this.#hearings.renew(this.#share * HEARD_PER_ENTRY);
    if (this.#waiting.length === 0 && this.#unheard.length === 0) {
      this.#turnSinceMs = null;
      return;
    }
    this.#watchTurn();
    const nowMs = this.#options.nowMs();
    if (this.#turnSinceMs !== null) this.#adapt(nowMs - this.#turnSinceMs);
    this.#turnSinceMs = nowMs;
    this.#giveUp(nowMs);
    this.#letIn();
    this.#count(nowMs);
    this.#hear(nowMs);
    this.#tellRefused();
  }

  #adapt(turnMs: number): void {
    const share = this.#share * (turnMs > TURN_MS ? SHRINK : GROW);
    this.#share = Math.min(Math.max(share, SHARE_MIN), SHARE_MAX);
  }

  #isSurplus(nowMs: number): boolean {
    return this.#waiting.length >= this.#enteredLately && this.#isStanding(nowMs);
  }

  /** Whether there is no end of the waiting, or was none a moment ago. */
  #isStanding(nowMs: number): boolean {
    return nowMs - this.#waitingSinceMs > BURST_MS || nowMs - this.#refusedMs < BURST_MS;
  }

  #giveUp(nowMs: number): void {
    const waitMs = this.#isStanding(nowMs) ? STANDING_WAIT_MS : BURST_MS;
    while (this.#waiting.length > 0 && nowMs - this.#waiting[0]!.sinceMs > waitMs) {
      const { visitor } = this.#waiting.shift()!;
      if (!visitor.hasLeft) this.#refuse(visitor, nowMs);
    }
  }

  #refuse(visitor: Visitor, nowMs: number): void {
    this.#unheard.push({ hear: visitor.refuse(), sinceMs: nowMs });
    this.#refusedMs = nowMs;
    this.#refusedThisTurn++;
  }

  #letIn(): void {
    while (this.#waiting.length > 0 && this.#entries.take()) {
      const { visitor } = this.#waiting.shift()!;
      if (visitor.hasLeft) continue;
      this.#entered++;
      visitor.letIn();
    }
  }

  #count(nowMs: number): void {
    if (nowMs - this.#countedMs < STANDING_MS) return;
    this.#countedMs = nowMs;
    this.#enteredLately = this.#entered;
    this.#entered = 0;
  }

  #hear(nowMs: number): void {
    while (this.#unheard.length > 0) {
      const isLong = nowMs - this.#unheard[0]!.sinceMs > UNHEARD_MS_MAX;
      if (!this.#hearings.take() && !isLong) return;
      this.#unheard.shift()!.hear();
    }
  }

  #tellRefused(): void {
    if (this.#refusedThisTurn > 0) this.#options.onRefused(this.#refusedThisTurn);
    this.#refusedThisTurn = 0;
  }
}

/** How many may still pass in this turn. Less than one a turn is one in several turns. */
class Allowance {
  #left: number;

  constructor(left: number) {
    this.#left = left;
  }

  renew(share: number): void {
    this.#left = Math.min(this.#left + share, Math.max(share, 1));
  }

  take(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

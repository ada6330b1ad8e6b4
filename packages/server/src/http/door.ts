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
 * Refusals would take the whole of the processor from who is let in. So while some are refused, no caller is heard for a moment
 * after its answer, whatever that was: what it sends meanwhile waits in its connection, where it costs nothing.
 */

/** A request at the door: it is let in or refused, unless its caller leaves before. */
export interface Visitor {
  readonly hasLeft: boolean;
  letIn(): void;
  /** After `letIn`: calls back once its answer has left, and its caller is not heard, as after a refusal. */
  restAfterwards(callback: (hear: Hear) => void): void;
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

/** A call takes some six turns. Node accepts one connection in each: longer ones would keep new callers out for seconds. */
const TURN_MS = 0.3;
/** Of these, between the request to Odoo and the head of its answer: to connect, to write, to read. */
const TURNS_PER_ANSWER = 3;
/** Requests let in in one turn: at first, and whatever the turns take. */
const SHARE_AT_FIRST = 16;
const SHARE_MIN = 0.1;
const SHARE_MAX = 64;
/** Steps of finding the share: down faster than up. */
const SHRINK = 0.9;
const GROW = 1.05;
/** The longest wait at the door, and the longest time for which there may be always one waiting. */
const BURST_MS = 2000;
/** Once that is over, no more may wait than were let in in so long a time; and while some are refused, a part of these. */
const STANDING_MS = 250;
const STANDING_FACTOR = 10;
/** So many may wait whatever was. */
const WAITING_MIN = 32;
/** So long a caller is not heard, or shorter where there is time for it: as many are heard as can be let in. */
const UNHEARD_MS = 2000;

export class Door {
  readonly #options: DoorOptions;
  #share = SHARE_AT_FIRST;
  readonly #entries = new Allowance(SHARE_AT_FIRST);
  readonly #hearings = new Allowance(0);
  #isTurnWatched = false;
  /** Since when the turn runs; null where the loop may have paused in it. */
  #turnSinceMs: number | null = null;
  /** The mean of some dozens. */
  #usualTurnMs = TURN_MS;
  /** In the order of coming. */
  readonly #waiting: { visitor: Visitor; sinceMs: number }[] = [];
  /** Since when there was always one waiting. */
  #waitingSinceMs = 0;
  /** In the order of their last answers. */
  readonly #unheard: Hear[] = [];
  /** Let in: since `#countedMs`, and in the {@link STANDING_MS} before. */
  #entered = 0;
  #enteredLately = 0;
  #countedMs = 0;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #refusedThisTurn = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** By how much an answer of Odoo is taken later than it comes, in milliseconds: 0 while there is time for all. */
  get delayMs(): number {
    return this.#isBusy ? this.#usualTurnMs * TURNS_PER_ANSWER : 0;
  }

  /** Someone waits, or is not heard. */
  get #isBusy(): boolean {
    return this.#waiting.length > 0 || this.#unheard.length > 0;
  }

  enter(visitor: Visitor): void {
    this.#watchTurn();
    const nowMs = this.#options.nowMs();
    if (this.#waiting.length === 0 && this.#entries.take()) {
      this.#letIn(visitor, nowMs);
      return;
    }
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
    if (!this.#isBusy) {
      this.#turnSinceMs = null;
      return;
    }
    this.#watchTurn();
    const nowMs = this.#options.nowMs();
    const turnMs = this.#turnSinceMs === null ? 0 : nowMs - this.#turnSinceMs;
    this.#turnSinceMs = nowMs;
    if (turnMs > 0) this.#adapt(turnMs);
    this.#hearings.renew(Math.max(this.#share, (this.#unheard.length * turnMs) / UNHEARD_MS));
    this.#giveUp(nowMs);
    this.#letInWaiting(nowMs);
    this.#count(nowMs);
    while (this.#unheard.length > 0 && this.#hearings.take()) this.#unheard.shift()!();
    this.#tellRefused();
  }

  #adapt(turnMs: number): void {
    this.#usualTurnMs += (turnMs - this.#usualTurnMs) / 32;
    const share = this.#share * (turnMs > TURN_MS ? SHRINK : GROW);
    this.#share = Math.min(Math.max(share, SHARE_MIN), SHARE_MAX);
  }

  #isSurplus(nowMs: number): boolean {
    const isRefusing = this.#isRefusing(nowMs);
    const waitingMax = isRefusing ? this.#enteredLately / STANDING_FACTOR : this.#enteredLately;
    if (this.#waiting.length < Math.max(waitingMax, WAITING_MIN)) return false;
    return isRefusing || nowMs - this.#waitingSinceMs > BURST_MS;
  }

  /** One was refused a moment ago. */
  #isRefusing(nowMs: number): boolean {
    return nowMs - this.#refusedMs < BURST_MS;
  }

  #giveUp(nowMs: number): void {
    while (this.#waiting.length > 0 && nowMs - this.#waiting[0]!.sinceMs > BURST_MS) {
      const { visitor } = this.#waiting.shift()!;
      if (!visitor.hasLeft) this.#refuse(visitor, nowMs);
    }
  }

  #refuse(visitor: Visitor, nowMs: number): void {
    this.#unheard.push(visitor.refuse());
    this.#refusedMs = nowMs;
    this.#refusedThisTurn++;
  }

  /** Who was served takes turns with who was refused: else those who are served would always be there first. */
  #letIn(visitor: Visitor, nowMs: number): void {
    this.#entered++;
    visitor.letIn();
    if (this.#isRefusing(nowMs)) {
      visitor.restAfterwards((hear) => {
        this.#unheard.push(hear);
        this.#watchTurn();
      });
    }
  }

  #letInWaiting(nowMs: number): void {
    while (this.#waiting.length > 0 && this.#entries.take()) {
      const { visitor } = this.#waiting.shift()!;
      if (visitor.hasLeft) continue;
      this.#letIn(visitor, nowMs);
    }
  }

  #count(nowMs: number): void {
    if (nowMs - this.#countedMs < STANDING_MS) return;
    this.#countedMs = nowMs;
    this.#enteredLately = this.#entered;
    this.#entered = 0;
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

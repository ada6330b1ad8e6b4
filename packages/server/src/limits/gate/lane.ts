/** The way to one database: who may send now, who waits and for how long, who is refused. */
import { divideWhole } from '../share.ts';
import { Breaker, type BreakerChange, type JudgedTurn } from './breaker.ts';
import { FairQueue, type Place } from './fair-queue.ts';
import { InstanceBounds } from './instance-bounds.ts';
import { Level, type LevelBounds } from './level.ts';
import type { BreakerNews, Peers } from './peers.ts';
import type { InstanceBound, Refusal, Turn, TurnResult, Visitor } from './visitor.ts';

export interface LaneOptions {
  /** Calls at once: where they start, and within which bounds they find their level. Of all processes together. */
  concurrency: LevelBounds;
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
  onIdle: (lane: Lane) => void;
}

export interface LaneState {
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
 * A call that was given less time than this, or less than an answer takes, says nothing of the server by its time-out:
 * `x-request-timeout: 1` on a slow report is its caller's own choice, and must cost others nothing.
 */
const PATIENCE_MS = 2000;
const RETRY_SECONDS_MAX = 60;

export class Lane {
  readonly database: string;
  readonly #options: LaneOptions;
  readonly #level: Level;
  readonly #breaker: Breaker;
  readonly #queue = new FairQueue<Waiting>();
  readonly #bounds = new InstanceBounds();
  #running = 0;
  /** Turns that have begun so far; each has its number. */
  #latest = 0;

  constructor(database: string, options: LaneOptions) {
    this.database = database;
    this.#options = options;
    this.#level = new Level(options.concurrency, options.processes);
    this.#breaker = new Breaker({ database, ...options });
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  /** Forgetting it would lose something. */
  get hasLearnt(): boolean {
    return this.#breaker.hasFailures || this.#level.usualMs > 0;
  }

  describe(): LaneState {
    const breaker = this.#breaker.state;
    return {
      running: this.#running,
      waiting: this.#queue.size,
      limit: this.#level.limit,
      breaker,
      retryAfterSeconds: breaker === 'closed' ? 0 : this.#breaker.retryAfterSeconds,
    };
  }

  enter(visitor: Visitor): Turn | Refusal | Promise<Turn | Refusal> {
    if (visitor.bound !== null) this.#bounds.hear(visitor.bound);
    if (this.#breaker.refuses(visitor.client)) return this.#probe(visitor);
    if (this.#next === null && this.#hasRoom(visitor)) return this.#begin(visitor);
    return this.#wait(visitor);
  }

  /** A probe is one request: the breaker refuses its client. */
  mayRetry({ client, deadlineMs }: StartedTurn, waitMs: number): boolean {
    if (this.#breaker.refuses(client)) return false;
    return this.#options.nowMs() + waitMs + this.#level.longMs < deadlineMs;
  }

  leave(turn: StartedTurn, reported: TurnResult): void {
    const { nowMs, onIdle, ownDelayMs } = this.#options;
    const now = nowMs();
    this.#running--;
    if (turn.bound !== null) this.#bounds.end(turn.bound);
    this.#queue.end(turn.client);
    const result = reported === 'timed_out' && !this.#wasPatient(turn) ? 'abandoned' : reported;
    if (result === 'answered') {
      const tookMs = (turn.answeredMs ?? now) - turn.startedMs - ownDelayMs();
      this.#level.answer(turn.number, this.#latest, tookMs, now);
    }
    if (result === 'timed_out' || result === 'overloaded') this.#level.halve(turn.number, this.#latest);
    this.#follow(this.#breaker.judge(turn, result, this.#latest));
    if (this.isIdle) onIdle(this);
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

  #wasPatient({ startedMs, deadlineMs }: StartedTurn): boolean {
    return deadlineMs - startedMs >= Math.max(PATIENCE_MS, this.#level.usualMs);
  }

  #probe(visitor: Visitor): Turn | Refusal | Promise<Turn | Refusal> {
    if (!this.#hasRoom(visitor) || !this.#breaker.mayProbe(visitor.client))
      return this.#refuse('breaker_open');
    const turn = this.#begin(visitor);
    const permission = this.#breaker.beginProbe(turn);
    return permission === true ? turn : this.#awaitPermission(turn, visitor, permission);
  }

  /** It holds its turn while other processes are asked. They may say that the database is well. */
  async #awaitPermission(
    turn: StartedTurn,
    { client, signal }: Visitor,
    permission: Promise<boolean>,
  ): Promise<Turn | Refusal> {
    const mayGo = (await permission) || !this.#breaker.refuses(client);
    if (mayGo && !signal.aborted) return turn;
    turn.leave('abandoned');
    return signal.aborted ? { refused: 'ended' } : this.#refuse('breaker_open');
  }

  #begin({ client, deadlineMs, bound }: Visitor): StartedTurn {
    this.#running++;
    if (bound !== null) this.#bounds.begin(bound);
    this.#latest++;
    this.#queue.begin(client);
    this.#level.begin(this.#running);
    return new StartedTurn(this, this.#latest, { client, bound, deadlineMs, nowMs: this.#options.nowMs });
  }

  #wait(visitor: Visitor): Refusal | Promise<Turn | Refusal> {
    const { client, bound } = visitor;
    const instance = bound?.instance ?? null;
    const ahead = this.#queue.countAhead({ client, instance });
    if (!this.#canMeetDeadline(visitor, ahead + 1)) return this.#refuse('too_late');
    if (this.#queue.size >= this.#queueMax) {
      const victim = this.#queue.findVictim(client);
      if (victim === null) return this.#refuse('queue_full');
      this.#dismiss(victim, this.#refuse('queue_full'));
    }
    return new Promise((settle) => {
      const onEnd = () => {
        this.#dismiss(place, { refused: 'ended' });
        this.#fill();
      };
      const place = this.#queue.add({ client, instance, visitor, settle, onEnd });
      visitor.signal.addEventListener('abort', onEnd);
      this.#fill();
    });
  }

  /** The call that has the next turn: those that the bound of their instance alone holds back do not hold up the others. */
  get #next(): Place<Waiting> | null {
    return this.#queue.findNext(({ visitor }) => this.#isBelowBound(visitor));
  }

  /** Gives turns while there is room for the next. */
  #fill(): void {
    for (let place = this.#next; place !== null; place = this.#next) {
      const { visitor } = place.item.call;
      if (!this.#canMeetDeadline(visitor, 0)) this.#dismiss(place, this.#refuse('too_late'));
      else if (this.#hasRoom(visitor)) this.#dismiss(place, this.#begin(visitor));
      else return;
    }
  }

  #refuseWaiting(): void {
    for (const place of this.#queue.places())
      if (this.#breaker.refuses(place.item.call.client)) this.#dismiss(place, this.#refuse('breaker_open'));
  }

  /** Ends the wait of a call. */
  #dismiss(place: Place<Waiting>, outcome: Turn | Refusal): void {
    const { visitor, onEnd, settle } = place.item.call;
    this.#queue.remove(place);
    visitor.signal.removeEventListener('abort', onEnd);
    settle(outcome);
  }

  #hasRoom(visitor: Visitor): boolean {
    return this.#running < this.#level.limit && this.#isBelowBound(visitor);
  }

  #isBelowBound({ bound }: Visitor): boolean {
    return bound === null || !this.#bounds.isReached(bound, this.#options.processes());
  }

  /** How many calls like this one may run at once. */
  #limitFor({ bound }: Visitor): number {
    const { limit } = this.#level;
    return bound === null ? limit : Math.min(limit, divideWhole(bound.max, this.#options.processes()));
  }

  get #queueMax(): number {
    const { queueMax, processes } = this.#options;
    return queueMax === 0 ? 0 : divideWhole(queueMax, processes());
  }

  /** Whether there is time for what an answer takes, after so many other calls have ended. */
  #canMeetDeadline(visitor: Visitor, ends: number): boolean {
    const usualMs = this.#level.usualMs;
    const waitMs = (ends * usualMs) / this.#limitFor(visitor);
    return this.#options.nowMs() + waitMs + this.#level.longMs <= visitor.deadlineMs;
  }

  #refuse(refused: 'queue_full' | 'too_late' | 'breaker_open'): Refusal {
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

interface StartedTurnOptions extends Pick<Visitor, 'client' | 'bound' | 'deadlineMs'> {
  nowMs: () => number;
}

class StartedTurn implements Turn, JudgedTurn {
  readonly number: number;
  readonly client: string;
  readonly bound: InstanceBound | null;
  readonly startedMs: number;
  readonly deadlineMs: number;
  answeredMs: number | null = null;
  readonly #lane: Lane;
  readonly #nowMs: () => number;
  #isOver = false;

  constructor(lane: Lane, number: number, { client, bound, deadlineMs, nowMs }: StartedTurnOptions) {
    this.#lane = lane;
    this.number = number;
    this.client = client;
    this.bound = bound;
    this.startedMs = nowMs();
    this.#nowMs = nowMs;
    this.deadlineMs = deadlineMs;
  }

  answered(): void {
    this.answeredMs = this.#nowMs();
  }

  mayRetry(waitMs: number): boolean {
    return this.#lane.mayRetry(this, waitMs);
  }

  leave(result: TurnResult): void {
    if (this.#isOver) throw new Error('A turn is left once.');
    this.#isOver = true;
    this.#lane.leave(this, result);
  }
}

interface Waiting {
  readonly client: string;
  readonly instance: string | null;
  readonly visitor: Visitor;
  readonly settle: (outcome: Turn | Refusal) => void;
  readonly onEnd: () => void;
}

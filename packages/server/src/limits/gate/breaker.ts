/**
 * Whether a database is worth calling. It opens after five failures in a row; when its time is over one call probes, and
 * the answer to that closes it. Five in a row, since a share of failures would refuse calls to a server that serves the
 * others, and would wait for many calls where few are made.
 *
 * A failure counts only where the server has answered nobody since the call began: one call that a worker died of, or
 * that is too slow for its caller, says nothing of a server that answers others meanwhile. And where one client alone has
 * seen the failures, that client alone is refused: its report may be what is slow, its certificates what is wrong. The
 * first failure of another client closes the database for all; the first answer to another opens it for all.
 */
import type { TurnResult } from './visitor.ts';

const FAILURES_MAX = 5;
const OPEN_MS_MIN = 1000;
const OPEN_MS_MAX = 30_000;
/** A probe holds its place for so long at most; after that another call may probe as well. */
const PROBE_MS = 5000;
/** Up to this share of the time is left off, so that replicas do not probe all at once. */
const JITTER = 0.25;

export interface BreakerOptions {
  nowMs: () => number;
  random: () => number;
}

export interface JudgedTurn {
  /** Turns of the database are numbered as they begin, from 1. */
  readonly number: number;
  readonly client: string;
}

export class Breaker {
  readonly #nowMs: () => number;
  readonly #random: () => number;
  /** Since the server last answered. */
  #failures = 0;
  /** The client that saw all of them; null: several did. */
  #witness: string | null = null;
  #isOpen = false;
  #openMs = OPEN_MS_MIN;
  #untilMs = 0;
  /** The turn that probes. */
  #probe: number | null = null;
  #probeUntilMs = 0;
  /** Whose probe told nothing, or not yet: the next is left to others for a while, so that nobody can hold the place. */
  #lastProber: string | null = null;
  #othersUntilMs = 0;
  /** Turns up to this number began before the server last answered, or before it was given up: they tell nothing. */
  #tellsNothing = 0;

  constructor({ nowMs, random }: BreakerOptions) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  get state(): 'closed' | 'open' | 'half_open' {
    if (!this.#isOpen) return 'closed';
    return this.#nowMs() < this.#untilMs ? 'open' : 'half_open';
  }

  get hasFailures(): boolean {
    return this.#failures > 0;
  }

  /** Until a probe may be sent, or another one; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#untilMs - this.#nowMs()) / 1000));
  }

  refuses(client: string): boolean {
    return this.#isOpen && (this.#witness === null || this.#witness === client);
  }

  /** Whether a call that it refuses otherwise may go as the probe. */
  mayProbe(client: string): boolean {
    const now = this.#nowMs();
    if (now < this.#untilMs || (this.#probe !== null && now < this.#probeUntilMs)) return false;
    return client !== this.#lastProber || now >= this.#othersUntilMs;
  }

  beginProbe({ number, client }: JudgedTurn): void {
    this.#probe = number;
    this.#probeUntilMs = this.#nowMs() + PROBE_MS;
    this.#leaveToOthers(client, this.#probeUntilMs);
  }

  /** Takes what became of a turn, while `latest` is the last that has begun. Tells where that changes who may go. */
  judge(turn: JudgedTurn, result: TurnResult, latest: number): 'opened' | 'recovered' | null {
    const isProbe = turn.number === this.#probe;
    if (isProbe) this.#probe = null;
    else if (this.#isOpen && turn.number <= this.#tellsNothing) return null;
    switch (result) {
      case 'answered': {
        const wasRefused = this.refuses(turn.client);
        this.#close(latest);
        return wasRefused ? 'recovered' : null;
      }
      case 'abandoned':
        if (isProbe) this.#leaveToOthers(turn.client, this.#nowMs());
        return null;
      case 'overloaded':
        return isProbe ? this.#reopen(latest) : null;
      default:
        return isProbe ? this.#reopen(latest) : this.#countFailure(turn, latest);
    }
  }

  #leaveToOthers(client: string, fromMs: number): void {
    this.#lastProber = client;
    this.#othersUntilMs = fromMs + OPEN_MS_MIN;
  }

  #countFailure({ number, client }: JudgedTurn, latest: number): 'opened' | null {
    if (number <= this.#tellsNothing) return null;
    if (this.#failures === 0) this.#witness = client;
    else if (this.#witness !== client) this.#witness = null;
    this.#failures++;
    return this.#failures < FAILURES_MAX ? null : this.#open(latest);
  }

  #open(latest: number): 'opened' {
    this.#isOpen = true;
    this.#untilMs = this.#nowMs() + this.#openMs * (1 - JITTER * this.#random());
    this.#lastProber = null;
    this.#tellsNothing = latest;
    return 'opened';
  }

  #reopen(latest: number): 'opened' {
    this.#openMs = Math.min(2 * this.#openMs, OPEN_MS_MAX);
    return this.#open(latest);
  }

  #close(latest: number): void {
    this.#isOpen = false;
    this.#failures = 0;
    this.#openMs = OPEN_MS_MIN;
    this.#probe = null;
    this.#lastProber = null;
    this.#tellsNothing = latest;
  }
}

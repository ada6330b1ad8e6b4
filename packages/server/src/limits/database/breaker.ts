/**
 * Whether a database is worth calling. It opens after five failures in a row; when its time is over one call probes, and
 * the answer to that closes it. Five in a row, since a share of failures would refuse calls to a server that serves the
 * others, and would wait for many calls where few are made.
 *
 * A failure counts only where the server has answered nobody since the call began: one call that a worker died of, or
 * that is too slow for its caller, says nothing of a server that answers others meanwhile. And where one client alone has
 * seen the failures, that client alone is refused: its report may be what is slow, its certificates what is wrong. The
 * first failure of another client closes the database for all; the first answer to another opens it for all.
 *
 * Each process counts failures for itself. What it finds it tells its peers, and what they tell holds here as well, unless
 * the server has answered this process in the time in which it seemed to answer nobody.
 */
import { type BreakerNews, OPEN_MS_MAX, OPEN_MS_MIN, type Opening, type Peers } from './peers.ts';
import type { PermitResult } from './permit.ts';

const FAILURES_MAX = 5;
/** A probe holds its place for so long at most; after that another call may probe as well. */
const PROBE_MS = 5000;
/** Up to this share of the time is left off, so that replicas that cannot ask each other do not probe all at once. */
const JITTER = 0.25;
const PAST = Number.NEGATIVE_INFINITY;

export interface BreakerOptions {
  database: string;
  nowMs: () => number;
  random: () => number;
  peers: Peers;
}

export interface JudgedTurn {
  /** Turns of the database are numbered as they begin, from 1. */
  readonly number: number;
  readonly client: string;
  readonly startedMs: number;
}

export type JudgedResult =
  | Exclude<PermitResult, 'caller_left'>
  /** Ended by its own time or its caller, and ran longer without an answer than answers usually take. */
  | 'silent';

/** What changes who may go. */
export type BreakerChange = 'opened' | 'recovered' | null;

export class Breaker {
  readonly #database: string;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #peers: Peers;
  /** Since the server last answered. */
  #failures = 0;
  /** The client that saw all of them; null: several did. */
  #witness: string | null = null;
  /** When the first of the calls that failed began. */
  #sinceMs = PAST;
  /** When the server last answered. */
  #answeredMs = PAST;
  /** Null while it is closed. */
  #opening: Opening | null = null;
  /** Clients whose probes told nothing since it opened. */
  readonly #toldNothing = new Set<string>();
  /** The turn of this process that probes. */
  #probe: number | null = null;
  /** Turns up to this number began before the server last answered, or before it was given up: they tell nothing. */
  #tellsNothing = 0;

  constructor({ database, nowMs, random, peers }: BreakerOptions) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#random = random;
    this.#peers = peers;
    const known = peers.find(database);
    if (known !== null) this.#take(known, 0);
  }

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.#opening === null) return 'closed';
    return this.#nowMs() < this.#opening.untilMs ? 'open' : 'half_open';
  }

  get hasFailures(): boolean {
    return this.#failures > 0;
  }

  /** Until a probe may be sent, or another one; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(((this.#opening?.untilMs ?? 0) - this.#nowMs()) / 1000));
  }

  refuses(client: string): boolean {
    const opening = this.#opening;
    return opening !== null && (opening.witness === null || opening.witness === client);
  }

  /** Whether a call that it refuses otherwise may go as the probe, as far as this process knows. */
  mayProbe(client: string): boolean {
    if (this.#opening === null) return false;
    const { untilMs, probeUntilMs, lastProber, othersUntilMs } = this.#opening;
    const now = this.#nowMs();
    const hasProbed = client === lastProber || this.#toldNothing.has(client);
    return now >= untilMs && now >= probeUntilMs && (!hasProbed || now >= othersUntilMs);
  }

  /** Whether it may be sent: by promise where other processes are asked. */
  beginProbe({ number, client }: JudgedTurn): true | Promise<boolean> {
    if (this.#opening === null) throw new Error('Only an open breaker is probed.');
    const untilMs = this.#nowMs() + PROBE_MS;
    this.#probe = number;
    this.#opening = leaveToOthers({ ...this.#opening, probeUntilMs: untilMs }, client, untilMs);
    const asked = this.#peers.askProbe(this.#database, this.#opening);
    if (asked === true) return true;
    return asked.then((isGranted) => {
      if (!isGranted && this.#probe === number) this.#probe = null;
      return isGranted;
    });
  }

  /**
   * Takes what became of a turn, while `latest` is the last that has begun. Silent turns open it once no answer has come
   * for `silenceMs`.
   */
  judge(turn: JudgedTurn, result: JudgedResult, latest: number, silenceMs: number): BreakerChange {
    const probed = turn.number === this.#probe ? this.#opening : null;
    if (probed !== null) this.#probe = null;
    else if (this.#opening !== null && turn.number <= this.#tellsNothing) return null;
    switch (result) {
      case 'answered': {
        const wasRefused = this.refuses(turn.client);
        if (this.#opening !== null) this.#peers.tellAnswered(this.#database);
        this.#close(latest);
        this.#answeredMs = this.#nowMs();
        return wasRefused ? 'recovered' : null;
      }
      case 'abandoned':
        if (probed !== null) this.#returnProbe(probed, turn);
        return null;
      case 'overloaded':
        return probed && this.#reopen(probed, turn, latest);
      case 'silent':
        // A probe with a short time of its own must not keep the others away for long.
        if (probed === null) return this.#countFailure(turn, latest, silenceMs);
        this.#returnProbe(probed, turn);
        return null;
      default:
        return probed ? this.#reopen(probed, turn, latest) : this.#countFailure(turn, latest, 0);
    }
  }

  /** Takes what another process has found. */
  hear(news: BreakerNews, latest: number): BreakerChange {
    if ('answeredMs' in news) return this.#hearAnswered(news.answeredMs, latest);
    if (this.#answeredMs <= news.sinceMs) return this.#take(news, latest);
    if (this.#opening === null) this.#peers.tellAnswered(this.#database);
    // What was seen here since that answer is newer than what the others know.
    else this.#peers.tellOpened(this.#database, this.#opening, false);
    return null;
  }

  #hearAnswered(answeredMs: number, latest: number): BreakerChange {
    // What is older than the failures says nothing of them.
    if (this.#opening === null || answeredMs < this.#opening.sinceMs) return null;
    this.#close(latest);
    return 'recovered';
  }

  #take(opening: Opening, latest: number): BreakerChange {
    const known = this.#opening;
    this.#opening = opening;
    if (opening.lastProber !== null) this.#toldNothing.add(opening.lastProber);
    this.#failures = FAILURES_MAX;
    this.#witness = opening.witness;
    this.#sinceMs = opening.sinceMs;
    if (known === null) this.#tellsNothing = latest;
    return known === null || known.witness !== opening.witness ? 'opened' : null;
  }

  #returnProbe(opening: Opening, { client }: JudgedTurn): void {
    this.#toldNothing.add(client);
    this.#opening = leaveToOthers({ ...opening, probeUntilMs: PAST }, client, this.#nowMs());
    this.#peers.returnProbe(this.#database, this.#opening);
  }

  #countFailure({ number, client, startedMs }: JudgedTurn, latest: number, silenceMs: number): BreakerChange {
    if (number <= this.#tellsNothing) return null;
    const isFirst = this.#failures === 0;
    this.#witness = isFirst || this.#witness === client ? client : null;
    this.#sinceMs = isFirst ? startedMs : Math.min(this.#sinceMs, startedMs);
    this.#failures++;
    if (this.#failures < FAILURES_MAX || this.#nowMs() - this.#sinceMs < silenceMs) return null;
    const { openMs = OPEN_MS_MIN, probeUntilMs = PAST } = this.#opening ?? {};
    return this.#open(openMs, probeUntilMs, latest, false);
  }

  #reopen({ openMs }: Opening, { startedMs }: JudgedTurn, latest: number): BreakerChange {
    this.#sinceMs = startedMs;
    return this.#open(Math.min(2 * openMs, OPEN_MS_MAX), PAST, latest, true);
  }

  #open(openMs: number, probeUntilMs: number, latest: number, isProbe: boolean): 'opened' {
    this.#opening = {
      witness: this.#witness,
      sinceMs: this.#sinceMs,
      openMs,
      untilMs: this.#nowMs() + openMs * (1 - JITTER * this.#random()),
      probeUntilMs,
      lastProber: null,
      othersUntilMs: PAST,
    };
    this.#tellsNothing = latest;
    this.#toldNothing.clear();
    this.#peers.tellOpened(this.#database, this.#opening, isProbe);
    return 'opened';
  }

  #close(latest: number): void {
    this.#opening = null;
    this.#failures = 0;
    this.#toldNothing.clear();
    this.#probe = null;
    this.#tellsNothing = latest;
  }
}

function leaveToOthers(opening: Opening, client: string, fromMs: number): Opening {
  return { ...opening, lastProber: client, othersUntilMs: fromMs + OPEN_MS_MIN };
}

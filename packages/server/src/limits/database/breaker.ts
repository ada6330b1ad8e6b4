/**
 * The circuit breaker of a database. It opens after five consecutive failures. When its time is over, one call is sent
 * as a probe, and an answer to the probe closes it. It counts consecutive failures, not a failure rate: a rate could
 * refuse calls to a server that serves other clients, and needs many calls where there are few.
 *
 * A failure counts only if the server has answered no call since the failed call began. A call that crashed a worker,
 * or that is too slow for its caller, says nothing about a server that answers others meanwhile. If only one client has
 * seen the failures, only that client is refused: its report may be slow, or its certificates may be wrong. The next
 * failure of any other client then opens the breaker for all clients. An answer to any other client closes it.
 *
 * Each process counts failures for itself, and tells its peers when the breaker opens or closes. Their news applies
 * here as well, unless the server has answered this process since the failures that they report.
 */
import { type BreakerNews, OPEN_MS_MAX, OPEN_MS_MIN, type Opening, type Peers } from './peers.ts';
import type { PermitResult } from './permit.ts';

const FAILURES_MAX = 5;
/** Milliseconds after which another call may probe although a probe is still running. */
const PROBE_MS = 5000;
/**
 * Maximum share by which the open time is shortened at random, so that replicas without a connection probe at different
 * times.
 */
const JITTER = 0.25;
const PAST = Number.NEGATIVE_INFINITY;

export interface BreakerOptions {
  database: string;
  nowMs: () => number;
  random: () => number;
  peers: Peers;
}

export interface JudgedPermit {
  /** Permits of a database are numbered from 1, in the order in which they begin. */
  readonly number: number;
  readonly client: string;
  readonly startedMs: number;
}

export type JudgedResult =
  | Exclude<PermitResult, 'caller_left'>
  /**
   * The call's time ended or its caller disconnected, after a longer time without an answer than answers usually take.
   */
  | 'silent';

/** A change of the clients that are refused. */
export type BreakerChange = 'opened' | 'recovered' | null;

export class Breaker {
  readonly #database: string;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #peers: Peers;
  /** Number of failures since the server last answered. */
  #failures = 0;
  /** The client that saw all of them; null if several did. */
  #witness: string | null = null;
  /** Start of the first call that failed. */
  #sinceMs = PAST;
  /** Time of the server's last answer. */
  #answeredMs = PAST;
  /** Null while the breaker is closed. */
  #opening: Opening | null = null;
  /** Clients whose probes have shown nothing since the breaker opened. */
  readonly #inconclusiveProbers = new Set<string>();
  /** Number of the permit with which this process probes. */
  #probe: number | null = null;
  /** Permits up to this number are ignored: they began before the last answer, or before the breaker opened. */
  #ignoredUpTo = 0;

  constructor({ database, nowMs, random, peers }: BreakerOptions) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#random = random;
    this.#peers = peers;
    const known = peers.find(database);
    if (known !== null) this.#applyOpening(known, 0);
  }

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.#opening === null) return 'closed';
    return this.#nowMs() < this.#opening.untilMs ? 'open' : 'half_open';
  }

  get hasFailures(): boolean {
    return this.#failures > 0;
  }

  /** Time until the next probe; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(((this.#opening?.untilMs ?? 0) - this.#nowMs()) / 1000));
  }

  refuses(client: string): boolean {
    const opening = this.#opening;
    return opening !== null && (opening.witness === null || opening.witness === client);
  }

  /** Whether a refused call may be sent as the probe, as far as this process knows. */
  mayProbe(client: string): boolean {
    if (this.#opening === null) return false;
    const { untilMs, probeUntilMs, lastProber, othersUntilMs } = this.#opening;
    const now = this.#nowMs();
    const hasProbed = client === lastProber || this.#inconclusiveProbers.has(client);
    return now >= untilMs && now >= probeUntilMs && (!hasProbed || now >= othersUntilMs);
  }

  /** Whether the probe may be sent. A promise if other processes must be asked. */
  beginProbe({ number, client }: JudgedPermit): true | Promise<boolean> {
    if (this.#opening === null) throw new Error('Only an open breaker can be probed.');
    const untilMs = this.#nowMs() + PROBE_MS;
    this.#probe = number;
    this.#opening = preferOthers({ ...this.#opening, probeUntilMs: untilMs }, client, untilMs);
    const reply = this.#peers.requestProbe(this.#database, this.#opening);
    if (reply === true) return true;
    return reply.then((isGranted) => {
      if (!isGranted && this.#probe === number) this.#probe = null;
      return isGranted;
    });
  }

  /**
   * Applies the result of a permit. `latest` is the number of the latest permit. `silent` results open the breaker only
   * after `silenceMs` without any answer.
   */
  judge(permit: JudgedPermit, result: JudgedResult, latest: number, silenceMs: number): BreakerChange {
    const probed = permit.number === this.#probe ? this.#opening : null;
    if (probed !== null) this.#probe = null;
    else if (this.#opening !== null && permit.number <= this.#ignoredUpTo) return null;
    switch (result) {
      case 'answered': {
        const wasRefused = this.refuses(permit.client);
        if (this.#opening !== null) this.#peers.publishAnswered(this.#database);
        this.#close(latest);
        this.#answeredMs = this.#nowMs();
        return wasRefused ? 'recovered' : null;
      }
      case 'abandoned':
        if (probed !== null) this.#returnProbe(probed, permit);
        return null;
      case 'overloaded':
        return probed && this.#reopen(probed, permit, latest);
      case 'silent':
        // A probe with a short time limit must not block the probes of others for long.
        if (probed === null) return this.#countFailure(permit, latest, silenceMs);
        this.#returnProbe(probed, permit);
        return null;
      default:
        return probed ? this.#reopen(probed, permit, latest) : this.#countFailure(permit, latest, 0);
    }
  }

  /** Applies what another process has found. */
  applyNews(news: BreakerNews, latest: number): BreakerChange {
    if ('answeredMs' in news) return this.#applyAnswered(news.answeredMs, latest);
    if (this.#answeredMs <= news.sinceMs) return this.#applyOpening(news, latest);
    if (this.#opening === null) this.#peers.publishAnswered(this.#database);
    // The failures seen here since that answer are newer than those that the others report.
    else this.#peers.publishOpened(this.#database, this.#opening, false);
    return null;
  }

  #applyAnswered(answeredMs: number, latest: number): BreakerChange {
    // An answer from before the failures does not disprove them.
    if (this.#opening === null || answeredMs < this.#opening.sinceMs) return null;
    this.#close(latest);
    return 'recovered';
  }

  #applyOpening(opening: Opening, latest: number): BreakerChange {
    const known = this.#opening;
    this.#opening = opening;
    if (opening.lastProber !== null) this.#inconclusiveProbers.add(opening.lastProber);
    this.#failures = FAILURES_MAX;
    this.#witness = opening.witness;
    this.#sinceMs = opening.sinceMs;
    if (known === null) this.#ignoredUpTo = latest;
    return known === null || known.witness !== opening.witness ? 'opened' : null;
  }

  #returnProbe(opening: Opening, { client }: JudgedPermit): void {
    this.#inconclusiveProbers.add(client);
    this.#opening = preferOthers({ ...opening, probeUntilMs: PAST }, client, this.#nowMs());
    this.#peers.returnProbe(this.#database, this.#opening);
  }

  #countFailure(
    { number, client, startedMs }: JudgedPermit,
    latest: number,
    silenceMs: number,
  ): BreakerChange {
    if (number <= this.#ignoredUpTo) return null;
    const isFirst = this.#failures === 0;
    this.#witness = isFirst || this.#witness === client ? client : null;
    this.#sinceMs = isFirst ? startedMs : Math.min(this.#sinceMs, startedMs);
    this.#failures++;
    if (this.#failures < FAILURES_MAX || this.#nowMs() - this.#sinceMs < silenceMs) return null;
    const { openMs = OPEN_MS_MIN, probeUntilMs = PAST } = this.#opening ?? {};
    return this.#open(openMs, probeUntilMs, latest, false);
  }

  #reopen({ openMs }: Opening, { startedMs }: JudgedPermit, latest: number): BreakerChange {
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
    this.#ignoredUpTo = latest;
    this.#inconclusiveProbers.clear();
    this.#peers.publishOpened(this.#database, this.#opening, isProbe);
    return 'opened';
  }

  #close(latest: number): void {
    this.#opening = null;
    this.#failures = 0;
    this.#inconclusiveProbers.clear();
    this.#probe = null;
    this.#ignoredUpTo = latest;
  }
}

function preferOthers(opening: Opening, client: string, fromMs: number): Opening {
  return { ...opening, lastProber: client, othersUntilMs: fromMs + OPEN_MS_MIN };
}

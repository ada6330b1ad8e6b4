/**
 * The circuit breaker of a database. It opens after five consecutive failures. When its time is over, one call is sent
 * as a probe, and an answer to the probe closes it. It counts consecutive failures, not a failure rate: by a rate, it
 * could refuse calls to a server that serves other clients, and a rate needs many calls.
 *
 * A failure counts only if the server has answered no call since the failed call began. A call that crashed a worker,
 * or that is too slow for its caller, says nothing about a server that answers others meanwhile. If only one client has
 * seen the failures, only that client is refused: its report may be slow, or its certificates may be wrong. The next
 * failure of any other client then opens the breaker for all clients. An answer to any other client closes it.
 *
 * Each process has its own breakers.
 */
import type { PermitResult } from './permit.ts';

const FAILURES_MAX = 5;
/** Minimum and maximum time for which a breaker stays open before a probe. */
const OPEN_MS_MIN = 1000;
const OPEN_MS_MAX = 30_000;
/** Milliseconds after which another call may probe even if a probe is still running. */
const PROBE_MS = 5000;
/** Maximum fraction by which the open time is shortened at random, so that replicas probe at different times. */
const JITTER = 0.25;
const PAST = Number.NEGATIVE_INFINITY;

export interface BreakerOptions {
  nowMs: () => number;
  random: () => number;
}

/** The open state: which calls to a database are refused, and until when. */
interface Opening {
  /** The only client that has seen the failures, which alone is refused. Null if several clients have seen them. */
  readonly witness: string | null;
  /** Duration of the current open time. Each failed probe doubles it. */
  readonly openMs: number;
  /** Time from which a call may probe. */
  readonly untilMs: number;
  /** Time until which a probe may be running. In the past if none is. */
  probeUntilMs: number;
  /**
   * Time until which a client that has probed may not send the next probe, so that it cannot block the probes of other
   * clients.
   */
  othersUntilMs: number;
}

export interface CheckedPermit {
  /** Permits of a database are numbered from 1, in the order in which they begin. */
  readonly number: number;
  readonly client: string;
  readonly startedMs: number;
}

export type CheckedResult =
  | Exclude<PermitResult, 'caller_left'>
  /** The call timed out or its caller disconnected, after more time without an answer than answers usually take. */
  | 'silent';

/** A change of the clients that are refused. */
export type BreakerChange = 'opened' | 'recovered' | null;

export class Breaker {
  readonly #nowMs: () => number;
  readonly #random: () => number;
  /** Number of failures since the server last answered. */
  #failures = 0;
  /** The client that saw all these failures; null if several did. */
  #witness: string | null = null;
  /** Start of the first failed call. */
  #sinceMs = PAST;
  /** The open state; null while the breaker is closed. */
  #opening: Opening | null = null;
  /** Clients that have probed since the breaker opened. */
  readonly #probers = new Set<string>();
  /** Number of the permit of the running probe. */
  #probe: number | null = null;
  /** Permits up to this number are ignored: their calls began before the last answer, or before the breaker opened. */
  #ignoredUpTo = 0;

  constructor({ nowMs, random }: BreakerOptions) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.#opening === null) return 'closed';
    return this.#nowMs() < this.#opening.untilMs ? 'open' : 'half_open';
  }

  get hasFailures(): boolean {
    return this.#failures > 0;
  }

  /** Seconds until the next probe; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(((this.#opening?.untilMs ?? 0) - this.#nowMs()) / 1000));
  }

  refuses(client: string): boolean {
    const opening = this.#opening;
    return opening !== null && (opening.witness === null || opening.witness === client);
  }

  /** Whether a refused call may be sent as the probe. */
  mayProbe(client: string): boolean {
    if (this.#opening === null) return false;
    const { untilMs, probeUntilMs, othersUntilMs } = this.#opening;
    const now = this.#nowMs();
    return now >= untilMs && now >= probeUntilMs && (!this.#probers.has(client) || now >= othersUntilMs);
  }

  beginProbe({ number, client }: CheckedPermit): void {
    if (this.#opening === null) throw new Error('Only an open breaker can be probed.');
    this.#probe = number;
    this.#probers.add(client);
    this.#opening.probeUntilMs = this.#nowMs() + PROBE_MS;
    this.#opening.othersUntilMs = this.#opening.probeUntilMs + OPEN_MS_MIN;
  }

  /**
   * Applies the result of a permit. `latest` is the number of the latest permit. `silent` results open the breaker only
   * after `silenceMs` without any answer.
   */
  check(permit: CheckedPermit, result: CheckedResult, latest: number, silenceMs: number): BreakerChange {
    const probed = permit.number === this.#probe ? this.#opening : null;
    if (probed !== null) this.#probe = null;
    else if (this.#opening !== null && permit.number <= this.#ignoredUpTo) return null;
    switch (result) {
      case 'answered': {
        const wasRefused = this.refuses(permit.client);
        this.#close(latest);
        return wasRefused ? 'recovered' : null;
      }
      case 'abandoned':
        if (probed !== null) this.#returnProbe(probed);
        return null;
      case 'overloaded':
        return probed && this.#reopen(probed, permit, latest);
      case 'silent':
        // A probe with a short time limit must not block the probes of other clients for long.
        if (probed === null) return this.#countFailure(permit, latest, silenceMs);
        this.#returnProbe(probed);
        return null;
      default:
        return probed ? this.#reopen(probed, permit, latest) : this.#countFailure(permit, latest, 0);
    }
  }

  #returnProbe(opening: Opening): void {
    opening.probeUntilMs = PAST;
    opening.othersUntilMs = this.#nowMs() + OPEN_MS_MIN;
  }

  #countFailure(
    { number, client, startedMs }: CheckedPermit,
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
    return this.#open(openMs, probeUntilMs, latest);
  }

  #reopen({ openMs }: Opening, { startedMs }: CheckedPermit, latest: number): BreakerChange {
    this.#sinceMs = startedMs;
    return this.#open(Math.min(2 * openMs, OPEN_MS_MAX), PAST, latest);
  }

  #open(openMs: number, probeUntilMs: number, latest: number): 'opened' {
    this.#opening = {
      witness: this.#witness,
      openMs,
      untilMs: this.#nowMs() + openMs * (1 - JITTER * this.#random()),
      probeUntilMs,
      othersUntilMs: PAST,
    };
    this.#ignoredUpTo = latest;
    this.#probers.clear();
    return 'opened';
  }

  #close(latest: number): void {
    this.#opening = null;
    this.#failures = 0;
    this.#probers.clear();
    this.#probe = null;
    this.#ignoredUpTo = latest;
  }
}

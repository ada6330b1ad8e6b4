/**
 * Keeps Odoo 14 and 15 from locking this proxy's address out. After five wrong credentials from one address, a worker
 * process of these versions refuses all credentials that it has to check for a minute, correct ones too
 * (docs/odoo-facts.md#login-cooldown). A trial is a call with credentials that have not been seen to work. The number
 * of trials is limited for each caller and each credential, and none is sent during a lockout. Credentials are known by
 * their identifiers only.
 */

import { atMost } from '@erp-proxy/async/tasks';
import { divideWhole } from '@erp-proxy/traffic/limits';
import { LRUCache } from 'lru-cache';

/** Whether wrong keys lock this address out of a server. `possible`: nothing is known about the server yet. */
export type Lockout = 'none' | 'possible' | 'known';

/** A call with credentials that have not been seen to work. */
export interface LoginTrial {
  database: string;
  /** Id of the client key. */
  caller: string;
  credentialsId: string;
  findLockout(): Lockout;
  /** When the call was sent, by the monotonic clock; null if it has not been sent. */
  findSentMs(): number | null;
}

export type TrialDecision =
  | 'allowed'
  /** Other trials count until they end, and then this one may be allowed. */
  | 'wait'
  | { refused: 'cooldown' | 'failures'; retryAfterMs: number };

/** Fewer than the five that Odoo allows, because other programs can share the address. */
const FAILURES_MAX = 3;
/** Less than {@link FAILURES_MAX}, so that a caller with one wrong credential can still try another. */
const FAILURES_OF_CREDENTIALS_MAX = 2;
/** Maximum of failures and unanswered trials together: one less than Odoo allows. */
const UNDECIDED_MAX = 4;
/** Odoo counts failures until a login succeeds. It is assumed that one does within this time. */
const FAILURES_TTL_MS = 900_000;
/** Duration of the lockout after the last failure that Odoo counted, unless its operator changed it. */
const COOLDOWN_MS = 60_000;
/**
 * Odoo 14 and 15 refuse credentials in less than a tenth of this. If a call takes longer, its credentials were
 * accepted, or no worker was free.
 */
const ASSUMED_ACCEPTED_AFTER_MS = 1_000;
const REMEMBERED_MAX = 10_000;

export class LoginTrials {
  readonly #nowMs: () => number;
  readonly #processes: () => number;
  /** Times of failures, by caller and database, and by credential. */
  readonly #failures = new LRUCache<string, number[]>(atMost(REMEMBERED_MAX));
  readonly #lastFailure = new LRUCache<string, number>(atMost(REMEMBERED_MAX));
  /** By database: when the lockout ends. */
  readonly #cooldowns = new LRUCache<string, number>(atMost(REMEMBERED_MAX));
  /** Trials whose outcome is not known yet, by the same names as the failures. */
  readonly #running = new Map<string, Set<LoginTrial>>();

  /**
   * `nowMs` is a monotonic clock. `processes` returns how many processes share the address; each of them has an equal
   * share of the limits.
   */
  constructor(nowMs: () => number, processes: () => number) {
    this.#nowMs = nowMs;
    this.#processes = processes;
  }

  decide(trial: LoginTrial): TrialDecision {
    const lockout = trial.findLockout();
    if (lockout === 'none') return 'allowed';
    const now = this.#nowMs();
    const cooldown = this.findCooldown(trial);
    if (cooldown !== null) return cooldown;
    const processes = this.#processes();
    const undecidedMax =
      lockout === 'known' ? divideWhole(UNDECIDED_MAX, processes) : Number.POSITIVE_INFINITY;
    // Checked first, because running trials need not be counted then.
    const hasAcceptedTrial = this.#hasAcceptedTrial(trial.credentialsId, now);
    let decision: TrialDecision = 'allowed';
    for (const { name, failuresMax } of listCounters(trial)) {
      const max = divideWhole(failuresMax, processes);
      const failures = this.#listRecentFailures(name, now);
      const [oldest] = failures.slice(-max);
      if (failures.length >= max && oldest !== undefined)
        return { refused: 'failures', retryAfterMs: oldest + FAILURES_TTL_MS - now };
      if (!hasAcceptedTrial && failures.length + this.#countUndecided(name, now) >= max) decision = 'wait';
      if (failures.length + (this.#running.get(name)?.size ?? 0) >= undecidedMax) decision = 'wait';
    }
    return decision;
  }

  /** Null if no lockout is known. */
  findCooldown({ database }: LoginTrial): Exclude<TrialDecision, string> | null {
    const leftMs = (this.#cooldowns.get(database) ?? 0) - this.#nowMs();
    return leftMs > 0 ? { refused: 'cooldown', retryAfterMs: leftMs } : null;
  }

  begin(trial: LoginTrial): void {
    for (const { name } of listCounters(trial)) {
      const open = this.#running.get(name);
      if (open === undefined) this.#running.set(name, new Set([trial]));
      else open.add(trial);
    }
  }

  end(trial: LoginTrial, isRefused: boolean): void {
    const now = this.#nowMs();
    const isFailure = isRefused && trial.findLockout() !== 'none';
    if (isFailure) this.#lastFailure.set(trial.database, now);
    for (const { name } of listCounters(trial)) {
      const open = this.#running.get(name);
      open?.delete(trial);
      if (open?.size === 0) this.#running.delete(name);
      if (isFailure)
        this.#failures.set(name, [...this.#listRecentFailures(name, now), now].slice(-FAILURES_MAX));
    }
  }

  /** True if a failure of these credentials still counts. */
  hasFailed({ credentialsId }: LoginTrial): boolean {
    return this.#listRecentFailures(credentialsId, this.#nowMs()).length > 0;
  }

  /** Records that Odoo has locked the address out. Returns the milliseconds until the lockout is expected to end. */
  recordCooldown(database: string): number {
    const now = this.#nowMs();
    const knownMs = this.#cooldowns.get(database) ?? 0;
    if (knownMs > now) return knownMs - now;
    const failedMs = this.#lastFailure.get(database) ?? Number.NEGATIVE_INFINITY;
    const untilMs = (failedMs + COOLDOWN_MS > now ? failedMs : now) + COOLDOWN_MS;
    this.#cooldowns.set(database, untilMs);
    return untilMs - now;
  }

  #listRecentFailures(name: string, now: number): number[] {
    return this.#failures.get(name)?.filter((ms) => ms + FAILURES_TTL_MS > now) ?? [];
  }

  #countUndecided(name: string, now: number): number {
    let count = 0;
    for (const trial of this.#running.get(name) ?? []) if (!isAssumedAccepted(trial, now)) count++;
    return count;
  }

  /** True if a call with these credentials is running: they are correct, or the server hangs and refuses nothing. */
  #hasAcceptedTrial(credentialsId: string, now: number): boolean {
    for (const trial of this.#running.get(credentialsId) ?? [])
      if (isAssumedAccepted(trial, now)) return true;
    return false;
  }
}

function isAssumedAccepted(trial: LoginTrial, now: number): boolean {
  const sentMs = trial.findSentMs();
  return sentMs !== null && now - sentMs >= ASSUMED_ACCEPTED_AFTER_MS;
}

function listCounters({ caller, database, credentialsId }: LoginTrial) {
  return [
    { name: `${caller} ${database}`, failuresMax: FAILURES_MAX },
    { name: credentialsId, failuresMax: FAILURES_OF_CREDENTIALS_MAX },
  ];
}

/**
 * Keeps Odoo 14 and 15 from locking this proxy's address out. There five wrong credentials from one address make a
 * worker process refuse every credential that it has to check, right ones too, for a minute
 * (docs/odoo-facts.md#login-cooldown). So the trials of credentials that were never seen to work are bounded for each
 * caller and each credential, and none is sent while the lockout lasts. Credentials are known by name only.
 */
import { LRUCache } from 'lru-cache';
import { divideWhole } from '../../limits/share.ts';

/** Whether wrong keys lock this address out there; `possible`: nothing is known of the server yet. */
export type Lockout = 'none' | 'possible' | 'known';

/** Credentials that were never seen to work. */
export interface LoginTrial {
  database: string;
  /** The client key. */
  caller: string;
  credentialsId: string;
  lockout(): Lockout;
  /** When the call was sent, by the monotonic clock; null: not yet. */
  sentMs(): number | null;
}

export type TrialLeave =
  | 'go'
  /** Others of this caller are on trial: their end decides. */
  | 'wait'
  | { refused: 'cooldown' | 'failures'; retryAfterMs: number };

/** Of the five that Odoo allows: others behind the same address have failures too. */
const FAILURES_MAX = 3;
/** One credential that fails leaves its caller a trial of others. */
const FAILURES_OF_CREDENTIALS_MAX = 2;
/** Failures, and trials without an answer: the last that Odoo allows is never used. */
const UNDECIDED_MAX = 4;
/** Odoo counts failures until something succeeds, however long that takes; in this time something does. */
const FAILURES_TTL_MS = 900_000;
/** From the last real failure on, unless the operator of that Odoo changed it. */
const COOLDOWN_MS = 60_000;
/** A refusal takes 14 and 15 less than a tenth of this: a call that takes longer was let in, or found no free worker. */
const LET_IN_AFTER_MS = 1_000;
const REMEMBERED_MAX = 10_000;

export class LoginTrials {
  readonly #nowMs: () => number;
  readonly #processes: () => number;
  /** By caller and database, and by credential: when Odoo refused something. */
  readonly #failures = new LRUCache<string, number[]>({ max: REMEMBERED_MAX });
  readonly #lastFailure = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  /** By database, until when. */
  readonly #cooldowns = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  readonly #open = new Map<string, Set<LoginTrial>>();

  /** `nowMs` is a monotonic clock; `processes` share the address, each keeps its part of the bound. */
  constructor(nowMs: () => number, processes: () => number) {
    this.#nowMs = nowMs;
    this.#processes = processes;
  }

  judge(trial: LoginTrial): TrialLeave {
    const lockout = trial.lockout();
    if (lockout === 'none') return 'go';
    const now = this.#nowMs();
    const cooldown = this.findCooldown(trial);
    if (cooldown !== null) return cooldown;
    const processes = this.#processes();
    const undecidedMax =
      lockout === 'known' ? divideWhole(UNDECIDED_MAX, processes) : Number.POSITIVE_INFINITY;
    // First: the others on trial need not be counted then.
    const wasLetIn = this.#wasLetIn(trial.credentialsId, now);
    let leave: TrialLeave = 'go';
    for (const { name, failuresMax } of namesOf(trial)) {
      const max = divideWhole(failuresMax, processes);
      const failures = this.#recent(name, now);
      const [oldest] = failures.slice(-max);
      if (failures.length >= max && oldest !== undefined)
        return { refused: 'failures', retryAfterMs: oldest + FAILURES_TTL_MS - now };
      if (!wasLetIn && failures.length + this.#countOpen(name, now) >= max) leave = 'wait';
      if (failures.length + (this.#open.get(name)?.size ?? 0) >= undecidedMax) leave = 'wait';
    }
    return leave;
  }

  /** Null where no lockout is known. */
  findCooldown({ database }: LoginTrial): Exclude<TrialLeave, string> | null {
    const leftMs = (this.#cooldowns.get(database) ?? 0) - this.#nowMs();
    return leftMs > 0 ? { refused: 'cooldown', retryAfterMs: leftMs } : null;
  }

  begin(trial: LoginTrial): void {
    for (const { name } of namesOf(trial)) {
      const open = this.#open.get(name);
      if (open === undefined) this.#open.set(name, new Set([trial]));
      else open.add(trial);
    }
  }

  end(trial: LoginTrial, isRefused: boolean): void {
    const now = this.#nowMs();
    const counts = isRefused && trial.lockout() !== 'none';
    if (counts) this.#lastFailure.set(trial.database, now);
    for (const { name } of namesOf(trial)) {
      const open = this.#open.get(name);
      open?.delete(trial);
      if (open?.size === 0) this.#open.delete(name);
      if (counts) this.#failures.set(name, [...this.#recent(name, now), now].slice(-FAILURES_MAX));
    }
  }

  /** Whether Odoo has refused them so lately that they count. */
  hasFailed({ credentialsId }: LoginTrial): boolean {
    return this.#recent(credentialsId, this.#nowMs()).length > 0;
  }

  /** Odoo says that the address is locked out. Gives how long that is still so, as far as is known. */
  noteCooldown(database: string): number {
    const now = this.#nowMs();
    const knownMs = this.#cooldowns.get(database) ?? 0;
    if (knownMs > now) return knownMs - now;
    const failedMs = this.#lastFailure.get(database) ?? Number.NEGATIVE_INFINITY;
    const untilMs = (failedMs + COOLDOWN_MS > now ? failedMs : now) + COOLDOWN_MS;
    this.#cooldowns.set(database, untilMs);
    return untilMs - now;
  }

  #recent(name: string, now: number): number[] {
    return this.#failures.get(name)?.filter((ms) => ms + FAILURES_TTL_MS > now) ?? [];
  }

  #countOpen(name: string, now: number): number {
    let count = 0;
    for (const trial of this.#open.get(name) ?? []) if (!isLetIn(trial, now)) count++;
    return count;
  }

  /** Whether a call with these credentials runs: then they are right, or the server hangs and refuses nothing. */
  #wasLetIn(credentialsId: string, now: number): boolean {
    for (const trial of this.#open.get(credentialsId) ?? []) if (isLetIn(trial, now)) return true;
    return false;
  }
}

function isLetIn(trial: LoginTrial, now: number): boolean {
  const sentMs = trial.sentMs();
  return sentMs !== null && now - sentMs >= LET_IN_AFTER_MS;
}

function namesOf({ caller, database, credentialsId }: LoginTrial) {
  return [
    { name: `${caller} ${database}`, failuresMax: FAILURES_MAX },
    { name: credentialsId, failuresMax: FAILURES_OF_CREDENTIALS_MAX },
  ];
}

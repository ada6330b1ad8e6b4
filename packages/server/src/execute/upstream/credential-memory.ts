/**
 * Remembers for a short time which credentials Odoo refused, so that a storm of bad keys does not reach it: each costs
 * some 330 ms of a worker (docs/odoo-facts.md#wrong-key-cost). Of credentials that it has not seen yet one call goes
 * ahead and the others wait a moment for its verdict. Where wrong keys lock the proxy's address out, their trials are
 * bounded (login-trials.ts). It knows credentials by name only (credentials-id.ts).
 */
import { LRUCache } from 'lru-cache';
import { delay } from '../../streams/wait.ts';
import type { LoginTrial, LoginTrials, TrialLeave } from './login-trials.ts';

/**
 * What an answer of Odoo said about the credentials; `unknown` where it did not get so far. `doubtful`: a refusal that can be
 * the method's own. It is not remembered, and counts among the failures that lock the address out.
 */
export type Verdict = 'accepted' | 'refused' | 'doubtful' | 'unknown';

/** No trial of these credentials may be sent now. */
export type BarredTrial = Exclude<TrialLeave, string>;

export type Checked = Ticket | 'refused' | BarredTrial;

export interface CredentialMemory {
  /**
   * `refused`: Odoo said no lately. With a ticket the call may go, and must call `settle` with what came of it. Where the
   * credentials are being tried by another call, its verdict is waited for, until the signal ends.
   */
  check(trial: LoginTrial, signal: AbortSignal): Checked | Promise<Checked>;
  /** Odoo says that it refuses unknown credentials of this address for now. Gives how long in milliseconds. */
  noteCooldown(database: string): number;
}

export interface Ticket {
  /** Whether the credentials are tried: they were never seen to work. */
  isTrial: boolean;
  /** To be asked right before the call is sent: a lockout may have begun while it waited. */
  findBar(): BarredTrial | null;
  settle(verdict: Verdict): void;
}

/** Of a call that nothing is to be learnt from. */
const NO_BAR = () => null;
const NO_TICKET: Ticket = { isTrial: false, findBar: NO_BAR, settle() {} };
const REMEMBERED_MAX = 10_000;
/** A refused key takes Odoo a third of a second; a call that takes longer than this has been let in. */
const WAIT_MS_MAX = 1000;
/** How often a call that waits for other trials looks whether they count still. */
const LOOK_MS = 100;

/** `refusedTtlMs` 0 turns the memory off, and with it the bounds of trials. `nowMs` is a monotonic clock in milliseconds. */
export function createCredentialMemory(
  refusedTtlMs: number,
  nowMs: () => number,
  trials: LoginTrials,
): CredentialMemory {
  const noteCooldown = (database: string) => trials.noteCooldown(database);
  if (refusedTtlMs === 0) return { check: () => NO_TICKET, noteCooldown };
  const verdicts = new LRUCache<string, 'accepted' | 'refused'>({
    max: REMEMBERED_MAX,
    // The clock is asked each time: the library's own copy of it is renewed by a real timer.
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  /** By credentials that are being tried: aborted once Odoo's verdict is there. */
  const verdictsDue = new Map<string, AbortSignal>();

  function check(trial: LoginTrial, signal: AbortSignal): Checked | Promise<Checked> {
    const known = findKnown(trial.credentialsId);
    if (known !== null) return known;
    const due = verdictsDue.get(trial.credentialsId);
    if (due !== undefined) return waitForVerdict(due, trial, signal);
    const leave = trials.judge(trial);
    return leave === 'wait' ? waitForLeave(trial, signal) : start(trial, leave);
  }

  function findKnown(id: string): Ticket | 'refused' | null {
    const verdict = verdicts.get(id);
    if (verdict === 'accepted') return { isTrial: false, findBar: NO_BAR, settle: (news) => doubt(id, news) };
    return verdict ?? null;
  }

  /**
   * Methods raise AccessDenied too (a wrong old password in `change_password`), which says nothing about credentials that
   * Odoo has accepted before: the next call puts them on trial.
   */
  function doubt(id: string, news: Verdict): void {
    if (news === 'refused' && verdicts.get(id) === 'accepted') verdicts.delete(id);
  }

  /** Others with the same credentials wait for the first that starts. */
  function start(trial: LoginTrial, leave: 'go' | BarredTrial): Checked {
    // What Odoo said of these is still the best answer.
    if (leave !== 'go') return leave.refused === 'failures' && trials.hasFailed(trial) ? 'refused' : leave;
    const id = trial.credentialsId;
    const verdict = new AbortController();
    const isFirst = !verdictsDue.has(id);
    if (isFirst) verdictsDue.set(id, verdict.signal);
    trials.begin(trial);
    return {
      isTrial: true,
      findBar: () => trials.findCooldown(trial),
      settle(news) {
        learn(id, news);
        trials.end(trial, news === 'refused' || news === 'doubtful');
        if (isFirst) verdictsDue.delete(id);
        verdict.abort();
      },
    };
  }

  async function waitForVerdict(due: AbortSignal, trial: LoginTrial, signal: AbortSignal): Promise<Checked> {
    await delay(WAIT_MS_MAX, due, signal);
    return findKnown(trial.credentialsId) ?? waitForLeave(trial, signal);
  }

  async function waitForLeave(trial: LoginTrial, signal: AbortSignal): Promise<Checked> {
    while (!signal.aborted) {
      const known = findKnown(trial.credentialsId);
      if (known !== null) return known;
      const leave = trials.judge(trial);
      if (leave !== 'wait') return start(trial, leave);
      await delay(LOOK_MS, signal);
    }
    return NO_TICKET;
  }

  function learn(id: string, news: Verdict): void {
    if (news === 'refused') verdicts.set(id, news, { ttl: refusedTtlMs });
    // A refusal that another call met meanwhile is newer: a key can be revoked while calls run.
    else if (news === 'accepted' && !verdicts.has(id)) verdicts.set(id, news);
  }

  return { check, noteCooldown };
}

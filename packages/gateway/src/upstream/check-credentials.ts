/**
 * Step: refuses credentials that Odoo refused recently, and delays calls with unknown credentials while others are
 * tried. The reply of the call tells whether its credentials work ({@link CredentialMemory}, login-trials.ts).
 */

import { atMost, delay, waitFor } from '@erp-proxy/async/tasks';
import { LRUCache } from 'lru-cache';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { denyTrial, LoginCooldown } from '../terms/upstream-denials.ts';
import type { Lockout, LoginTrial, LoginTrials, TrialDecision } from './login-trials.ts';
import { nameDatabaseByTrust } from './target-names.ts';

export interface CheckCredentialsDeps {
  credentials: CredentialMemory;
}

/** How a protocol treats wrong credentials. */
export interface CredentialRules {
  /** The reply for credentials that Odoo has refused recently, equal to Odoo's own. */
  refusedBefore: Reply;
  /** Tells whether wrong credentials lock the proxy's address out of this server. */
  findLockout: (target: Target) => Lockout;
}

interface CredentialCall {
  isReadOnly: boolean;
  target: Target;
}

export function checkCredentials(
  { refusedBefore, findLockout }: CredentialRules,
  { credentials }: CheckCredentialsDeps,
): Step<CredentialCall> {
  return async function checkCredentials({ target, isReadOnly }, context, next) {
    const checking = credentials.check(
      {
        database: nameDatabaseByTrust(target),
        caller: context.client.key.id,
        credentialsId: target.credentialsId,
        findLockout: () => findLockout(target),
        findSentMs: () => context.trace.sentMs,
      },
      context.time.signal,
    );
    const checked = checking instanceof Promise ? await checking : checking;
    if (checked === 'refused') return refusedBefore;
    if ('refused' in checked) return denyRefusedTrial(checked, isReadOnly);
    context.credentialCheck = {
      isTrial: checked.isTrial,
      findDenial() {
        const refusal = checked.findRefusal();
        return refusal && denyRefusedTrial(refusal, isReadOnly);
      },
    };
    let reply: Reply | null = null;
    try {
      reply = await next(context);
    } finally {
      checked.settle(findOutcome(reply, target, isReadOnly));
    }
    return reply instanceof LoginCooldown ? addRetryTime(reply, target, isReadOnly) : reply;
  };

  /** Replaces `retry-after`: only the memory knows when the lockout began. */
  function addRetryTime({ more }: LoginCooldown, target: Target, isReadOnly: boolean): Denial {
    const outcome = more.outcome ?? 'rolled_back';
    const leftMs = credentials.recordCooldown(nameDatabaseByTrust(target));
    return new LoginCooldown({ outcome, isReadOnly }, toSeconds(leftMs));
  }
}

function denyRefusedTrial({ refused, retryAfterMs }: RefusedTrial, isReadOnly: boolean): Denial {
  const seconds = toSeconds(retryAfterMs);
  if (refused === 'failures') return denyTrial({ isReadOnly }, seconds);
  return new LoginCooldown({ outcome: 'not_sent', isReadOnly }, seconds);
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/**
 * Several callers share the credentials of a stored instance. A method that raises AccessDenied itself (a wrong old
 * password in `change_password`) must not lock the others out. Reads do not raise it.
 */
function findOutcome(reply: Reply | null, { instance }: Target, isReadOnly: boolean): CredentialOutcome {
  const outcome = readOutcome(reply);
  return outcome === 'refused' && instance !== null && !isReadOnly ? 'doubtful' : outcome;
}

/** Odoo has accepted the credentials if it did anything after checking them. */
function readOutcome(reply: Reply | null): CredentialOutcome {
  if (reply === null || reply instanceof Denial) return 'unknown';
  if (reply.kind === 'result') return 'accepted';
  if (reply.kind !== 'fault') return 'unknown';
  if (reply.fault.data.type === 'access_denied') return 'refused';
  return reply.fault.data.type === 'access_error' ? 'accepted' : 'unknown';
}

/**
 * What an answer of Odoo says about the credentials. `unknown`: nothing. `doubtful`: a refusal that the method itself
 * may have raised. It is not remembered, but counts as a failure that can lock the address out.
 */
type CredentialOutcome = 'accepted' | 'refused' | 'doubtful' | 'unknown';

/** Why these credentials must not be tried now. */
type RefusedTrial = Exclude<TrialDecision, string>;

export type CheckResult = CredentialUse | 'refused' | RefusedTrial;

/**
 * Remembers for a short time which credentials Odoo refused, so that a flood of wrong keys does not reach it: each
 * check takes some 330 ms of a worker (docs/odoo-facts.md#wrong-key-cost). If several calls have the same unknown
 * credentials, one is sent first, and the others wait a moment for the outcome. If wrong keys lock the proxy's address
 * out, the number of trials is limited (login-trials.ts). Credentials are known by their identifiers only
 * (resolve.ts).
 */
interface CredentialMemory {
  /**
   * Returns `refused` if Odoo refused the credentials recently. A {@link CredentialUse} lets the call go on, and the
   * call must settle it. While another call tries the same credentials, waits for its outcome, or until `signal`
   * aborts.
   */
  check(trial: LoginTrial, signal: AbortSignal): CheckResult | Promise<CheckResult>;
  /** Records that Odoo has locked this address out. Returns the milliseconds until the lockout ends. */
  recordCooldown(database: string): number;
}

/** The permission of one call to use its credentials. */
export interface CredentialUse {
  /** True if the credentials have not been seen to work. */
  isTrial: boolean;
  /** Must be called right before the call is sent: a lockout may have begun while the call waited. */
  findRefusal(): RefusedTrial | null;
  /** Records the outcome. Must be called once. */
  settle(outcome: CredentialOutcome): void;
}

const NO_REFUSAL = () => null;
/** For a call whose outcome is not recorded. */
const UNTRACKED_USE: CredentialUse = { isTrial: false, findRefusal: NO_REFUSAL, settle() {} };
const REMEMBERED_MAX = 10_000;
/** Odoo refuses a key within a third of a second. If a call takes longer than this, its key was accepted. */
const OUTCOME_WAIT_MS_MAX = 1000;
/** Milliseconds between two checks of a call that waits for other trials. */
const POLL_MS = 100;

/**
 * `refusedTtlMs` is how long a refusal is remembered; 0 turns off the memory and the limits of trials. `nowMs` is a
 * monotonic clock in milliseconds.
 */
export function createCredentialMemory(
  refusedTtlMs: number,
  nowMs: () => number,
  trials: LoginTrials,
): CredentialMemory {
  const recordCooldown = (database: string) => trials.recordCooldown(database);
  if (refusedTtlMs === 0) return { check: () => UNTRACKED_USE, recordCooldown };
  const outcomes = new LRUCache<string, 'accepted' | 'refused'>({
    ...atMost(REMEMBERED_MAX),
    // Reads the clock each time, because the library would refresh its copy by a real timer.
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  /** By the identifier of credentials that are being tried. */
  const pendingOutcomes = new Map<string, PendingOutcome>();

  function check(trial: LoginTrial, signal: AbortSignal): CheckResult | Promise<CheckResult> {
    const known = findKnown(trial.credentialsId);
    if (known !== null) return known;
    const pending = pendingOutcomes.get(trial.credentialsId);
    if (pending !== undefined) return waitForOutcome(pending, trial, signal);
    const decision = trials.decide(trial);
    return decision === 'wait' ? waitForTrials(trial, signal) : startTrial(trial, decision);
  }

  function findKnown(id: string): CredentialUse | 'refused' | null {
    const known = outcomes.get(id);
    if (known === 'accepted')
      return { isTrial: false, findRefusal: NO_REFUSAL, settle: (outcome) => forgetAccepted(id, outcome) };
    return known ?? null;
  }

  /**
   * Makes the next call a trial again after a refusal. The refusal of credentials that Odoo has accepted is not
   * remembered, because methods also raise AccessDenied (a wrong old password in `change_password`).
   */
  function forgetAccepted(id: string, outcome: CredentialOutcome): void {
    if (outcome === 'refused' && outcomes.get(id) === 'accepted') outcomes.delete(id);
  }

  /** Later calls with the same credentials wait for the outcome of this one. */
  function startTrial(trial: LoginTrial, decision: 'allowed' | RefusedTrial): CheckResult {
    if (decision !== 'allowed') {
      // If Odoo has refused these credentials, its refusal explains more than the limit of trials.
      return decision.refused === 'failures' && trials.hasFailed(trial) ? 'refused' : decision;
    }
    const id = trial.credentialsId;
    const pending = pendingOutcomes.has(id) ? null : new PendingOutcome();
    if (pending !== null) pendingOutcomes.set(id, pending);
    trials.begin(trial);
    return {
      isTrial: true,
      findRefusal: () => trials.findCooldown(trial),
      settle(outcome) {
        remember(id, outcome);
        trials.end(trial, outcome === 'refused' || outcome === 'doubtful');
        if (pending === null) return;
        pendingOutcomes.delete(id);
        pending.settle();
      },
    };
  }

  async function waitForOutcome(
    pending: PendingOutcome,
    trial: LoginTrial,
    signal: AbortSignal,
  ): Promise<CheckResult> {
    await waitFor(pending.expected, { signal });
    return findKnown(trial.credentialsId) ?? waitForTrials(trial, signal);
  }

  async function waitForTrials(trial: LoginTrial, signal: AbortSignal): Promise<CheckResult> {
    while (!signal.aborted) {
      const known = findKnown(trial.credentialsId);
      if (known !== null) return known;
      const decision = trials.decide(trial);
      if (decision !== 'wait') return startTrial(trial, decision);
      await delay(POLL_MS, signal);
    }
    return UNTRACKED_USE;
  }

  function remember(id: string, outcome: CredentialOutcome): void {
    if (outcome === 'refused') outcomes.set(id, outcome, { ttl: refusedTtlMs });
    // A refusal by another call in the meantime is newer: a key can be revoked while calls run.
    else if (outcome === 'accepted' && !outcomes.has(id)) outcomes.set(id, outcome);
  }

  return { check, recordCooldown };
}

/** The outcome of a trial that others wait for. Thousands of calls may wait, so they share a promise and a timer. */
class PendingOutcome {
  readonly #settled = Promise.withResolvers<void>();
  readonly settle = this.#settled.resolve;
  #expected: Promise<unknown> | null = null;

  /** Resolves with the outcome, or once no outcome is expected any more: a second after the first call that waits. */
  get expected(): Promise<unknown> {
    this.#expected ??= waitFor(this.#settled.promise, { timeoutMs: OUTCOME_WAIT_MS_MAX });
    return this.#expected;
  }
}

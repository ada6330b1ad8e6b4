/**
 * Step: refuses credentials that Odoo refused recently, and delays calls with unknown credentials while others are
 * tried. The reply of the call tells whether its credentials work (credential-memory.ts, login-trials.ts).
 */
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { denyTrial, LoginCooldown } from '../terms/upstream-denials.ts';
import type { CredentialMemory, CredentialVerdict, RefusedTrial } from './credential-memory.ts';
import type { Lockout } from './login-trials.ts';
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
      checked.settle(findVerdict(reply, target, isReadOnly));
    }
    return reply instanceof LoginCooldown ? addRetryTime(reply, target, isReadOnly) : reply;
  };

  /** Replaces `retry-after`: only the memory knows when the lockout began. */
  function addRetryTime({ more }: LoginCooldown, target: Target, isReadOnly: boolean): Denial {
    const outcome = more.outcome ?? 'rolled_back';
    const leftMs = credentials.noteCooldown(nameDatabaseByTrust(target));
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
function findVerdict(reply: Reply | null, { instance }: Target, isReadOnly: boolean): CredentialVerdict {
  const verdict = readVerdict(reply);
  return verdict === 'refused' && instance !== null && !isReadOnly ? 'doubtful' : verdict;
}

/** Odoo has accepted the credentials if it did anything after checking them. */
function readVerdict(reply: Reply | null): CredentialVerdict {
  if (reply === null || reply instanceof Denial || reply.kind === 'kept') return 'unknown';
  if (reply.kind === 'result') return 'accepted';
  if (reply.fault.data.type === 'access_denied') return 'refused';
  return reply.fault.data.type === 'access_error' ? 'accepted' : 'unknown';
}

/**
 * Step: refuses credentials that Odoo refused recently, and holds back trials of unknown ones while others are tried. The
 * reply of the call tells whether they work (credential-memory.ts, login-trials.ts).
 */
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { denyTrial, LoginCooldown } from '../terms/upstream-denials.ts';
import type { BarredTrial, Checked, CredentialMemory, Verdict } from './credential-memory.ts';
import type { Lockout } from './login-trials.ts';
import { nameDatabaseByTrust } from './target-names.ts';

export interface CheckCredentialsDeps {
  credentials: CredentialMemory;
}

/** How a protocol treats wrong credentials. */
export interface CredentialRules {
  /** The reply that Odoo gives to credentials that it has refused recently. */
  refusedBefore: Reply;
  /** Whether wrong credentials lock the address of the proxy out of this server. */
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
  return function checkCredentials(call, context) {
    const { target } = call;
    const checked = credentials.check(
      {
        database: nameDatabaseByTrust(target),
        caller: context.client.key.id,
        credentialsId: target.credentialsId,
        lockout: () => findLockout(target),
        sentMs: () => context.trace.sentMs,
      },
      context.time.signal,
    );
    return checked instanceof Promise
      ? checked.then((late) => begin(late, call, context))
      : begin(checked, call, context);
  };

  function begin(
    checked: Checked,
    { target, isReadOnly }: CredentialCall,
    context: CallContext,
  ): Reply | null {
    if (checked === 'refused') return refusedBefore;
    if ('refused' in checked) return denyBarred(checked, isReadOnly);
    context.trial = {
      isTrial: checked.isTrial,
      findDenial() {
        const bar = checked.findBar();
        return bar && denyBarred(bar, isReadOnly);
      },
    };
    context.onReply((reply) => {
      checked.settle(judge(reply, target, isReadOnly));
      return reply instanceof LoginCooldown ? addRetryTime(reply, target, isReadOnly) : reply;
    });
    return null;
  }

  /** Only the memory knows when the lockout began. */
  function addRetryTime({ more }: LoginCooldown, target: Target, isReadOnly: boolean): Denial {
    const outcome = more.outcome ?? 'rolled_back';
    const leftMs = credentials.noteCooldown(nameDatabaseByTrust(target));
    return new LoginCooldown({ outcome, isReadOnly }, toSeconds(leftMs));
  }
}

function denyBarred({ refused, retryAfterMs }: BarredTrial, isReadOnly: boolean): Denial {
  const seconds = toSeconds(retryAfterMs);
  if (refused === 'failures') return denyTrial({ isReadOnly }, seconds);
  return new LoginCooldown({ outcome: 'not_sent', isReadOnly }, seconds);
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/**
 * The credentials of an instance are shared. A method that raises AccessDenied itself (a wrong old password in
 * `change_password`) must not lock other callers out. Reads do not raise it.
 */
function judge(reply: Reply | null, { instance }: Target, isReadOnly: boolean): Verdict {
  const verdict = judgeReply(reply);
  return verdict === 'refused' && instance !== null && !isReadOnly ? 'doubtful' : verdict;
}

/** Only what Odoo did after it checked the credentials speaks for them. */
function judgeReply(reply: Reply | null): Verdict {
  if (reply === null || reply instanceof Denial || reply.kind === 'kept') return 'unknown';
  if (reply.kind === 'result') return 'accepted';
  if (reply.fault.data.type === 'access_denied') return 'refused';
  return reply.fault.data.type === 'access_error' ? 'accepted' : 'unknown';
}

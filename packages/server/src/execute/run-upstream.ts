/**
 * What goes around every call to Odoo, whatever protocol carries it: the instance's own time and number of calls at once,
 * and what is remembered of its credentials.
 */
import type { Slots } from '../limits/slots.ts';
import type { CredentialMemory, Verdict } from './credential-memory.ts';
import { Denial } from './denial.ts';
import { judgeCredentials } from './judge-credentials.ts';
import { claimKey } from './protect.ts';
import type { Reply } from './receive.ts';
import type { CallScope, Run } from './request-pipeline.ts';
import type { Target } from './resolve.ts';
import { denyEnded } from './upstream-denials.ts';

export interface UpstreamDeps {
  credentials: CredentialMemory;
  /** Calls that run at each instance with a limit of its own. */
  instanceSlots: Slots;
}

export interface UpstreamWork {
  target: Target;
  isReadOnly: boolean;
  /** The reply to credentials that Odoo refused a moment ago. */
  refusedBefore: Reply;
  send(): Promise<Reply>;
}

export async function runUpstream(
  { target, isReadOnly, refusedBefore, send }: UpstreamWork,
  scope: CallScope,
  run: Run<UpstreamDeps>,
): Promise<Reply> {
  const { deadline, deps } = run;
  allowTime(target, run);
  const refusal = await takeSlot(target, isReadOnly, scope, run);
  if (refusal !== null) return refusal;
  const ticket = await deps.credentials.check(target.credentialsId, deadline.signal);
  if (ticket === 'refused') return refusedBefore;
  let reply: Reply | undefined;
  try {
    reply = (await claimKey(scope.protection, isReadOnly, run)) ?? (await send());
    return reply;
  } finally {
    ticket.settle(judge(reply, target, isReadOnly));
  }
}

/** A slot of the instance, which is the call's until its answer has left: so long a worker of Odoo may be at it. */
async function takeSlot(
  { instance }: Target,
  isReadOnly: boolean,
  scope: CallScope,
  { deadline, deps: { instanceSlots } }: Run<UpstreamDeps>,
): Promise<Denial | null> {
  if (instance === null || instance.concurrency === null) return null;
  const { id, concurrency } = instance;
  if (await instanceSlots.take(id, concurrency, deadline.signal)) {
    scope.onDone = () => instanceSlots.free(id);
    return null;
  }
  return deadline.reason === null
    ? denyQueue(isReadOnly)
    : denyEnded(deadline, { outcome: 'not_sent', isReadOnly });
}

/**
 * The credentials of an instance are shared: a method that raises AccessDenied itself (a wrong old password in
 * `change_password`) must not shut out the others. Reads do not.
 */
function judge(reply: Reply | undefined, { instance }: Target, isReadOnly: boolean): Verdict {
  const verdict = judgeCredentials(reply);
  return verdict === 'refused' && instance !== null && !isReadOnly ? 'unknown' : verdict;
}

/** The time of the instance holds where the caller asked for none; calls of a batch share the longest. */
function allowTime({ instance }: Target, run: Run<unknown>): void {
  const timeoutMs = instance?.timeoutMs ?? null;
  if (timeoutMs === null || run.askedTimeoutMs !== null) return;
  if (run.isBatch && timeoutMs <= run.allowedMs) return;
  run.allowedMs = timeoutMs;
  run.deadline.startClock(timeoutMs);
}

function denyQueue(isReadOnly: boolean): Denial {
  return new Denial(
    'overloaded',
    'Too many calls wait for this instance already; send this one again in a moment. It was not sent.',
    { outcome: 'not_sent', isReadOnly, retryAfterSeconds: 1 },
  );
}

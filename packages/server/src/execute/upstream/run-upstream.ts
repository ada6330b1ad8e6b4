/**
 * What goes around every call to Odoo, whatever protocol carries it: what is remembered of its credentials, its turn at
 * the database, the idempotency key that it is sent under, and how often it is sent; and before it, the instance's own time.
 */
import type { EgressAnswer } from '../../egress/dispatcher.ts';
import type {
  DatabaseLimiters,
  Permit,
  PermitRequest,
  PermitResult,
} from '../../limits/database/database-limiters.ts';
import type { Events } from '../../observe/events.ts';
import type { Target } from '../call/resolve.ts';
import type { CallScope, Run } from '../run-request.ts';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import type { BarredTrial, CredentialMemory, Verdict } from './credential-memory.ts';
import { judgeCredentials } from './judge-credentials.ts';
import type { Lockout } from './login-trials.ts';
import { claimKey, extendClaims, findKept } from './protect.ts';
import type { Reply, ResultReply } from './receive.ts';
import { type Attempt, type RetryDeps, sendWithRetries } from './retry.ts';
import { nameDatabaseByTrust, nameUser } from './target-names.ts';
import { CHANGED, denyEnded, denyTrial, LoginCooldown } from './upstream-denials.ts';
import { WatchedBody } from './watched-body.ts';

export interface UpstreamDeps {
  credentials: CredentialMemory;
  databaseLimiters: DatabaseLimiters;
  retries: RetryDeps;
  events: Events;
  nowMs: () => number;
}

export interface UpstreamWork {
  target: Target;
  isReadOnly: boolean;
  /** The reply to credentials that Odoo refused a moment ago. */
  refusedBefore: Reply;
  /** Null where the call goes to no server that locks addresses out. */
  logins: Logins | null;
  send(): Promise<Attempt>;
}

/** What is known of the lockout of a server. */
export interface Logins {
  /** Whether wrong credentials lock the proxy's address out. */
  lockout(): Lockout;
  /** The head of an answer tells more of it. */
  hear(answer: EgressAnswer): void;
}

export async function runUpstream(
  { target, isReadOnly, refusedBefore, logins, send }: UpstreamWork,
  scope: CallScope,
  run: Run<UpstreamDeps>,
): Promise<Reply> {
  const { deadline, deps } = run;
  // Only now is it known that the key may still make the call, and where it would go.
  scope.protection = scope.protect?.(nameUser(target)) ?? null;
  const kept = scope.protection === null ? null : await findKept(scope.protection, scope, run);
  if (kept !== null) return (await scope.isUnchanged()) ? kept : CHANGED;
  const ticket = await deps.credentials.check(
    {
      database: nameDatabaseByTrust(target),
      caller: scope.client.key.id,
      credentialsId: target.credentialsId,
      lockout: () => logins?.lockout() ?? 'none',
      sentMs: () => scope.trace.sentMs,
    },
    deadline.signal,
  );
  if (ticket === 'refused') return refusedBefore;
  if ('refused' in ticket) return denyBarred(ticket, isReadOnly);
  const { isTrial, findBar } = ticket;
  let reply: Reply | undefined;
  try {
    reply = await sendInTurn();
    return reply instanceof LoginCooldown ? tellCooldown(reply) : reply;
  } finally {
    ticket.settle(judge(reply, target, isReadOnly));
  }

  /** The turn is the call's until all of its answer has come: so long a worker of Odoo is at it. */
  async function sendInTurn(): Promise<Reply> {
    const permit = await takePermit(target, isReadOnly, scope, run);
    if (permit instanceof Denial) return permit;
    let result: PermitResult = 'abandoned';
    scope.onDone = once(() => permit.release(result));
    if (!(await scope.isUnchanged())) return CHANGED;
    const known = await claimKey(scope, isReadOnly, run);
    if (known !== null) return (await scope.isUnchanged()) ? known : CHANGED;
    permit.markSent();
    const sent = await sendWithRetries(
      {
        send: sendUnchanged,
        isReadOnly,
        database: nameDatabaseByTrust(target),
        permit,
        deadline,
        onRetry: (reason) => deps.events.callRetried(reason),
      },
      deps.retries,
    );
    result = judgeServer(sent, deadline);
    if (result === 'answered') permit.markAnswered();
    return leaveWhenWhole(sent, scope.onDone);
  }

  function tellCooldown({ more }: LoginCooldown): Denial {
    const leftMs = deps.credentials.noteCooldown(nameDatabaseByTrust(target));
    return new LoginCooldown({ outcome: more.outcome ?? 'rolled_back', isReadOnly }, toSeconds(leftMs));
  }

  async function sendUnchanged(): Promise<Attempt> {
    if (!(await scope.isUnchanged())) return { reply: CHANGED, met: null };
    const bar = findBar();
    if (bar !== null) return { reply: denyBarred(bar, isReadOnly), met: null };
    const attempt = await send();
    if (isTrial && attempt.met?.ok) logins?.hear(attempt.met);
    return attempt;
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

function leaveWhenWhole(reply: Reply, leave: () => void): Reply {
  const rest = !(reply instanceof Denial) && reply.kind === 'result' ? reply.rest : null;
  if (rest !== null) return { ...(reply as ResultReply), rest: new WatchedBody(rest, leave) };
  leave();
  return reply;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

async function takePermit(
  target: Target,
  isReadOnly: boolean,
  { client }: CallScope,
  run: Run<UpstreamDeps>,
): Promise<Permit | Denial> {
  const { deadline, deps } = run;
  const outcome = await deps.databaseLimiters.acquire({
    database: nameDatabaseByTrust(target),
    client: client.key.id,
    // Read when its turn comes: who shares the call may have brought it more time.
    get deadlineMs() {
      return run.dueMs;
    },
    signal: deadline.signal,
    bound: findBound(target),
  });
  if (!('refused' in outcome)) return outcome;
  const fate = { outcome: 'not_sent', isReadOnly } as const;
  if (deadline.reason === 'shutdown') return denyEnded(deadline, fate);
  const { retryAfterSeconds } = outcome;
  const message = `${REFUSALS[outcome.refused]} Send the call again in ${retryAfterSeconds} s; nothing of it was sent.`;
  return new Denial('overloaded', message, { ...fate, retryAfterSeconds, detail: outcome.refused });
}

function findBound({ instance }: Target): PermitRequest['bound'] {
  const max = instance?.concurrency ?? null;
  return instance === null || max === null ? null : { instance: instance.id, max };
}

const REFUSALS = {
  queue_full: 'Too many calls wait for this Odoo database already.',
  too_late: 'So many calls wait for this Odoo database that this one would not be done in its time.',
  ended: 'The time of the call ended before it had its turn at this Odoo database.',
  breaker_open: 'This Odoo database has not answered lately, and is left alone for a moment.',
};

/** What the reply to a call that was sent says of the server. */
function judgeServer(reply: Reply, { reason }: Deadline): PermitResult {
  if (!(reply instanceof Denial) || reply.type === 'upstream_bad_response') return 'answered';
  // Odoo has answered, to these credentials only.
  if (reply instanceof LoginCooldown) return 'answered';
  if (reason === 'shutdown') return 'abandoned';
  switch (reply.type) {
    case 'upstream_timeout':
      return reason === 'caller_left' ? 'caller_left' : 'timed_out';
    case 'upstream_unreachable':
      return 'unreachable';
    case 'overloaded':
      return 'overloaded';
    default:
      return 'abandoned';
  }
}

/**
 * The credentials of an instance are shared: a method that raises AccessDenied itself (a wrong old password in
 * `change_password`) must not shut out the others. Reads do not.
 */
function judge(reply: Reply | undefined, { instance }: Target, isReadOnly: boolean): Verdict {
  const verdict = judgeCredentials(reply);
  return verdict === 'refused' && instance !== null && !isReadOnly ? 'doubtful' : verdict;
}

/** The time of the instance holds where the caller asked for none; calls of a batch share the longest. */
export function allowTime({ instance }: Target, run: Run<UpstreamDeps>): void {
  const timeoutMs = instance?.timeoutMs ?? null;
  if (timeoutMs === null || run.askedTimeoutMs !== null) return;
  if (run.isBatch ? timeoutMs <= run.allowedMs : timeoutMs === run.allowedMs) return;
  run.allowedMs = timeoutMs;
  run.dueMs = run.deps.nowMs() + timeoutMs;
  run.deadline.startClock(timeoutMs);
  extendClaims(run);
}

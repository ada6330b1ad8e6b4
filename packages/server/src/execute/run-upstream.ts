/**
 * What goes around every call to Odoo, whatever protocol carries it: what is remembered of its credentials, its turn at
 * the database, the idempotency key that it is sent under, and how often it is sent; and before it, the instance's own time.
 */
import type { Gate, Turn, TurnResult, Visitor } from '../limits/gate/gate.ts';
import type { Events } from '../observe/events.ts';
import type { CredentialMemory, Verdict } from './credential-memory.ts';
import type { Deadline } from './deadline.ts';
import { Denial } from './denial.ts';
import { judgeCredentials } from './judge-credentials.ts';
import { claimKey, findKept } from './protect.ts';
import type { Reply } from './receive.ts';
import type { CallScope, Run } from './request-pipeline.ts';
import type { Target } from './resolve.ts';
import { type Attempt, type RetryDeps, sendWithRetries } from './retry.ts';
import { nameDatabase, nameUser } from './target-names.ts';
import { denyEnded } from './upstream-denials.ts';

export interface UpstreamDeps {
  credentials: CredentialMemory;
  gate: Gate;
  retries: RetryDeps;
  events: Events;
  nowMs: () => number;
}

export interface UpstreamWork {
  target: Target;
  isReadOnly: boolean;
  /** The reply to credentials that Odoo refused a moment ago. */
  refusedBefore: Reply;
  send(): Promise<Attempt>;
}

export async function runUpstream(
  { target, isReadOnly, refusedBefore, send }: UpstreamWork,
  scope: CallScope,
  run: Run<UpstreamDeps>,
): Promise<Reply> {
  const { deadline, deps } = run;
  // Only now is it known that the key may still make the call, and where it would go.
  scope.protection = scope.protect?.(nameUser(target)) ?? null;
  const kept = scope.protection === null ? null : await findKept(scope.protection, run);
  if (kept !== null) return kept;
  const ticket = await deps.credentials.check(target.credentialsId, deadline.signal);
  if (ticket === 'refused') return refusedBefore;
  let reply: Reply | undefined;
  try {
    reply = await sendInTurn();
    return reply;
  } finally {
    ticket.settle(judge(reply, target, isReadOnly));
  }

  /** The turn is the call's until its answer has left: so long a worker of Odoo may be at it. */
  async function sendInTurn(): Promise<Reply> {
    const turn = await takeTurn(target, isReadOnly, scope, run);
    if (turn instanceof Denial) return turn;
    let result: TurnResult = 'abandoned';
    scope.onDone = () => turn.leave(result);
    const known = await claimKey(scope, isReadOnly, run);
    if (known !== null) return known;
    const sent = await sendWithRetries(
      {
        send,
        isReadOnly,
        database: nameDatabase(target),
        turn,
        deadline,
        onRetry: (reason) => deps.events.callRetried(reason),
      },
      deps.retries,
    );
    result = judgeServer(sent, deadline);
    turn.answered();
    return sent;
  }
}

async function takeTurn(
  target: Target,
  isReadOnly: boolean,
  { client }: CallScope,
  run: Run<UpstreamDeps>,
): Promise<Turn | Denial> {
  const { deadline, deps } = run;
  const outcome = await deps.gate.enter({
    database: nameDatabase(target),
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
  if (outcome.refused === 'ended') return denyEnded(deadline, fate);
  const { retryAfterSeconds } = outcome;
  const message = `${REFUSALS[outcome.refused]} Send the call again in ${retryAfterSeconds} s; nothing of it was sent.`;
  return new Denial('overloaded', message, { ...fate, retryAfterSeconds, detail: outcome.refused });
}

function findBound({ instance }: Target): Visitor['bound'] {
  const max = instance?.concurrency ?? null;
  return instance === null || max === null ? null : { instance: instance.id, max };
}

const REFUSALS = {
  queue_full: 'Too many calls wait for this Odoo database already.',
  too_late: 'So many calls wait for this Odoo database that this one would not be done in its time.',
  breaker_open: 'This Odoo database has not answered lately, and is left alone for a moment.',
};

/** What the reply to a call that was sent says of the server. */
function judgeServer(reply: Reply, { reason }: Deadline): TurnResult {
  if (!(reply instanceof Denial) || reply.type === 'upstream_bad_response') return 'answered';
  if (reason === 'caller_left' || reason === 'shutdown') return 'abandoned';
  if (reply.type === 'upstream_timeout') return 'timed_out';
  if (reply.type === 'upstream_unreachable') return 'unreachable';
  return reply.type === 'overloaded' ? 'overloaded' : 'abandoned';
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
export function allowTime({ instance }: Target, run: Run<UpstreamDeps>): void {
  const timeoutMs = instance?.timeoutMs ?? null;
  if (timeoutMs === null || run.askedTimeoutMs !== null) return;
  if (run.isBatch && timeoutMs <= run.allowedMs) return;
  run.allowedMs = timeoutMs;
  run.dueMs = run.deps.nowMs() + timeoutMs;
  run.deadline.startClock(timeoutMs);
}

/**
 * Step: obtains a permit from the limiter of the database (limits/database/). The permit is held until the whole answer
 * has arrived: for that long a worker of Odoo is busy with the call.
 */

import { WatchedStream } from '@erp-proxy/async/streams';
import type {
  DatabaseLimiters,
  Permit,
  PermitRefusal,
  PermitRequest,
  PermitResult,
} from '@erp-proxy/traffic/limits/database';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Next, Step } from '../terms/operation.ts';
import { isResult, type Reply } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyEnded, LoginCooldown, NoConnectionLeft } from '../terms/upstream-denials.ts';
import { nameDatabaseByTrust } from './target-names.ts';

export interface ObtainPermitDeps {
  databaseLimiters: DatabaseLimiters;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export function obtainPermit({
  databaseLimiters,
  nowMs,
}: ObtainPermitDeps): Step<{ isReadOnly: boolean; target: Target }> {
  return async function obtainPermit({ target, isReadOnly }, context, next) {
    // Not awaited if it is there: callers with other keys join a shared read from then on (share-read.ts).
    const acquiring = databaseLimiters.acquire(new CallPermitRequest(target, context));
    const acquired = acquiring instanceof Promise ? await wait(acquiring, context) : acquiring;
    if ('refused' in acquired) return denyPermit(acquired, isReadOnly, context.time.deadline);
    return await hold(acquired, context, next);
  };

  async function wait(
    acquiring: Promise<Permit | PermitRefusal>,
    { trace }: CallContext,
  ): Promise<Permit | PermitRefusal> {
    const endWait = trace.traced?.startWait();
    const askedMs = nowMs();
    const permit = await acquiring;
    trace.queuedMs = (trace.queuedMs ?? 0) + nowMs() - askedMs;
    endWait?.();
    return permit;
  }
}

/** A class, because creating an object with a getter takes twenty times as long. */
class CallPermitRequest implements PermitRequest {
  readonly database: string;
  readonly client: string;
  readonly signal: AbortSignal;
  readonly bound: PermitRequest['bound'];
  readonly isBackground: boolean;
  readonly #time: CallContext['time'];

  constructor(target: Target, { client, time, request }: CallContext) {
    this.database = nameDatabaseByTrust(target);
    this.client = client.key.id;
    this.signal = time.signal;
    this.bound = findInstanceBound(target);
    this.isBackground = request.made?.isBackground === true;
    this.#time = time;
  }

  /** Read when the permit could be granted: callers that join a shared read can extend the time limit. */
  get deadlineMs(): number {
    return this.#time.dueMs;
  }
}

/** Holds the permit until the result has been read to its end. The end of the attempt gives it back, too. */
async function hold(permit: Permit, context: CallContext, next: Next): Promise<Reply> {
  let result: PermitResult = 'abandoned';
  context.permit = permit;
  context.trace.interactiveMs = permit.interactiveMs;
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    permit.release(result);
    context.trace.traced?.endUpstream();
  };
  context.held.defer(release);
  try {
    const reply = await next(context);
    if (context.isServerAsked) result = checkServer(reply, context.time.deadline);
    if (result === 'answered') permit.markAnswered();
    if (isResult(reply) && reply.rest !== null)
      return { ...reply, rest: new WatchedStream(reply.rest, release) };
    release();
    return reply;
  } catch (error) {
    release();
    throw error;
  }
}

function findInstanceBound({ instance }: Target): PermitRequest['bound'] {
  const max = instance?.concurrency ?? null;
  return instance === null || max === null ? null : { instance: instance.id, max };
}

function denyPermit(
  { refused, retryAfterSeconds }: PermitRefusal,
  isReadOnly: boolean,
  deadline: Deadline,
): Denial {
  const details = { outcome: 'not_sent', isReadOnly } as const;
  if (deadline.reason === 'shutdown') return denyEnded(deadline, details);
  const message = `${REFUSALS[refused]} Send the call again in ${retryAfterSeconds} s; nothing of it was sent.`;
  return new Denial('overloaded', message, { ...details, retryAfterSeconds, detail: refused });
}

const REFUSALS = {
  queue_full: 'Too many calls wait for this Odoo database already.',
  too_late: 'Too many calls wait for this Odoo database for this one to end within its time limit.',
  ended: 'The time limit of the call passed while it waited for this Odoo database.',
  breaker_open: 'This Odoo database has not answered lately, so no calls are sent to it for a moment.',
};

/** Derives the state of the server from the reply to a call that was sent. */
function checkServer(reply: Reply, { reason }: Deadline): PermitResult {
  if (!(reply instanceof Denial) || reply.type === 'upstream_bad_response') return 'answered';
  // Odoo has answered, although it refused these credentials.
  if (reply instanceof LoginCooldown) return 'answered';
  if (reason === 'shutdown' || reply instanceof NoConnectionLeft) return 'abandoned';
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

/**
 * Step: sends the call, and sends it again if that is safe: a read whose connection failed or that a reverse proxy
 * could not pass on, and any call that Odoo rolled back in favour of another transaction. A write that may have run is
 * never sent again.
 */

import { delay } from '@erp-proxy/async/tasks';
import type { EgressAnswer, EgressFailure } from '@erp-proxy/egress';
import type { Events, RetryReason } from '@erp-proxy/observe/events';
import { isGatewayError } from '@erp-proxy/odoo/servers';
import type { RetryBudget } from '@erp-proxy/traffic/limits';
import type { Permit } from '@erp-proxy/traffic/limits/database';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { Reply } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED } from '../terms/upstream-denials.ts';
import { nameDatabaseByTrust } from './target-names.ts';
import { readRetryAfter } from './upstream-status.ts';

/** The result of sending a call once. */
export interface Attempt {
  reply: Reply;
  /** The answer or failure of the connection; null if nothing of the call was sent. */
  egressResult: EgressAnswer | EgressFailure | null;
}

/** Sends a call once, by one protocol. */
export type Send<Prepared> = (call: Prepared, context: CallContext) => Promise<Attempt>;

export interface RetryDeps {
  budget: RetryBudget;
  /** Maximum number of retries of a call; 0: none. */
  max: number;
  random: () => number;
}

export interface SendWithRetriesDeps {
  retries: RetryDeps;
  events: Pick<Events, 'callRetried'>;
}

interface RetriedCall {
  isReadOnly: boolean;
  target: Target;
}

export function sendWithRetries<Prepared extends RetriedCall>(
  sendOnce: Send<Prepared>,
  { retries, events }: SendWithRetriesDeps,
): Step<Prepared> {
  return async function sendWithRetries(call, context) {
    const { permit, credentialCheck, time } = context;
    if (permit === null) throw new Error('a call is sent without a permit');
    const send = async (): Promise<Attempt> => {
      // The steps before have waited, and so has a retry. Requests for facts, which precede the call, go to the server
      // too.
      const isUnchanged = await context.isUnchanged();
      const denied = isUnchanged ? (credentialCheck?.findDenial() ?? null) : CHANGED;
      if (denied !== null) return { reply: denied, egressResult: null };
      if (!context.isServerAsked) permit.markSent();
      context.isServerAsked = true;
      return await sendOnce(call, context);
    };
    const { isReadOnly, target } = call;
    const database = nameDatabaseByTrust(target);
    const onRetry = (reason: RetryReason) => events.callRetried(reason);
    return await retry({ send, isReadOnly, database, permit, deadline: time.deadline, onRetry }, retries);
  };
}

interface RetryableSend {
  send(): Promise<Attempt>;
  isReadOnly: boolean;
  database: string;
  permit: Permit;
  deadline: Deadline;
  onRetry(reason: RetryReason): void;
}

/** The reply to the last attempt. */
export async function retry(
  { send, isReadOnly, database, permit, deadline, onRetry }: RetryableSend,
  { budget, max, random }: RetryDeps,
): Promise<Reply> {
  budget.earn(database);
  for (let retries = 0; ; retries++) {
    const attempt = await send();
    const cause = findRetryCause(attempt, isReadOnly);
    if (cause === null || retries === max || deadline.reason !== null) return attempt.reply;
    const waitMs = cause.retryAfterMs + chooseDelayMs(retries, random);
    if (!permit.mayRetry(waitMs) || !budget.take(database)) return attempt.reply;
    await delay(waitMs, deadline.signal);
    if (deadline.reason !== null) return attempt.reply;
    onRetry(cause.reason);
  }
}

interface RetryCause {
  reason: RetryReason;
  /** The wait that the server asks for. */
  retryAfterMs: number;
}

/** Null if the call must not be sent again, or if that would not help. */
function findRetryCause({ reply, egressResult }: Attempt, isReadOnly: boolean): RetryCause | null {
  if (egressResult === null) return null;
  if (isRolledBack(reply)) return { reason: 'conflict', retryAfterMs: 0 };
  if (!isReadOnly) return null;
  if (!egressResult.ok) return isLost(egressResult) ? { reason: 'connection', retryAfterMs: 0 } : null;
  if (!isGatewayError(egressResult)) return null;
  const { waitMs } = readRetryAfter(egressResult.headers);
  return waitMs > RETRY_AFTER_MS_MAX ? null : { reason: 'gateway', retryAfterMs: waitMs };
}

/**
 * True if Odoo has rolled the call back, after retries of its own (docs/odoo-facts.md#serialization-retries). Not so
 * after a LockError: a method raises it, and may have committed before.
 */
function isRolledBack(reply: Reply): boolean {
  if (reply instanceof Denial || reply.kind !== 'fault') return false;
  const { type, name } = reply.fault.data;
  return type === 'concurrency_conflict' && name !== 'odoo.exceptions.LockError';
}

/** The connection was never made, or died before any answer. */
function isLost({ reason }: EgressFailure): boolean {
  return reason === 'refused' || reason === 'reset';
}

/** A waiting call holds its permit. If the server asks for a longer wait, the caller gets the error. */
const RETRY_AFTER_MS_MAX = 2000;

const DELAY_MS = 100;
const DELAY_MS_MAX = 2000;

/** Exponential backoff with full jitter, so that calls that failed together are not sent again together. */
export function chooseDelayMs(retries: number, random: () => number): number {
  return random() * Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** retries);
}

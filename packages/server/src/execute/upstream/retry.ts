/**
 * When a call is sent to Odoo once more, and how long it waits for that: a read whose connection died or that a reverse
 * proxy could not pass on, and any call that Odoo has rolled back for another transaction. Never a write that may have
 * happened.
 */
import type { EgressAnswer, EgressFailure } from '../../egress/dispatcher.ts';
import type { Permit } from '../../limits/database/database-limiters.ts';
import type { RetryBudget } from '../../limits/retry-budget.ts';
import type { RetryReason } from '../../observe/events.ts';
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';
import type { Reply } from './receive.ts';

/** What came of sending a call. */
export interface Attempt {
  reply: Reply;
  /** What the network gave for it; null where nothing of the call was sent. */
  met: EgressAnswer | EgressFailure | null;
}

export interface RetryDeps {
  budget: RetryBudget;
  /** Times that a call is sent again at most; 0: never. */
  max: number;
  random: () => number;
}

interface Retrying {
  send(): Promise<Attempt>;
  isReadOnly: boolean;
  database: string;
  permit: Permit;
  deadline: Deadline;
  onRetry(reason: RetryReason): void;
}

/** The reply to the last attempt. */
export async function sendWithRetries(
  { send, isReadOnly, database, permit, deadline, onRetry }: Retrying,
  { budget, max, random }: RetryDeps,
): Promise<Reply> {
  budget.earn(database);
  for (let retries = 0; ; retries++) {
    const attempt = await send();
    const trouble = findTrouble(attempt, isReadOnly);
    if (trouble === null || retries === max || deadline.reason !== null) return attempt.reply;
    const waitMs = trouble.retryAfterMs + chooseDelayMs(retries, random);
    if (!permit.mayRetry(waitMs) || !budget.take(database)) return attempt.reply;
    await wait(waitMs, deadline);
    if (deadline.reason !== null) return attempt.reply;
    onRetry(trouble.reason);
  }
}

interface Trouble {
  reason: RetryReason;
  /** What the server asks to wait. */
  retryAfterMs: number;
}

/** Null where the call must not be sent again, or where that would not help. */
function findTrouble({ reply, met }: Attempt, isReadOnly: boolean): Trouble | null {
  if (met === null) return null;
  if (isRolledBack(reply)) return { reason: 'conflict', retryAfterMs: 0 };
  if (!isReadOnly) return null;
  if (!met.ok) return isLost(met) ? { reason: 'connection', retryAfterMs: 0 } : null;
  if (!GATEWAY_STATUSES.has(met.status)) return null;
  const retryAfterMs = readRetryAfterMs(met.headers['retry-after']);
  return retryAfterMs > RETRY_AFTER_MS_MAX ? null : { reason: 'gateway', retryAfterMs };
}

/**
 * What Odoo has rolled back and tried again itself (docs/odoo-facts.md#serialization-retries). A LockError it has not:
 * a method raises it, and may have committed before.
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

const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);
/** A call that waits keeps its turn: where the server asks for longer, its caller is told so. */
const RETRY_AFTER_MS_MAX = 2000;

/** A date is taken for long: there is no knowing the server's clock. */
function readRetryAfterMs(header: EgressAnswer['headers'][string]): number {
  if (typeof header !== 'string') return 0;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  return /^[A-Z][a-z]{2}, /.test(header) ? Number.POSITIVE_INFINITY : 0;
}

const DELAY_MS = 100;
const DELAY_MS_MAX = 2000;

/** Exponential, with full jitter: calls that failed together do not come back together. */
export function chooseDelayMs(retries: number, random: () => number): number {
  return random() * Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** retries);
}

function wait(ms: number, { signal }: Deadline): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

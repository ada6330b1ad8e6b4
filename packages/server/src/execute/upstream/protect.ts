/**
 * What an idempotency key promises: a call that an earlier attempt has made, or may have made, is not made again. Its
 * caller is given that attempt's answer, or told what is known of it.
 */
import { ALL_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import { isIdempotencyKey } from '../../idempotency/call-names.ts';
import type { AttemptOutcome, IdempotentCall, StoredResult } from '../../idempotency/idempotent-call.ts';
import type { Awaitable } from '../../stores/ports.ts';
import type { Outcome } from '../request/answer.ts';
import type { CallScope, Run } from '../run-request.ts';
import { askStore, denyStoreAway } from '../terms/ask-store.ts';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';
import type { KeptReply, Reply } from './receive.ts';
import { CALLER_GONE, denyEnded, denyUnsent } from './upstream-denials.ts';

const HEADER = 'idempotency-key';
const RETRY_AFTER_SECONDS = 1;
/** As often what a client has is counted anew. */
const RETRY_AFTER_FULL_SECONDS = 60;
/**
 * How long a call waits for the store before it is sent: the look-up and the claim together. While it waits for its claim, it
 * has a turn at Odoo that calls without a key could use.
 */
export const STORE_WAIT_MS = 1000;

/** Null where the caller gave none. */
export function readIdempotencyKey(exchange: Exchange): string | null | Denial {
  const key = exchange.header(HEADER);
  if (key === undefined) return null;
  const count = exchange.countHeader(HEADER);
  if (count > 1) {
    const message = `The header \`${HEADER}\` comes ${count} times; send it once, so that a retry has the same.`;
    return new Denial('invalid_request', message, { path: HEADER });
  }
  if (isIdempotencyKey(key)) return key;
  const message = `The header \`${HEADER}\` must have 1 to 255 characters; this one has ${key.length}.`;
  return new Denial('invalid_request', message, { path: HEADER });
}

/** The reply that an earlier attempt leaves; null where the call may go on. */
export function findKept(
  protection: IdempotentCall,
  scope: CallScope,
  run: TimedRun,
): Promise<KeptReply | Denial | null> {
  return replyTo(() => protection.find(), scope, run);
}

/** Tells the store of the time that a batch has got since its calls took their keys. */
export function extendClaims(run: TimedRun): void {
  for (const protection of run.claimed) protection.extend(countTimeLeft(run));
}

/** To be asked right before the call is sent; null: it is this attempt that sends it. */
export async function claimKey(
  scope: CallScope,
  isReadOnly: boolean,
  run: TimedRun,
): Promise<KeptReply | Denial | null> {
  const { protection } = scope;
  if (protection === null) return null;
  if (run.hasCallerLeft) return CALLER_GONE;
  const { dueMs } = run;
  const runsForMs = countTimeLeft(run);
  const giveBack = () => void protection.finish('not_run');
  const reply = await replyTo(() => protection.claim({ runsForMs, isReadOnly }), scope, run, giveBack);
  // The time of a batch can still grow, by the instances of its other calls.
  if (reply === null && run.isBatch) run.claimed.add(protection);
  if (run.dueMs !== dueMs) extendClaims(run);
  if (reply === null && !isReadOnly) {
    scope.outlivesCaller = true;
    run.outliving++;
  }
  return reply;
}

/** In whole milliseconds, as stores take it. */
function countTimeLeft({ dueMs, deps }: TimedRun): number {
  return Math.max(0, Math.ceil(dueMs - deps.nowMs()));
}

type TimedRun = Run<{ nowMs: () => number }>;

/**
 * A store that does not answer protects nothing: the call that asked for it is not run. `onLate` is called where the store
 * answers after all, when nobody waits any more.
 */
async function replyTo(
  ask: () => Awaitable<StoredResult | null>,
  scope: CallScope,
  { deadline, deps }: TimedRun,
  onLate: () => void = () => {},
): Promise<KeptReply | Denial | null> {
  const askedMs = deps.nowMs();
  const known = await waitFor(askStore(ask), deadline.signal, scope.storeWaitMs, onLate);
  scope.storeWaitMs -= deps.nowMs() - askedMs;
  if (known === ENDED) {
    const isStopping = deadline.reason === 'shutdown';
    return isStopping ? denyEnded(deadline, UNSENT_WRITE) : denyUnsent(UNSENT_WRITE);
  }
  if (known === LATE) return denyStoreAway('no answer in time');
  if (known === null || known instanceof Denial) return known;
  if (known.kind === 'answered') return { kind: 'kept', ...known.answer };
  return DENIALS[known.kind];
}

const UNSENT_WRITE = { outcome: 'not_sent', isReadOnly: false } as const;
const ENDED = Symbol('ended');
const LATE = Symbol('late');

function waitFor<Value>(
  asked: Promise<Value>,
  signal: AbortSignal,
  waitMs: number,
  onLate: () => void,
): Promise<Value | typeof ENDED | typeof LATE> {
  return new Promise((resolve, reject) => {
    const giveUp = (why: typeof ENDED | typeof LATE) => {
      stop();
      resolve(why);
      asked.then(onLate, () => {});
    };
    const end = () => giveUp(ENDED);
    const timer = setTimeout(giveUp, waitMs, LATE);
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end);
    asked.then(resolve, reject).finally(stop);
  });
}

const DENIALS: Record<Exclude<StoredResult['kind'], 'answered'>, Denial> = {
  other_call: new Denial(
    'idempotency_conflict',
    `This \`${HEADER}\` was used for another call. Give each call a key of its own, and send a retry with the same bytes. This call was not run.`,
    { path: HEADER },
  ),
  running: new Denial(
    'idempotency_conflict',
    `The first call with this \`${HEADER}\` is still running; send it again in a moment to be given its answer.`,
    { path: HEADER, outcome: 'not_sent', retryAfterSeconds: RETRY_AFTER_SECONDS },
  ),
  outcome_unknown: new Denial(
    'outcome_unknown',
    `An earlier attempt with this \`${HEADER}\` was sent and then cut off: Odoo may have run it. Look there before sending it again with a new key.`,
    { path: HEADER },
  ),
  answer_not_stored: new Denial(
    'outcome_unknown',
    `An earlier attempt with this \`${HEADER}\` was run, but its answer was too large to be kept (alone, or with what is kept for this client key already), or broke off. Look in Odoo for what it did before sending it again with a new key.`,
    { path: HEADER },
  ),
  too_many_keys: new Denial(
    'rate_limited',
    `This client key has as many idempotency keys as the setting \`idempotency.clientKeysMax\` allows. Send the call again later: each is forgotten \`idempotency.keptHours\` hours after its answer. Nothing was sent to Odoo.`,
    { path: HEADER, retryAfterSeconds: RETRY_AFTER_FULL_SECONDS },
  ),
};

/** Odoo refused these before it ran anything; mended, the same call is to be run. */
const NEVER_RUN: ReadonlySet<BusinessErrorType> = new Set(['access_denied', 'database_missing']);

/** What a reply and the way of its answer say of the attempt. */
export function judgeEnding(reply: Reply, outcome: Outcome): AttemptOutcome {
  if (reply instanceof Denial) {
    const mayHaveRun =
      'hasOutcome' in ALL_ERRORS[reply.type] && (reply.more.outcome ?? 'unknown') === 'unknown';
    return mayHaveRun ? 'unknown' : 'not_run';
  }
  if (reply.kind === 'fault') {
    const { retryable, type } = reply.fault.data;
    return retryable || NEVER_RUN.has(type as BusinessErrorType) ? 'not_run' : 'answered';
  }
  return outcome.type === 'ok' ? 'answered' : 'ran_without_answer';
}

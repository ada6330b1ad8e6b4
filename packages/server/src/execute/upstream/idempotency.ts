/**
 * Steps: the guarantees of an idempotency key. A call that an earlier attempt has run, or may have run, is not run
 * again. Its caller gets the stored answer of that attempt, or an error that says what is known about it.
 */
import { ALL_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import type { Idempotency } from '../../idempotency/idempotency.ts';
import type { AttemptOutcome, StoredResult } from '../../idempotency/idempotent-call.ts';
import type { Awaitable } from '../../stores/ports.ts';
import { ABORTED, TIMED_OUT, waitFor } from '../../streams/wait.ts';
import type { AnswerSummary } from '../terms/answer-summary.ts';
import { askStore, denyStoreAway } from '../terms/ask-store.ts';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { KeptReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { CALLER_GONE, CHANGED, denyEnded, denyUnsent } from '../terms/upstream-denials.ts';
import { nameUser } from './target-names.ts';

export interface IdempotencyDeps {
  idempotency: Idempotency;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

const HEADER = 'idempotency-key';
const RETRY_AFTER_SECONDS = 1;
/** The interval at which the keys of a client are counted again. */
const RETRY_AFTER_FULL_SECONDS = 60;
/**
 * Time for the store before the call is sent, for lookup and claim together. During its claim the call holds a permit
 * that calls without a key could use.
 */
const STORE_WAIT_MS = 1000;

/** Returns what an earlier attempt has stored. Runs after the call was allowed and its server was found. */
export function replayAnswer(
  operation: string,
  { idempotency, nowMs }: IdempotencyDeps,
): Step<{ isReadOnly: boolean; target: Target }> {
  return function replayAnswer({ target }, context) {
    const { client, request, index, bytes } = context;
    const key = request.idempotencyKey;
    if (key === null) return null;
    const protection = idempotency.begin({
      clientId: client.key.id,
      key,
      index,
      bytes,
      // An answer with normalized values is not that of the same call without.
      operation: `${operation}${request.areValuesNormalized ? ' normalized' : ''} ${nameUser(target)}`,
    });
    context.protection = protection;
    context.storeWaitMs = STORE_WAIT_MS;
    return unlessChanged(
      askIdempotency(() => protection.find(), context, nowMs),
      context,
    );
  };
}

/** Claims the key right before the call is sent. From here on a crash means that Odoo may have run the call. */
export function claimIdempotencyKey({ nowMs }: IdempotencyDeps): Step<{ isReadOnly: boolean }> {
  return function claimIdempotencyKey({ isReadOnly }, context) {
    const { protection, time, request } = context;
    if (protection === null) return null;
    if (time.hasCallerLeft) return CALLER_GONE;
    return unlessChanged(claim(), context);

    async function claim(): Promise<KeptReply | Denial | null> {
      const { dueMs, leftMs } = time;
      const releaseClaim = () => void protection?.finish('not_run');
      const ask = () => protection?.claim({ runsForMs: leftMs, isReadOnly }) ?? null;
      const reply = await askIdempotency(ask, context, nowMs, releaseClaim);
      if (reply !== null) return reply;
      if (request.isBatch) {
        // The other calls of the batch can extend its time, also during the claim.
        const extend = () => protection?.extend(time.leftMs);
        time.onExtended(extend);
        if (time.dueMs !== dueMs) extend();
      }
      if (!isReadOnly) context.endOutliving = time.outliveCaller();
      return null;
    }
  };
}

/** Returns what another attempt has stored only if the caller's key may still make the call. */
async function unlessChanged(
  asked: Promise<KeptReply | Denial | null>,
  context: CallContext,
): Promise<KeptReply | Denial | null> {
  const reply = await asked;
  return reply === null || (await context.isUnchanged()) ? reply : CHANGED;
}

/**
 * Asks the store. If it does not answer, the call is not run, because nothing would protect it. `onLate` is called if
 * the store answers after the wait.
 */
async function askIdempotency(
  ask: () => Awaitable<StoredResult | null>,
  context: CallContext,
  nowMs: () => number,
  onLate: () => void = () => {},
): Promise<KeptReply | Denial | null> {
  const { deadline, signal } = context.time;
  const askedMs = nowMs();
  const asked = Promise.resolve(askStore(ask));
  const known = await waitFor(asked, { signal, timeoutMs: context.storeWaitMs });
  context.storeWaitMs -= nowMs() - askedMs;
  if (known === ABORTED || known === TIMED_OUT) void asked.then(onLate, () => {});
  if (known === ABORTED) {
    const isStopping = deadline.reason === 'shutdown';
    return isStopping ? denyEnded(deadline, UNSENT_WRITE) : denyUnsent(UNSENT_WRITE);
  }
  if (known === TIMED_OUT) return denyStoreAway('no answer in time');
  if (known === null || known instanceof Denial) return known;
  if (known.kind === 'answered') return { kind: 'kept', ...known.answer };
  return DENIALS[known.kind];
}

const UNSENT_WRITE = { outcome: 'not_sent', isReadOnly: false } as const;
const DENIALS: Record<Exclude<StoredResult['kind'], 'answered'>, Denial> = {
  other_call: new Denial(
    'idempotency_conflict',
    `This \`${HEADER}\` was used for another call. Give each call a key of its own, and send a retry with the same bytes. This call was not run.`,
    { path: HEADER },
  ),
  running: new Denial(
    'idempotency_conflict',
    `The first call with this \`${HEADER}\` is still running; send it again in a moment to get its answer.`,
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

/** Odoo refused these before it ran anything. Once the cause is removed, the same call must run. */
const NEVER_RUN: ReadonlySet<BusinessErrorType> = new Set(['access_denied', 'database_missing']);

/** Derives the outcome of the attempt from its reply and from how the answer was sent. */
export function judgeAttempt(reply: Reply, summary: AnswerSummary): AttemptOutcome {
  if (reply instanceof Denial) {
    const mayHaveRun =
      'hasOutcome' in ALL_ERRORS[reply.type] && (reply.more.outcome ?? 'unknown') === 'unknown';
    return mayHaveRun ? 'unknown' : 'not_run';
  }
  if (reply.kind === 'fault') {
    const { retryable, type } = reply.fault.data;
    return retryable || NEVER_RUN.has(type as BusinessErrorType) ? 'not_run' : 'answered';
  }
  return summary.type === 'ok' ? 'answered' : 'ran_without_answer';
}

/**
 * Steps: the guarantees of an idempotency key. A call that an earlier attempt has run, or may have run, is not run
 * again. Its caller gets the stored answer of that attempt, or an error that says what is known about it.
 */

import { mayReturnFields } from '@erp-proxy/odoo';
import type { Idempotency, StoredResult } from '@erp-proxy/traffic/idempotency';
import { askInTime } from '../terms/ask-store.ts';
import { type CallContext, unlessChanged } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import type { KeptReply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { CALLER_GONE } from '../terms/upstream-denials.ts';
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

/** The maximum time limit of a call whose caller waits. A longer claim is extended while the call runs. */
const CLAIM_MS_MAX = 300_000;

/** Returns what an earlier attempt has stored. Runs after the call was allowed and its server was found. */
export function replayAnswer(
  operation: string,
  { idempotency, nowMs }: IdempotencyDeps,
): Step<{ isReadOnly: boolean; target: Target; method: string }> {
  return async function replayAnswer({ target, method }, context, next) {
    const { client, request, index, bytes, idempotencyKey: key, deferral } = context;
    // The same request again gets the job of the first one, which finds what is stored when it runs.
    if (key === null || deferral !== null) return await next(context);
    const protection = idempotency.begin({
      clientId: client.key.id,
      key,
      // A call that the proxy makes for its request has the index 0, because its idempotency key is its own.
      index: request.made === null ? index : 0,
      bytes,
      // An answer with normalized values is not that of the same call without.
      operation: `${operation}${context.areValuesNormalized ? ' normalized' : ''} ${nameUser(target)}${nameRules(method, client)}`,
    });
    context.protection = protection;
    context.storeWaitMs = STORE_WAIT_MS;
    const known = await askIdempotency(() => protection.find(), context, nowMs);
    return known === null ? await next(context) : await unlessChanged(context, known);
  };
}

/**
 * An answer with values is not returned after a rule for the values that it may have was changed. Writes are never run
 * twice.
 */
function nameRules(method: string, { policy }: CallContext['client']): string {
  if (policy === null || !mayReturnFields(method)) return '';
  const { fields, companies, limit_max } = policy.policy;
  const rules = JSON.stringify({ fields, companies, limit_max });
  return rules === '{}' ? '' : ` ${rules}`;
}

/** Claims the key right before the call is sent. From here on a crash means that Odoo may have run the call. */
export function claimIdempotencyKey({ nowMs }: IdempotencyDeps): Step<{ isReadOnly: boolean }> {
  return async function claimIdempotencyKey({ isReadOnly }, context, next) {
    const { protection, time, request } = context;
    if (protection === null) return await next(context);
    if (time.hasCallerLeft) return CALLER_GONE;
    const { dueMs, leftMs } = time;
    const releaseClaim = () => void protection.finish('not_run');
    // A job runs longer than a claim may last without a sign of life.
    const runsForMs = Math.min(leftMs, CLAIM_MS_MAX);
    const ask = () => protection.claim({ runsForMs, isReadOnly });
    const known = await askIdempotency(ask, context, nowMs, releaseClaim);
    if (known !== null) return await unlessChanged(context, known);
    if (request.isBatch) {
      // The other calls of the batch can extend its time, also during the claim.
      const extend = () => protection.extend(time.leftMs);
      time.onExtended(extend);
      if (time.dueMs !== dueMs) extend();
    }
    if (leftMs > runsForMs) {
      const renewal = setInterval(() => protection.extend(CLAIM_MS_MAX), CLAIM_MS_MAX / 3).unref();
      context.held.defer(() => clearInterval(renewal));
    }
    // Until its outcome is stored.
    if (!isReadOnly) context.held.defer(time.outliveCaller());
    return await next(context);
  };
}

/** Asks the store within the time that the call has left for it. `onLate` as for `askInTime`. */
async function askIdempotency(
  ask: () => Promise<StoredResult | null>,
  context: CallContext,
  nowMs: () => number,
  onLate?: () => void,
): Promise<KeptReply | Denial | null> {
  const askedMs = nowMs();
  const known = await askInTime(ask, { context, waitMs: context.storeWaitMs, onLate });
  context.storeWaitMs -= nowMs() - askedMs;
  if (known === null || known instanceof Denial) return known;
  if (known.kind === 'answered') return { kind: 'kept', ...known.answer };
  return DENIALS[known.kind];
}

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

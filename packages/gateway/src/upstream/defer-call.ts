/**
 * Steps of jobs: `deferCall` stores a call whose caller does not wait, once all has allowed it. When the job runs,
 * `markSent` marks that a write is sent, so that no other process sends it again.
 */

import { askInTime } from '../terms/ask-store.ts';
import { unlessChanged } from '../terms/call-context.ts';
import type { Deferrals } from '../terms/deferral.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import type { Step } from '../terms/operation.ts';
import { readToken } from '../terms/read-key.ts';
import { hasNotRun } from '../terms/reply.ts';
import { CALLER_GONE, CHANGED } from '../terms/upstream-denials.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';

export interface DeferCallDeps {
  deferrals: Deferrals;
}

/** Time for the store to mark a write. Nobody waits for a job, which runs again after a longer wait. */
const STORE_WAIT_MS = 5000;

export function deferCall({ deferrals }: DeferCallDeps): Step<TargetedCall> {
  return async function deferCall({ target, model, method }, context, next) {
    const { deferral, client, request, bytes } = context;
    if (deferral === null) return await next(context);
    if (!(await context.isUnchanged())) return CHANGED;
    return await deferrals.defer({
      ...deferral,
      bytes: deferral.bytes ?? bytes,
      client,
      token: readToken(request.exchange, request.dialect),
      exchange: request.exchange,
      idempotencyKey: request.idempotencyKey,
      facts: {
        instance: target.instance?.name ?? null,
        upstream: target.origin + target.pathPrefix,
        db: target.db,
        model,
        action: method,
      },
    });
  };
}

/** From here on a crash means that Odoo may have run the call. */
export function markSent(): Step<{ isReadOnly: boolean }> {
  return async function markSent({ isReadOnly }, context, next) {
    const { request, time } = context;
    const mark = request.source.by === 'background' ? (request.source.writeMark ?? null) : null;
    if (isReadOnly || mark === null) return await next(context);
    // The mark is removed if the store answers later.
    const onLate = () => void mark.clear();
    const isMarked = await askInTime(() => mark.set(), { context, waitMs: STORE_WAIT_MS, onLate });
    if (typeof isMarked !== 'boolean') return await unlessChanged(context, isMarked);
    if (!isMarked) return CALLER_GONE;
    // A job that is cancelled now goes on to its end, because Odoo does.
    context.held.defer(time.outliveCaller());
    try {
      const reply = await next(context);
      if (hasNotRun(reply)) await mark.clear();
      return reply;
    } catch (error) {
      // The time limit of the call passed before the call was sent (run-call.ts).
      if (error instanceof TaskAborted) await mark.clear();
      throw error;
    }
  };
}

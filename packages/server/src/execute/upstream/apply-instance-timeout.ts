/** Step: applies the time limit of the stored instance, if it has one. */
import type { Step } from '../terms/operation.ts';
import type { Target } from '../terms/target.ts';

export const applyInstanceTimeout: Step<{ isReadOnly: boolean; target: Target }> =
  async function applyInstanceTimeout({ target }, context, next) {
    const timeoutMs = target.instance?.timeoutMs ?? null;
    if (timeoutMs !== null) context.time.allow(timeoutMs, context.request.isBatch);
    return await next(context);
  };

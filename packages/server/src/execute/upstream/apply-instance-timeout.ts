/** Step: applies the time limit of the stored instance, if it has one. */
import type { Step } from '../terms/operation.ts';
import type { Target } from '../terms/target.ts';

export const applyInstanceTimeout: Step<{ isReadOnly: boolean; target: Target }> =
  function applyInstanceTimeout({ target }, { time, request }) {
    const timeoutMs = target.instance?.timeoutMs ?? null;
    if (timeoutMs !== null) time.allow(timeoutMs, request.isBatch);
    return null;
  };

/** Runs a list of steps for one call. */
import type { CallContext } from './terms/call-context.ts';
import type { AnyPrepared, Operation } from './terms/operation.ts';
import type { Reply } from './terms/reply.ts';
import { CHANGED } from './terms/upstream-denials.ts';

/**
 * Runs the first step, which runs the next one, and so on. Before each further step the call is checked again: its key,
 * policy or instance may have changed while the step before it waited.
 */
export async function runSteps(
  steps: Operation['steps'],
  call: AnyPrepared,
  context: CallContext,
): Promise<Reply> {
  const [step, ...rest] = steps;
  if (step === undefined) throw new Error('no step has replied');
  return await step(call, context, async (current) =>
    (await current.isUnchanged()) ? runSteps(rest, call, current) : CHANGED,
  );
}

/** Runs a list of steps for one call. */
import type { CallContext } from './terms/call-context.ts';
import type { AnyPrepared, Operation } from './terms/operation.ts';
import type { Reply } from './terms/reply.ts';

/** Runs the step at `index`, which runs those after it. The last one replies. */
export function runSteps(
  steps: Operation['steps'],
  call: AnyPrepared,
  context: CallContext,
  index = 0,
): Promise<Reply> {
  return steps[index]!(call, context, (current) => runSteps(steps, call, current, index + 1));
}

/** Runs a list of steps for one call, until one of them replies. */
import type { CallContext } from './terms/call-context.ts';
import type { AnyPrepared, Operation } from './terms/operation.ts';
import type { Reply } from './terms/reply.ts';
import { CHANGED } from './terms/upstream-denials.ts';

/** Runs the steps from `first` on, until one replies. */
export async function runSteps(
  steps: Operation['steps'],
  first: number,
  call: AnyPrepared,
  context: CallContext,
): Promise<Reply> {
  let reply: Reply | null = null;
  let index = first;
  // Called while its step runs, so that `index` is that of the step.
  const runRest = (other: CallContext) => runSteps(steps, index + 1, call, other);
  try {
    for (; reply === null && index < steps.length; index++) {
      const returned = steps[index]!(call, context, runRest);
      if (!(returned instanceof Promise)) {
        reply = returned;
        continue;
      }
      reply = await returned;
      if (reply === null && !(await context.isUnchanged())) reply = CHANGED;
    }
  } catch (error) {
    await context.reply(null);
    throw error;
  }
  const told = context.reply(reply);
  const last = told instanceof Promise ? await told : told;
  if (last === null) throw new Error('no step has replied');
  return last;
}

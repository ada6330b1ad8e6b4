/** Runs a tool that reads on several instances at once. An instance that fails does not fail the others. */
import { z } from 'zod';
import { explainError, explainNulls } from './explain-outcome.ts';
import type { Session } from './session.ts';
import { type Answer, AnswerWithPart, type Arguments, type Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const INSTANCES_MAX = 50;
/** Maximum bytes of the answers together. The first one is always shown. */
const ANSWER_BYTES_MAX = 24_000;

/** The members of an answer about several instances, in place of those of the tool. */
export const SEVERAL = {
  by_instance: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .optional()
    .describe('With `instances`: the answer of each, or its `error`.'),
  rest: z.array(z.string()).optional().describe('Servers that did not fit: ask them by another call.'),
};

export async function askInstances(
  tool: Tool,
  { instances: names, ...args }: Arguments,
  session: Session,
): Promise<Answer> {
  if (args.instance !== undefined)
    throw new ToolError('invalid_params', 'Send `instance` or `instances`, not both.');
  const chosen = await session.pickInstances(names);
  if (chosen.length > INSTANCES_MAX) {
    throw new ToolError('invalid_params', `\`instances\` matches ${chosen.length} servers.`, {
      next: `Choose at most ${INSTANCES_MAX} in one call.`,
    });
  }
  const answers = new Map<string, Answer>();
  await session.runOnEach(chosen, async ({ name }, own) => {
    answers.set(name, await askOne(tool, { ...args, instance: name }, own));
  });
  const shown: Record<string, Answer> = {};
  const rest: string[] = [];
  let bytes = 0;
  for (const { name } of chosen) {
    const answer = answers.get(name)!;
    bytes += Buffer.byteLength(JSON.stringify(answer));
    if (bytes <= ANSWER_BYTES_MAX || rest.length + Object.keys(shown).length === 0) shown[name] = answer;
    else rest.push(name);
  }
  return { by_instance: shown, ...(rest.length > 0 ? { rest } : {}) };
}

async function askOne(tool: Tool, args: Arguments, session: Session): Promise<Answer> {
  try {
    const ran = await tool.run(args, session);
    return explainNulls(ran instanceof AnswerWithPart ? ran.answer : ran, session);
  } catch (error) {
    return { error: explainError(error, session).text };
  }
}

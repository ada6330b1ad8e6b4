/** Runs a tool: reads its arguments, asks a person where that is needed, and prints its answer or error for a model. */
import { mayCallUnattended } from '../policy/abilities.ts';
import type { McpRequest } from './mcp-request.ts';
import { readArguments } from './read-arguments.ts';
import type { Session } from './session.ts';
import type { Answer, Arguments, Tool } from './tool.ts';
import { printError, ToolError } from './tool-error.ts';

/** `text` is what the model reads: of an answer, its JSON. */
export type ToolOutcome = { kind: 'answer'; answer: Answer; text: string } | { kind: 'error'; text: string };

/**
 * `confirm` asks the person in front of the client before a call that cannot be undone; null: the client cannot show
 * questions. It resolves to null after a yes, else to the outcome instead. Does not reject because of the arguments or
 * of Odoo.
 */
export type RunTool<Stopped> = (
  tool: Tool,
  given: unknown,
  request: McpRequest,
  confirm: ((args: Arguments, session: Session) => Promise<Stopped | null>) | null,
) => Promise<ToolOutcome | Stopped>;

/** `onFault` receives exceptions of tools. */
export function createToolRunner<Stopped>(
  onFault: (requestId: string, error: unknown) => void,
): RunTool<Stopped> {
  return async (tool, given, request, confirm) => {
    const session = request.session.fork();
    try {
      const args = readArguments(tool, given);
      const call = tool.findFinalCall(args);
      if (call !== null && !mayCallUnattended(session.policy, call.model, call.method)) {
        const stopped = confirm === null ? null : await confirm(args, session);
        if (stopped !== null) return stopped;
        session.needsApproval = confirm === null;
      }
      const answer = await tool.run(args, session);
      return { kind: 'answer', answer, text: JSON.stringify(answer) };
    } catch (error) {
      if (error instanceof ToolError) return { kind: 'error', text: printError(error) };
      onFault(request.requestId, error);
      const message = `The proxy failed; its operator finds the cause by ${request.requestId}.`;
      return { kind: 'error', text: printError(new ToolError('internal', message)) };
    }
  };
}

/** Runs a tool: reads its arguments, asks a person where that is needed, and prints its answer or error for a model. */
import type { NeededConfirmation } from '../execute/terms/request.ts';
import { mayCallUnattended } from '../policy/abilities.ts';
import type { McpRequest } from './mcp-request.ts';
import { readArguments } from './read-arguments.ts';
import { type Session, UnconfirmedCall } from './session.ts';
import {
  type Answer,
  type Arguments,
  type FinalCall,
  type Picture,
  PictureAnswer,
  type Tool,
} from './tool.ts';
import { printError, ToolError } from './tool-error.ts';

/** `text` is what the model reads: of an answer, its JSON. `picture`: what it sees beside it. */
export type ToolOutcome =
  | { kind: 'answer'; answer: Answer; text: string; picture?: Picture }
  | { kind: 'error'; text: string };

/** The person in front of the client. */
export interface Person<Stopped> {
  /** What they have said about this call: null if they were not asked, or about other records than are there now. */
  read(args: Arguments, session: Session): Promise<'agreed' | Stopped | null>;
  /** Asks them. Resolves to the outcome instead of that of the tool. */
  ask(args: Arguments, session: Session): Promise<Stopped>;
}

/**
 * Runs a tool. `person` is asked before a call that cannot be undone, once the proxy would send it; null: the client
 * cannot show questions. Does not reject because of the arguments or of Odoo.
 */
export type RunTool<Stopped> = (
  tool: Tool,
  given: unknown,
  request: McpRequest,
  person: Person<Stopped> | null,
) => Promise<ToolOutcome | Stopped>;

/** Stand for the rule of a policy. */
const UNASKED_RULE = 'mcp: the client cannot ask a person';
const PERSON_RULE = 'mcp: the person in front of the client';

/** `onFault` receives exceptions of tools. */
export function createToolRunner<Stopped>(
  onFault: (requestId: string, error: unknown) => void,
): RunTool<Stopped> {
  return async (tool, sent, request, person) => {
    const session = request.session.fork();
    try {
      const args = readArguments(tool, sent) as Arguments;
      if (args.lang !== undefined) session.useLanguage(args.lang);
      const call = tool.findFinalCall(args);
      if (call !== null && !mayCallUnattended(session.policy, call.model, call.method)) {
        const said = person === null ? null : await person.read(args, session);
        if (said !== null && said !== 'agreed') return said;
        session.confirmation = said === 'agreed' ? null : needConfirmation(call, person !== null);
      }
      try {
        const ran = await tool.run(args, session);
        const [given, picture] = ran instanceof PictureAnswer ? [ran.answer, ran.picture] : [ran];
        const { nullField } = session;
        const answer = nullField === null ? given : { ...given, no_number: explainNull(nullField) };
        const text = JSON.stringify(answer);
        return { kind: 'answer', answer, text, ...(picture && { picture }) };
      } catch (error) {
        if (person === null || !(error instanceof UnconfirmedCall)) throw error;
        return await person.ask(args, session);
      }
    } catch (error) {
      if (error instanceof ToolError) return { kind: 'error', text: printError(error) };
      onFault(request.requestId, error);
      const message = `The proxy failed; its operator finds the cause by ${request.requestId}.`;
      return { kind: 'error', text: printError(new ToolError('internal', message)) };
    }
  };
}

function explainNull(field: string): string {
  const place = field === '' ? 'A value' : `${field} of a record`;
  return `${place} is NaN or Infinity in Odoo; null stands for it. Tell the user, who can correct it.`;
}

function needConfirmation({ of }: FinalCall, canAsk: boolean): NeededConfirmation {
  return canAsk ? { of, by: 'person', rule: PERSON_RULE } : { of, by: 'administrator', rule: UNASKED_RULE };
}

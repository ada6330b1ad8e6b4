/** Runs a tool: reads its arguments, asks a person where that is needed, and prints its answer or error for a model. */

import type { NeededConfirmation } from '@erp-proxy/gateway/terms';
import { mayCallUnattended } from '@erp-proxy/policy/abilities';
import { askInstances } from './ask-instances.ts';
import {
  describeQuestion,
  isAboutCall,
  nameCall,
  type Question,
  REFUSED,
  type Said,
} from './confirmation.ts';
import { explainError, explainNulls } from './explain-outcome.ts';
import { readArguments } from './read-arguments.ts';
import { type Session, UnconfirmedCall } from './session.ts';
import {
  type Answer,
  type AnswerPart,
  AnswerWithPart,
  type Arguments,
  type FinalCall,
  type Tool,
} from './tool.ts';

/** `part`: stands beside the answer. `text`: read by the model. */
export type ToolOutcome =
  | { kind: 'answer'; answer: Answer; part: AnswerPart | undefined }
  | { kind: 'error'; text: string }
  /** A person must agree before the tool runs. */
  | ({ kind: 'question' } & Question)
  /** A person must visit a page first. `text`: the same for a client that cannot show the page. */
  | { kind: 'page'; url: string; text: string };

/** The person in front of the client. */
export interface Person {
  /** The person's answer; null if the person was not asked. */
  said: Said | null;
}

/** Names that stand for the rule of a policy. */
const UNASKED_RULE = 'mcp: the client cannot ask a person';
const PERSON_RULE = 'mcp: the person in front of the client';

/**
 * Runs a tool with the given arguments. `person` is asked before a call that cannot be undone, if the proxy would
 * otherwise send it; null: the client cannot show questions. Never rejects because of the arguments or of Odoo.
 */
export async function runTool(
  tool: Tool,
  sent: unknown,
  request: Session,
  person: Person | null,
): Promise<ToolOutcome> {
  const session = request.fork();
  try {
    const args = readArguments(tool, sent) as Arguments;
    if (args.lang !== undefined) session.useLanguage(args.lang);
    const name = async () =>
      nameCall(session.keyId, tool.name, args, await session.pickInstance(args.instance));
    const ask = async () => describeQuestion(await name(), await tool.ask(args, session));
    const call = tool.findFinalCall(args);
    if (call !== null && !mayCallUnattended(session.policy, call.model, call.method)) {
      const said = person?.said ?? null;
      const isSaid = said !== null && isAboutCall(said, await name());
      if (isSaid && !said.isYes) return { kind: 'error', text: REFUSED };
      const isConfirmed = isSaid && said.about === (await ask()).about;
      session.confirmation = isConfirmed ? null : needConfirmation(call, person !== null);
    }
    try {
      if (args.instances !== undefined)
        return { kind: 'answer', answer: await askInstances(tool, args, session), part: undefined };
      const ran = await tool.run(args, session);
      const [given, part] = ran instanceof AnswerWithPart ? [ran.answer, ran.part] : [ran];
      return { kind: 'answer', answer: explainNulls(given, session), part };
    } catch (error) {
      if (person === null || !(error instanceof UnconfirmedCall)) throw error;
      return { kind: 'question', ...(await ask()) };
    }
  } catch (error) {
    const { url, ...shown } = explainError(error, session);
    return url === null ? { kind: 'error', ...shown } : { kind: 'page', url, ...shown };
  }
}

function needConfirmation({ of }: FinalCall, canAsk: boolean): NeededConfirmation {
  return canAsk ? { of, by: 'person', rule: PERSON_RULE } : { of, by: 'administrator', rule: UNASKED_RULE };
}

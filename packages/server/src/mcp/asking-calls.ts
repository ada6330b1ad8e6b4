/**
 * Runs calls that a person may have to confirm, for clients of 2025 that can show questions. The question is in the
 * open answer of the call, before its result.
 */
import { REFUSED } from './confirmation-form.ts';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import type { Message } from './message.ts';
import { printToolResult, readCall } from './plain-calls.ts';
import { printEvent, type Questions, type Said } from './questions.ts';
import type { Person, RunTool, ToolOutcome } from './run-tool.ts';

/** The call is stopped for a question. */
interface Stopped {
  kind: 'question';
  question: string;
}

export interface AskingCalls {
  /** Null: the call asks nobody, or the SDK must judge the request. */
  run(message: Message, request: McpRequest): Promise<McpAnswer> | null;
}

const EVENT_STREAM = 'text/event-stream';
const REVISIONS: readonly (string | undefined)[] = [undefined, '2025-03-26', '2025-06-18', '2025-11-25'];
/** A record can change while a person reads. */
const QUESTIONS_MAX = 3;
const UNANSWERED =
  'The question to the person was not answered in time. Nothing was changed. Ask them, then send the call again.';

export function createAskingCalls(runTool: RunTool<Stopped>, questions: Questions): AskingCalls {
  return {
    run(message, request) {
      const call = readCall(message, request);
      if (call === null || call.tool.hints.readOnlyHint) return null;
      if (!REVISIONS.includes(request.header('mcp-protocol-version'))) return null;
      return answer(message, request, call.tool);
    },
  };

  async function answer(
    { id, params }: Message,
    request: McpRequest,
    tool: NonNullable<ReturnType<typeof readCall>>['tool'],
  ): Promise<McpAnswer> {
    const run = (person: Person<Stopped> | null) => runTool(tool, params['arguments'], request, person);
    const print = (outcome: ToolOutcome) => printEvent(printToolResult(id, outcome));
    const first = await run(createPerson(tool, null));
    const begun = { status: 200, contentType: EVENT_STREAM };
    if (first.kind !== 'question') return { ...begun, body: Buffer.from(print(first)) };
    const finish = async (write: (text: string) => void) => {
      let { question } = first;
      for (let count = 0; count < QUESTIONS_MAX; count++) {
        const said = await questions.ask(question, request, write);
        if (said !== 'agreed') return said === 'unable' ? await run(null) : refuse(said);
        const outcome = await run(createPerson(tool, question));
        if (outcome.kind !== 'question') return outcome;
        question = outcome.question;
      }
      return refuse('unanswered');
    };
    return {
      ...begun,
      body: new Uint8Array(),
      stream: async (write) => {
        const outcome = await finish(write);
        if (outcome.kind !== 'question') write(print(outcome));
      },
    };
  }
}

/** `confirmed`: the question to which they said yes; null: they were not asked. */
function createPerson(
  tool: NonNullable<ReturnType<typeof readCall>>['tool'],
  confirmed: string | null,
): Person<Stopped> {
  return {
    read: async (args, session) =>
      confirmed !== null && (await tool.ask(args, session)) === confirmed ? 'agreed' : null,
    ask: async (args, session) => ({ kind: 'question', question: await tool.ask(args, session) }),
  };
}

function refuse(said: Exclude<Said, 'agreed' | 'unable'>): ToolOutcome {
  return { kind: 'error', text: said === 'refused' ? REFUSED : UNANSWERED };
}

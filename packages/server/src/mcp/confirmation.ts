/**
 * Asks a person before a call that cannot be undone, by elicitation. The client sends the call again with the answer.
 * A seal binds the answer to the arguments, to the server and to the question as the person has read it: if a record
 * has another name or state by then, it is another question.
 */
import { createHash } from 'node:crypto';
import {
  type CallToolResult,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ANSWER, QUESTION_SCHEMA, REFUSED, readConfirmation } from './confirmation-form.ts';

export interface ConfirmedCall {
  /** Id of the client key. */
  keyId: string;
  tool: string;
  args: unknown;
  /** The server and its user: a name, or the only instance, can be another one by the time of the answer. */
  place: readonly (string | number)[];
  question: () => Promise<string>;
}

export interface Confirmation {
  /** Null: the person was not asked this. Otherwise a yes, or the result for a call that they refused. */
  read(call: ConfirmedCall, context: ServerContext): Promise<'agreed' | CallToolResult | null>;
  ask(call: ConfirmedCall, context: ServerContext): Promise<InputRequiredResult>;
  /** Checks the seal that a client has sent back. */
  verify: (state: string, context: ServerContext) => unknown;
}

const VALID_SECONDS = 600;

export function createConfirmation(secret: Uint8Array): Confirmation {
  const seals = createRequestStateCodec<string>({ key: secret, ttlSeconds: VALID_SECONDS });
  return {
    verify: seals.verify,
    async read(call, context) {
      const { mcpReq } = context;
      const answer = inputResponse(mcpReq.inputResponses, ANSWER);
      const [named, shown] = mcpReq.requestState<string>()?.split(' ') ?? [];
      if (answer.kind !== 'elicit' || named !== nameCall(call)) return null;
      if (!readConfirmation(answer)) return { content: [{ type: 'text', text: REFUSED }], isError: true };
      return shown === digest(await call.question()) ? 'agreed' : null;
    },
    async ask(call, context) {
      const message = await call.question();
      const request = inputRequired.elicit({ message, requestedSchema: QUESTION_SCHEMA });
      return inputRequired({
        inputRequests: { [ANSWER]: request },
        requestState: await seals.mint(`${nameCall(call)} ${digest(message)}`, context),
      });
    },
  };
}

function nameCall({ keyId, tool, args, place }: ConfirmedCall): string {
  return digest(JSON.stringify([keyId, tool, args, place]));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Asks a person before a call that cannot be undone, by elicitation. The client sends the call again with the answer.
 * A seal binds the answer to the arguments and the server that the person was asked about.
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
  /** Null: the call may run. Otherwise the question, or the result for a call that a person refused. */
  ask(call: ConfirmedCall, context: ServerContext): Promise<InputRequiredResult | CallToolResult | null>;
  /** Checks the seal that a client has sent back. */
  verify: (state: string, context: ServerContext) => unknown;
}

const ANSWER = 'confirm';
const VALID_SECONDS = 600;
const SCHEMA = {
  type: 'object' as const,
  properties: { [ANSWER]: { type: 'boolean' as const, title: 'Yes, do it', default: false } },
  required: [ANSWER],
};
const REFUSED =
  'A person was asked and did not agree. Nothing was changed. Do not try again unless they ask for it.';

export function createConfirmation(secret: Uint8Array): Confirmation {
  const seals = createRequestStateCodec<string>({ key: secret, ttlSeconds: VALID_SECONDS });
  return {
    verify: seals.verify,
    async ask({ keyId, tool, args, place, question }, context) {
      const digest = createHash('sha256')
        .update(JSON.stringify([keyId, tool, args, place]))
        .digest('base64url');
      const { inputResponses } = context.mcpReq;
      const answer = inputResponse(inputResponses, ANSWER);
      if (answer.kind === 'elicit' && context.mcpReq.requestState<string>() === digest) {
        if (answer.action === 'accept' && answer.content?.[ANSWER] === true) return null;
        return { content: [{ type: 'text', text: REFUSED }], isError: true };
      }
      const message = await question();
      const request = inputRequired.elicit({ message, requestedSchema: SCHEMA });
      return inputRequired({
        inputRequests: { [ANSWER]: request },
        requestState: await seals.mint(digest, context),
      });
    },
  };
}

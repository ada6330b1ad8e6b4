/**
 * Questions to the person in front of a client of 2025: elicitation as a request in the open answer of a call. The
 * client answers by a request of its own, which can reach another process: the answer comes by the relay.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../json/is-object.ts';
import { QUESTION_SCHEMA, readConfirmation } from './confirmation-form.ts';
import type { McpRequest } from './mcp-request.ts';
import type { Message } from './message.ts';

/** Passes texts between processes. */
export interface AnswerRelay {
  put(name: string, client: string, text: string): Promise<boolean>;
  find(name: string): Promise<string | null>;
}

/** `unable`: the client cannot show the question after all, or too many questions wait already. */
export type Said = 'agreed' | 'refused' | 'unanswered' | 'unable';

export interface Questions {
  /** The session of a client that can show questions, from its first message; null for other messages. */
  openSession(message: Message | null, keyId: string): string | null;
  /** Whether the id of a session is that of a client with this key that can show questions. */
  isSession(id: string | undefined, keyId: string): boolean;
  /** True if the message answers a question. */
  isAnswer(body: unknown): body is Record<string, unknown>;
  keepAnswer(body: Record<string, unknown>, keyId: string): Promise<void>;
  /** `write` sends a part of the open answer. The time limit of the request stands still while the person reads. */
  ask(question: string, request: McpRequest, write: (text: string) => void): Promise<Said>;
}

export const SESSION_HEADER = 'mcp-session-id';
const VALID_MS = 10 * 60_000;
/** A person takes seconds, and the store is asked so often for each question. */
const POLL_MS = 500;
/** Gateways close an answer in which nothing is sent for a minute. */
const ALIVE_MS = 15_000;
const WAITING_MAX = 200;
const WAITING_OF_KEY_MAX = 8;
const ID_PREFIX = 'erp-proxy-question-';
const ID_LENGTH_MAX = 100;

export function createQuestions(secret: Uint8Array, relay: AnswerRelay, nowMs: () => number): Questions {
  /** Number of questions that wait, by key. */
  const waitingByKey = new Map<string, number>();
  let waitingCount = 0;
  const sign = (nonce: string, keyId: string) =>
    createHmac('sha256', secret).update(`mcp session ${nonce} ${keyId}`).digest();
  return {
    openSession(message, keyId) {
      if (message?.method !== 'initialize' || !canShowQuestions(message.params['capabilities'])) return null;
      const nonce = randomBytes(12).toString('base64url');
      return `${nonce}.${sign(nonce, keyId).toString('base64url')}`;
    },
    isSession(id, keyId) {
      const [nonce, signature] = id?.split('.') ?? [];
      if (nonce === undefined || signature === undefined) return false;
      const given = Buffer.from(signature, 'base64url');
      const right = sign(nonce, keyId);
      return given.length === right.length && timingSafeEqual(given, right);
    },
    isAnswer(body): body is Record<string, unknown> {
      if (!isObject(body) || 'method' in body) return false;
      const { id } = body;
      return typeof id === 'string' && id.length <= ID_LENGTH_MAX && id.startsWith(ID_PREFIX);
    },
    async keepAnswer({ id, result }, keyId) {
      await relay.put(nameAnswer(String(id), keyId), keyId, readSaid(result));
    },
    async ask(question, { keyId, session, waiting }, write) {
      // The answer of the client is a request beside those that wait.
      const places = (session.policy?.policy.concurrency ?? Number.POSITIVE_INFINITY) - 1;
      const ofKey = waitingByKey.get(keyId) ?? 0;
      if (waitingCount >= WAITING_MAX || ofKey >= Math.min(WAITING_OF_KEY_MAX, places)) return 'unable';
      const { signal, isStopping, pauseTime, renewTime } = waiting;
      const id = `${ID_PREFIX}${randomBytes(16).toString('base64url')}`;
      const name = nameAnswer(id, keyId);
      const params = { message: question, requestedSchema: QUESTION_SCHEMA };
      waitingCount++;
      waitingByKey.set(keyId, ofKey + 1);
      pauseTime();
      try {
        write(printEvent({ jsonrpc: '2.0', id, method: 'elicitation/create', params }));
        const end = nowMs() + VALID_MS;
        for (let alive = nowMs() + ALIVE_MS; nowMs() < end && !signal.aborted && !isStopping(); ) {
          const said = await relay.find(name);
          if (said !== null) return said as Said;
          await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
          if (nowMs() < alive) continue;
          write(': waiting for a person\n\n');
          alive = nowMs() + ALIVE_MS;
        }
        return 'unanswered';
      } finally {
        // What follows is a call as any other.
        renewTime();
        waitingCount--;
        const left = (waitingByKey.get(keyId) ?? 1) - 1;
        if (left > 0) waitingByKey.set(keyId, left);
        else waitingByKey.delete(keyId);
      }
    },
  };
}

/** A message as an event of the open answer. */
export function printEvent(message: object | string): string {
  return `event: message\ndata: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`;
}

function canShowQuestions(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  // In the revision 2025-06-18, a form is the only kind.
  return isObject(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
}

/** An error in place of a result: the client cannot show it. */
function readSaid(result: unknown): Said {
  if (!isObject(result)) return 'unable';
  return readConfirmation(result) ? 'agreed' : 'refused';
}

/** Only the key whose call asks can answer. */
function nameAnswer(id: string, keyId: string): string {
  return createHash('sha256').update(`mcp answer ${keyId} ${id}`).digest('hex');
}

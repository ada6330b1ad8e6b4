/**
 * Questions to the person in front of a client of 2025: an elicitation is a request in the open answer of a call. The
 * client answers by a request of its own, which can reach another process: the relay passes it on.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRunner } from '@erp-proxy/gateway/terms';
import { isObject } from '@erp-proxy/json';
import {
  canShowPages,
  canShowQuestions,
  QUESTION_SCHEMA,
  readConfirmation,
  type Said,
} from './confirmation.ts';
import type { Person, ToolOutcome } from './run-tool.ts';

/** Passes texts between processes. */
export interface AnswerRelay {
  put(name: string, client: string, text: string): Promise<boolean>;
  find(name: string): Promise<string | null>;
}

/** `unable`: the client cannot show the question after all, or too many questions are waiting already. */
type Reply = 'agreed' | 'refused' | 'unanswered' | 'unable';

/** What a client can show to its person. */
export interface Abilities {
  readonly questions: boolean;
  readonly pages: boolean;
}

/** A message to the client. */
export interface AskMessage {
  jsonrpc: '2.0';
  id: string;
  method: 'elicitation/create';
  params: { message: string; requestedSchema: typeof QUESTION_SCHEMA };
}

export interface Questions {
  /**
   * Returns a session id for the first message of a client that can show questions or pages; null for other messages.
   */
  openSession(message: unknown, keyId: string): string | null;
  /** What the client of the session with this id and this key can show. */
  readSession(id: string | undefined, keyId: string): Abilities;
  /** True if the message answers a question. */
  isAnswer(body: unknown): body is Record<string, unknown>;
  keepAnswer(body: Record<string, unknown>, keyId: string): Promise<void>;
  /**
   * Runs a tool, and asks the person as often as needed. `send` sends a message in the open answer. The time limit of
   * the request is paused while the person reads.
   */
  run(
    tool: (person: Person | null) => Promise<ToolOutcome>,
    runner: CallRunner,
    send: (message: AskMessage) => Promise<void>,
  ): Promise<ToolOutcome>;
}

const VALID_MS = 10 * 60_000;
/** Interval at which the store is asked for the answer: a person takes seconds. */
const POLL_MS = 500;
/** Maximum times that a call is asked about: a record can change while the person reads, which needs a new question. */
const ASKED_MAX = 3;
const WAITING_MAX = 200;
const WAITING_OF_KEY_MAX = 8;
/** Abilities at the beginning of a session id. */
const QUESTIONS = 'q';
const PAGES = 'p';
const NONE: Abilities = { questions: false, pages: false };
const NONCE_LENGTH = 16;
const ID_PREFIX = 'erp-proxy-question-';
const ID_LENGTH_MAX = 100;
const UNANSWERED =
  'The question to the person was not answered in time. Nothing was changed. Ask them, then send the call again.';

export function createQuestions(secret: Uint8Array, relay: AnswerRelay, nowMs: () => number): Questions {
  /** Number of waiting questions, by key. */
  const waitingByKey = new Map<string, number>();
  let waitingCount = 0;
  const sign = (nonce: string, keyId: string) =>
    createHmac('sha256', secret).update(`mcp session ${nonce} ${keyId}`).digest();
  return {
    openSession(message, keyId) {
      if (!isObject(message) || message['method'] !== 'initialize' || !isObject(message['params']))
        return null;
      const { capabilities } = message['params'];
      const abilities = [
        ...(canShowQuestions(capabilities) ? [QUESTIONS] : []),
        ...(canShowPages(capabilities) ? [PAGES] : []),
      ];
      if (abilities.length === 0) return null;
      const nonce = `${abilities.join('')}${randomBytes(12).toString('base64url')}`;
      return `${nonce}.${sign(nonce, keyId).toString('base64url')}`;
    },
    readSession(id, keyId) {
      const [nonce, signature] = id?.split('.') ?? [];
      if (nonce === undefined || signature === undefined) return NONE;
      const given = Buffer.from(signature, 'base64url');
      const right = sign(nonce, keyId);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return NONE;
      const abilities = nonce.slice(0, -NONCE_LENGTH);
      return { questions: abilities.includes(QUESTIONS), pages: abilities.includes(PAGES) };
    },
    isAnswer(body): body is Record<string, unknown> {
      if (!isObject(body) || 'method' in body) return false;
      const { id } = body;
      return typeof id === 'string' && id.length <= ID_LENGTH_MAX && id.startsWith(ID_PREFIX);
    },
    async keepAnswer({ id, result }, keyId) {
      await relay.put(nameAnswer(String(id), keyId), keyId, readReply(result));
    },
    async run(tool, runner, send) {
      let said: Said | null = null;
      for (let count = 0; count <= ASKED_MAX; count++) {
        const outcome = await tool({ said });
        if (outcome.kind !== 'question') return outcome;
        if (count === ASKED_MAX) break;
        const reply = await ask(outcome.text, runner, send);
        if (reply === 'unanswered') break;
        if (reply === 'unable') return tool(null);
        said = { about: outcome.about, isYes: reply === 'agreed' };
      }
      return { kind: 'error', text: UNANSWERED };
    },
  };

  async function ask(
    question: string,
    { client, signal, isStopping, pauseTime, renewTime }: CallRunner,
    send: (message: AskMessage) => Promise<void>,
  ): Promise<Reply> {
    const keyId = client.key.id;
    // Leaves one place free: the client's answer is a request beside those that wait.
    const places = (client.policy?.policy.concurrency ?? Number.POSITIVE_INFINITY) - 1;
    const ofKey = waitingByKey.get(keyId) ?? 0;
    if (waitingCount >= WAITING_MAX || ofKey >= Math.min(WAITING_OF_KEY_MAX, places)) return 'unable';
    const id = `${ID_PREFIX}${randomBytes(16).toString('base64url')}`;
    const name = nameAnswer(id, keyId);
    const params = { message: question, requestedSchema: QUESTION_SCHEMA };
    waitingCount++;
    waitingByKey.set(keyId, ofKey + 1);
    pauseTime();
    try {
      await send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
      const end = nowMs() + VALID_MS;
      while (nowMs() < end && !signal.aborted && !isStopping()) {
        const reply = await relay.find(name);
        if (reply !== null) return reply as Reply;
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
      return 'unanswered';
    } finally {
      // The call goes on with the full time limit.
      renewTime();
      waitingCount--;
      const left = (waitingByKey.get(keyId) ?? 1) - 1;
      if (left > 0) waitingByKey.set(keyId, left);
      else waitingByKey.delete(keyId);
    }
  }
}

/** An error in place of a result means that the client cannot show the question. */
function readReply(result: unknown): Reply {
  if (!isObject(result)) return 'unable';
  return readConfirmation(result) ? 'agreed' : 'refused';
}

/** Includes the key, so that only the key of the call can answer. */
function nameAnswer(id: string, keyId: string): string {
  return createHash('sha256').update(`mcp answer ${keyId} ${id}`).digest('hex');
}

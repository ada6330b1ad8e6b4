/**
 * Answers a request to `/mcp`. The SDK judges and answers every request that is new in kind. A call of a tool whose
 * client it knows, and a list that it has answered before, do without it, because it costs more than the call.
 */
import { isObject } from '../json/is-object.ts';
import { createAskingCalls } from './asking-calls.ts';
import { createKeptAnswers } from './kept-answers.ts';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import { type Message, readMessage } from './message.ts';
import { createPlainCalls } from './plain-calls.ts';
import { type AnswerRelay, createQuestions, SESSION_HEADER } from './questions.ts';
import { createToolRunner } from './run-tool.ts';
import { connectSdk } from './sdk.ts';

export interface HandlerOptions {
  secret: Uint8Array;
  version: string;
  relay: AnswerRelay;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  onFault: (requestId: string, error: unknown) => void;
}

export interface McpHandler {
  /** `body` is parsed JSON. */
  answer(body: unknown, request: McpRequest): Promise<McpAnswer>;
}

export function createHandler({ secret, version, relay, nowMs, onFault }: HandlerOptions): McpHandler {
  const serverInfo = { name: 'erp-proxy', title: 'Odoo', version };
  const sdk = connectSdk({ secret, serverInfo, runTool: createToolRunner(onFault) });
  const calls = createPlainCalls(createToolRunner(onFault), serverInfo);
  const kept = createKeptAnswers();
  const questions = createQuestions(secret, relay, nowMs);
  const asking = createAskingCalls(createToolRunner(onFault), questions);
  return {
    async answer(body, given) {
      const { keyId } = given;
      if (questions.isAnswer(body)) {
        await questions.keepAnswer(body, keyId);
        return { status: 202, contentType: JSON_TYPE, body: new Uint8Array() };
      }
      const message = readMessage(body);
      const acceptsEvents = accepts(given.header('accept'), EVENT_STREAM);
      const isSession = questions.isSession(given.header(SESSION_HEADER), keyId);
      const request = { ...given, header: (name: string) => normalizeHeader(name, given, isSession) };
      const answer = await answerMessage(body, message, request, isSession && acceptsEvents);
      const session = acceptsEvents && answer.status === 200 ? questions.openSession(message, keyId) : null;
      const described = session === null ? answer : { ...answer, headers: { [SESSION_HEADER]: session } };
      return acceptsEvents ? described : withoutEvents(described);
    },
  };

  async function answerMessage(
    body: unknown,
    message: Message | null,
    request: McpRequest,
    canAsk: boolean,
  ): Promise<McpAnswer> {
    if (message === null) return sdk.answer(Array.isArray(body) ? omitCancellations(body) : body, request);
    const asked = canAsk ? asking.run(message, request) : null;
    if (asked !== null) return asked;
    const known = kept.find(message, request) ?? calls.run(message, request);
    if (known !== null) return known;
    const { client, ...answer } = await sdk.answer(body, request);
    if (client === null) kept.keep(message, request, answer);
    else calls.remember(message, request, client, answer.contentType);
    return answer;
  }
}

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = 'application/json';
const BOTH_TYPES = `${JSON_TYPE}, ${EVENT_STREAM}`;

/**
 * What the SDK reads of the headers. A client that takes JSON, or anything, need not name both types. Sessions are the
 * proxy's own: the SDK has none.
 */
function normalizeHeader(name: string, { header }: McpRequest, isSession: boolean): string | undefined {
  const value = header(name);
  if (name === SESSION_HEADER && isSession) return undefined;
  if (name !== 'accept') return value;
  return value === undefined || accepts(value, JSON_TYPE) ? BOTH_TYPES : value;
}

/** Events only if they are named: what takes anything reads JSON rather. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = header?.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase()) ?? [];
  return (
    ranges.includes(type) ||
    (type === JSON_TYPE && (ranges.includes('*/*') || ranges.includes('application/*')))
  );
}

/** The messages of the events, as JSON. */
function withoutEvents(answer: McpAnswer): McpAnswer {
  if (!answer.contentType.startsWith(EVENT_STREAM)) return answer;
  const messages = [
    ...Buffer.from(answer.body)
      .toString()
      .matchAll(/^data: (.+)$/gm),
  ].map(([, data]) => data);
  const text = messages.length === 1 ? messages[0] : `[${messages.join(',')}]`;
  return { ...answer, contentType: JSON_TYPE, body: Buffer.from(text ?? '') };
}

/**
 * Without sessions, a cancellation can only be for a call of its own batch. The SDK would then wait for an answer to
 * that call without an end.
 */
function omitCancellations(batch: readonly unknown[]): readonly unknown[] {
  const others = batch.filter((item) => !isObject(item) || item['method'] !== 'notifications/cancelled');
  return others.length > 0 ? others : batch;
}

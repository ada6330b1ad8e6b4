/**
 * Answers a request to `/mcp`. The SDK judges and answers every request that is new in kind. A call of a tool whose
 * client it knows, and a list that it has answered before, do without it, because it costs more than the call.
 */
import { isObject } from '../json/is-object.ts';
import { createKeptAnswers } from './kept-answers.ts';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import { readMessage } from './message.ts';
import { createPlainCalls } from './plain-calls.ts';
import { createToolRunner } from './run-tool.ts';
import { connectSdk } from './sdk.ts';

export interface HandlerOptions {
  secret: Uint8Array;
  version: string;
  onFault: (requestId: string, error: unknown) => void;
}

export interface McpHandler {
  /** `body` is parsed JSON. */
  answer(body: unknown, request: McpRequest): Promise<McpAnswer>;
}

export function createHandler({ secret, version, onFault }: HandlerOptions): McpHandler {
  const serverInfo = { name: 'erp-proxy', title: 'Odoo', version };
  const sdk = connectSdk({ secret, serverInfo, runTool: createToolRunner(onFault) });
  const calls = createPlainCalls(createToolRunner(onFault), serverInfo);
  const kept = createKeptAnswers();
  return {
    async answer(body, request) {
      const message = readMessage(body);
      if (message === null) return sdk.answer(Array.isArray(body) ? omitCancellations(body) : body, request);
      const known = kept.find(message, request) ?? calls.run(message, request);
      if (known !== null) return known;
      const { client, ...answer } = await sdk.answer(body, request);
      if (client === null) kept.keep(message, request, answer);
      else calls.remember(message, request, client, answer.contentType);
      return answer;
    },
  };
}

/**
 * Without sessions, a cancellation can only be for a call of its own batch. The SDK would then wait for an answer to
 * that call without an end.
 */
function omitCancellations(batch: readonly unknown[]): readonly unknown[] {
  const others = batch.filter((item) => !isObject(item) || item['method'] !== 'notifications/cancelled');
  return others.length > 0 ? others : batch;
}

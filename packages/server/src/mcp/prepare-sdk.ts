/**
 * Makes the SDK build its schemas, which it does at the first message of each kind. Messages of our own do it in parts;
 * the first messages of a client would do most of it at once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { connectSdk } from './sdk.ts';
import { defineTool } from './tool.ts';

const INFO = { name: 'erp-proxy', title: 'Odoo', version: '0' };
const TOOL = defineTool({
  name: 'nothing',
  title: 'Nothing',
  description: 'Nothing.',
  input: z.strictObject({}),
  output: z.object({}),
  example: '{}',
  hints: { readOnlyHint: true },
  isOffered: () => true,
  run: async () => ({}),
});
const CALL = { name: TOOL.name, arguments: {} };
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const META = {
  [PROTOCOL_VERSION_META_KEY]: MODERN,
  [CLIENT_INFO_META_KEY]: INFO,
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

/** In this order, the SDK builds a small part of its schemas for each. It refuses the first one. */
const MESSAGES: readonly [revision: string | undefined, method: string, params?: object][] = [
  [undefined, ''],
  [LEGACY, 'ping'],
  [LEGACY, 'initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: INFO }],
  [LEGACY, 'tools/list'],
  [LEGACY, 'tools/call', CALL],
  [MODERN, 'server/discover'],
  [MODERN, 'tools/list'],
  [MODERN, 'tools/call', CALL],
];

export async function prepareSdk(): Promise<void> {
  const runTool = async () => ({ kind: 'answer' as const, answer: {}, text: '{}' });
  const sdk = connectSdk({ secret: new Uint8Array(32), serverInfo: INFO, runTool });
  // Node loads what is behind these classes at their first use.
  await new Response(new Request('http://erp-proxy/').body).arrayBuffer();
  for (const [revision, method, params] of MESSAGES) {
    await nextTurn();
    const isModern = revision === MODERN;
    const headers: Record<string, string | undefined> = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': revision,
      'mcp-method': isModern ? method : undefined,
      'mcp-name': isModern && params === CALL ? TOOL.name : undefined,
    };
    const message = { ...params, ...(isModern ? { _meta: META } : {}) };
    await sdk.answer(
      { jsonrpc: '2.0', id: 1, method, params: message },
      {
        // The tool makes no call.
        session: null as never,
        offered: { tools: [TOOL], hasInstances: false, name: TOOL.name },
        keyId: '',
        requestId: '',
        waiting: {
          signal: new AbortController().signal,
          isStopping: () => false,
          pauseTime() {},
          renewTime() {},
        },
        header: (name) => headers[name],
      },
    );
  }
}

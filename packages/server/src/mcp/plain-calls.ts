/**
 * Runs calls of tools from clients that the SDK knows: it has judged another call with the same headers and `_meta`,
 * and accepted it. What is left to judge are the tool and its arguments, which are judged here as they are behind the
 * SDK. All other requests go through the SDK.
 */
import { LRUCache } from 'lru-cache';
import { isObject } from '../json/is-object.ts';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import { type Message, nameRequest } from './message.ts';
import type { RunTool, ToolOutcome } from './run-tool.ts';
import type { AcceptedClient } from './sdk.ts';
import type { Tool } from './tool.ts';

export interface PlainCalls {
  /** Null if the request must go through the SDK. */
  run(message: Message, request: McpRequest): Promise<McpAnswer> | null;
  /** Remembers the client of a request that the SDK has passed on to a tool. */
  remember(message: Message, request: McpRequest, client: AcceptedClient, contentType: string): void;
}

interface KnownClient extends AcceptedClient {
  contentType: string;
}

const METHOD = 'tools/call';
const MEMBERS = ['name', 'arguments', '_meta'];
/** The headers that the SDK reads, without the name of the tool. */
const HEADERS = ['accept', 'content-type', 'mcp-method', 'mcp-protocol-version', 'mcp-session-id'];
const CLIENTS_MAX = 500;
const NAME_LENGTH_MAX = 4000;

export function createPlainCalls(runTool: RunTool<never>, serverInfo: object): PlainCalls {
  const clients = new LRUCache<string, KnownClient>({ max: CLIENTS_MAX });
  const identity = JSON.stringify({ 'io.modelcontextprotocol/serverInfo': serverInfo });
  return {
    run(message, request) {
      const call = readCall(message, request);
      if (call === null) return null;
      const client = clients.get(call.client);
      // A call that a person may have to confirm needs the exchange of the SDK.
      if (client === undefined || (client.canAsk && !call.tool.hints.readOnlyHint)) return null;
      return answer(call.tool, message, request, client);
    },
    remember(message, request, client, contentType) {
      const call = readCall(message, request);
      if (call !== null) clients.set(call.client, { ...client, contentType });
    },
  };

  async function answer(
    tool: Tool,
    { id, params }: Message,
    request: McpRequest,
    { isModern, contentType }: KnownClient,
  ): Promise<McpAnswer> {
    const outcome = await runTool(tool, params['arguments'], request, null);
    const envelope = isModern ? `,"resultType":"complete","_meta":${identity}` : '';
    const text = printToolResult(id, outcome, envelope);
    const body = contentType === EVENT_STREAM ? `event: message\ndata: ${text}\n\n` : text;
    return { status: 200, contentType, body: Buffer.from(body) };
  }
}

const EVENT_STREAM = 'text/event-stream';

/** Null if the request is no call of a tool of the key, or has more than such a call needs. */
export function readCall(
  { method, params, meta }: Message,
  request: McpRequest,
): { tool: Tool; client: string } | null {
  if (method !== METHOD || !Object.keys(params).every((name) => MEMBERS.includes(name))) return null;
  const { name, arguments: given } = params;
  if (given !== undefined && (!isObject(given) || Object.hasOwn(given, '__proto__'))) return null;
  const tool = request.offered.tools.find((offered) => offered.name === name);
  if (tool === undefined) return null;
  const named = request.header('mcp-name');
  if (named !== undefined && named !== name) return null;
  const client = nameRequest(request, HEADERS, [meta, named !== undefined]);
  return client.length > NAME_LENGTH_MAX ? null : { tool, client };
}

/** The answer to a call as a message. `envelope`: further members of the result. */
export function printToolResult(id: Message['id'], outcome: ToolOutcome, envelope = ''): string {
  return `{"result":{${printContent(outcome)}${envelope}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

function printContent(outcome: ToolOutcome): string {
  const picture = outcome.kind === 'answer' ? outcome.picture : undefined;
  const image = picture === undefined ? '' : `,${JSON.stringify({ type: 'image', ...picture })}`;
  const content = `"content":[{"type":"text","text":${JSON.stringify(outcome.text)}}${image}]`;
  return outcome.kind === 'error'
    ? `${content},"isError":true`
    : `${content},"structuredContent":${outcome.text}`;
}

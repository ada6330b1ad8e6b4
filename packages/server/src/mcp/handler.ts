/**
 * Connects the tools to the official SDK, which speaks the protocol: revision 2026-07-28, and the revisions of 2025
 * without sessions. Each request gets a server of its own, made for its key.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CompiledPolicy } from '../policy/compile.ts';
import { type Confirmation, createConfirmation } from './confirmation.ts';
import { describeTool } from './describe-tool.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { readArguments } from './read-arguments.ts';
import type { Session } from './session.ts';
import type { Answer, Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';

export interface HandlerOptions {
  secret: Uint8Array;
  version: string;
  onFault: (requestId: string, error: unknown) => void;
}

/** A request, and what its tools use. */
export interface McpRequest {
  session: Session;
  keyId: string;
  requestId: string;
  header(name: string): string | undefined;
}

export interface McpAnswer {
  status: number;
  contentType: string;
  body: Uint8Array;
}

export interface McpHandler {
  /** `body` is parsed JSON. */
  answer(body: unknown, request: McpRequest): Promise<McpAnswer>;
}

/** The headers that the SDK reads. */
const HEADERS = [
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
];
/** The SDK reads nothing of the address. */
const ADDRESS = 'http://erp-proxy/mcp';

export function createHandler({ secret, version, onFault }: HandlerOptions): McpHandler {
  const confirmation = createConfirmation(secret);
  const handler = createMcpHandler(
    ({ authInfo }) =>
      createServer(authInfo?.extra?.['request'] as McpRequest, { version, confirmation, onFault }),
    // Nothing changes that a client could subscribe to.
    { maxSubscriptions: 0 },
  );
  return {
    async answer(body, request) {
      const headers = HEADERS.flatMap((name) => {
        const value = request.header(name);
        return value === undefined ? [] : [[name, value] as [string, string]];
      });
      const response = await handler.fetch(new Request(ADDRESS, { method: 'POST', headers }), {
        parsedBody: body,
        authInfo: { token: '', clientId: request.keyId, scopes: [], extra: { request } },
      });
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? 'application/json',
        body: new Uint8Array(await response.arrayBuffer()),
      };
    },
  };
}

interface ServerParts extends Pick<HandlerOptions, 'version' | 'onFault'> {
  confirmation: Confirmation;
}

function createServer(request: McpRequest, { version, confirmation, onFault }: ServerParts): Server {
  const { session, keyId, requestId } = request;
  const server = new Server(
    { name: 'erp-proxy', title: 'Odoo', version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      requestState: { verify: confirmation.verify },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: listTools(session.policy).map((tool) => describeTool(tool)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = findTool(params.name, session.policy);
    try {
      const args = readArguments(tool, params.arguments);
      if (canAsk(context, server)) {
        const question = () => tool.ask(args, session);
        const asked = await confirmation.ask({ keyId, tool: tool.name, args, question }, context);
        if (asked !== null) return asked;
      }
      return showAnswer(await tool.run(args, session));
    } catch (error) {
      if (error instanceof ToolError) return showError(error);
      onFault(requestId, error);
      return showError(
        new ToolError('internal', `The proxy failed; its operator finds the cause by ${requestId}.`),
      );
    }
  });
  return server;
}

function listTools(policy: CompiledPolicy | null): Tool[] {
  return ALL_TOOLS.filter((tool) => tool.isOffered(policy));
}

function findTool(name: string, policy: CompiledPolicy | null): Tool {
  const tools = listTools(policy);
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name).join(', ');
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool: ${name.slice(0, 100)}. This key has the tools ${names}.`,
  );
}

/** Whether the client can show a question to a person. Without a session, clients of 2025 cannot. */
function canAsk({ mcpReq }: ServerContext, server: Server): boolean {
  const envelope = mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const elicitation = capabilities?.elicitation as { form?: object; url?: object } | undefined;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function showAnswer(answer: Answer) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(answer) }], structuredContent: answer };
}

function showError({ type, message, nearest, next }: ToolError) {
  const lines = [
    `${type}: ${message}`,
    ...(nearest.length > 0 ? [`Nearest names: ${nearest.join(', ')}.`] : []),
    ...(next === '' ? [] : [`Next: ${next}`]),
  ];
  return { content: [{ type: 'text' as const, text: lines.join('\n') }], isError: true };
}

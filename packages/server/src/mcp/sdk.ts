/**
 * Connects the tools to the official SDK, which speaks the protocol: revision 2026-07-28, and the revisions of 2025
 * without sessions. Each request gets a server of its own, made for its key.
 */
import { cutText } from '@erp-proxy/contract';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Confirmation, createConfirmation } from './confirmation.ts';
import { describeTool } from './describe-tool.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import type { Person, RunTool } from './run-tool.ts';
import type { Session } from './session.ts';
import type { Arguments, Tool } from './tool.ts';

export interface SdkOptions {
  secret: Uint8Array;
  /** Shown to clients. */
  serverInfo: { name: string; title: string; version: string };
  runTool: RunTool<Asked>;
}

/** The tool did not run: a person is asked, or did not agree. */
interface Asked {
  kind: 'asked';
  result: CallToolResult | InputRequiredResult;
}

/** What the SDK has found out about a client when it reaches a tool. */
export interface AcceptedClient {
  /** Whether the request is of revision 2026-07-28. */
  isModern: boolean;
  /** Whether the client can show a question to a person. Without a session, clients of 2025 cannot. */
  canAsk: boolean;
}

export interface SdkAnswer extends McpAnswer {
  /** Null if the request did not reach a tool. */
  client: AcceptedClient | null;
}

export interface Sdk {
  /** `body` is parsed JSON. */
  answer(body: unknown, request: McpRequest): Promise<SdkAnswer>;
}

/** All headers that the SDK reads. */
export const SDK_HEADERS = [
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
] as const;
/** Clients may keep these answers: they depend on the program and on the policy of the key alone. */
const LIST_HINT = { ttlMs: 60_000, cacheScope: 'private' as const };
/** The SDK reads nothing of the address. */
const ADDRESS = 'http://erp-proxy/mcp';

/** A request on its way through the SDK. */
interface Passage {
  request: McpRequest;
  client: AcceptedClient | null;
}

export function connectSdk({ secret, serverInfo, runTool }: SdkOptions): Sdk {
  const confirmation = createConfirmation(secret);
  const handler = createMcpHandler(
    ({ authInfo, era }) => {
      const passage = authInfo?.extra?.['passage'] as Passage;
      return createServer(passage, era === 'modern', { serverInfo, confirmation, runTool });
    },
    // Nothing changes that a client could subscribe to.
    { maxSubscriptions: 0 },
  );
  return {
    async answer(body, request) {
      const headers = SDK_HEADERS.flatMap((name) => {
        const value = request.header(name);
        return value === undefined ? [] : [[name, value] as [string, string]];
      });
      const passage: Passage = { request, client: null };
      const response = await handler.fetch(new Request(ADDRESS, { method: 'POST', headers }), {
        parsedBody: body,
        authInfo: { token: '', clientId: request.keyId, scopes: [], extra: { passage } },
      });
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? 'application/json',
        body: new Uint8Array(await response.arrayBuffer()),
        client: passage.client,
      };
    },
  };
}

interface ServerParts extends Pick<SdkOptions, 'serverInfo' | 'runTool'> {
  confirmation: Confirmation;
}

function createServer(
  passage: Passage,
  isModern: boolean,
  { serverInfo, confirmation, runTool }: ServerParts,
): Server {
  const { request } = passage;
  const { keyId, offered } = request;
  const server = new Server(serverInfo, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    requestState: { verify: confirmation.verify },
    cacheHints: { 'tools/list': LIST_HINT, 'server/discover': LIST_HINT },
  });
  server.setRequestHandler('tools/list', () => ({
    tools: offered.tools.map((tool) => describeTool(tool, offered.hasInstances)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const canAsk = isModern && canShowQuestions(context);
    passage.client = { isModern, canAsk };
    const tool = findTool(params.name, offered.tools);
    const describe = async (args: Arguments, session: Session) => {
      const question = () => tool.ask(args, session);
      const { id, url, db, userId } = await session.pickInstance(args.instance);
      return { keyId, tool: tool.name, args, place: [id, url, db, userId], question };
    };
    const person: Person<Asked> = {
      async read(args, session) {
        const said = await confirmation.read(await describe(args, session), context);
        return said === null || said === 'agreed' ? said : { kind: 'asked', result: said };
      },
      async ask(args, session) {
        return { kind: 'asked', result: await confirmation.ask(await describe(args, session), context) };
      },
    };
    const outcome = await runTool(tool, params.arguments, request, canAsk ? person : null);
    if (outcome.kind === 'asked') return outcome.result;
    const content = [{ type: 'text' as const, text: outcome.text }];
    return outcome.kind === 'error'
      ? { content, isError: true }
      : {
          content:
            outcome.picture === undefined ? content : [...content, { type: 'image', ...outcome.picture }],
          structuredContent: outcome.answer,
        };
  });
  return server;
}

function findTool(name: string, tools: readonly Tool[]): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name).join(', ');
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool: ${cutText(name, 100)}. This key has the tools ${names}.`,
  );
}

function canShowQuestions({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const elicitation = envelope?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

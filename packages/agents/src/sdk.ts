/**
 * Connects the tools to the official SDK, which speaks the protocol: revision 2026-07-28, and the revisions of 2025
 * without sessions. Each request gets a server of its own, made for its key.
 */
import { randomUUID } from 'node:crypto';
import { cutText } from '@erp-proxy/contract';
import type { CallRunner } from '@erp-proxy/gateway/terms';
import { isObject } from '@erp-proxy/json';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  preloadSchemas,
  Server,
  type ServerContext,
  UrlElicitationRequiredError,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { SEVERAL } from './ask-instances.ts';
import {
  ANSWER,
  canShowPages,
  canShowQuestions,
  PAGE_TEXT,
  QUESTION_SCHEMA,
  readConfirmation,
} from './confirmation.ts';
import { DOCUMENT_TEMPLATE, readDocumentResource } from './document-resource.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { Questions } from './questions.ts';
import { type Person, runTool, type ToolOutcome } from './run-tool.ts';
import type { Session } from './session.ts';
import type { Tool } from './tool.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';
import { getDocument } from './tools/get-document.ts';

export interface SdkOptions {
  /**
   * A key of 32 bytes, the same on all replicas. It proves that a confirmed call is the one that the person was asked
   * about.
   */
  secret: Uint8Array;
  /** Version of this program. */
  version: string;
  /** Asks the people in front of clients of 2025. */
  questions: Questions;
}

export interface McpRequest {
  runner: CallRunner;
  session: Session;
  /** True if a client of 2025 gets events; false if it gets JSON. */
  acceptsEvents: boolean;
  /** True if a client of 2025 can show questions. */
  canAsk: boolean;
  /** True if a client of 2025 can show pages. */
  canShowPages: boolean;
  /** Set to true before a question is sent in the open answer. */
  isAsking: boolean;
}

export interface Sdk {
  /** `body` is the parsed JSON of the request. */
  answer(http: Request, body: unknown, request: McpRequest): Promise<Response>;
}

type Run = (person: Person | null) => Promise<ToolOutcome>;

/** How long clients may cache these answers, which depend only on the program and on the policy of the key. */
const LIST_HINT = { ttlMs: 60_000, cacheScope: 'private' as const };
const CONFIRMED_SECONDS = 600;
/** Name of the request to show a page. */
const PAGE = 'page';

export function connectSdk({ secret, version, questions }: SdkOptions): Sdk {
  // Built now, because the first messages would build them and keep other callers waiting.
  preloadSchemas();
  const seals = createRequestStateCodec<string>({ key: secret, ttlSeconds: CONFIRMED_SECONDS });
  const modern = createMcpHandler(
    ({ authInfo }) => createServer(authInfo?.extra?.['request'] as McpRequest, true),
    // No subscriptions, because nothing changes that a client could subscribe to.
    { legacy: 'reject', maxSubscriptions: 0 },
  );
  return {
    async answer(http, given, request) {
      const parsedBody = Array.isArray(given) ? omitCancellations(given) : given;
      if (!(await isLegacyRequest(http, parsedBody))) {
        const authInfo = { token: '', clientId: request.session.keyId, scopes: [], extra: { request } };
        return modern.fetch(http, { parsedBody, authInfo });
      }
      const transport = new WebStandardStreamableHTTPServerTransport({
        enableJsonResponse: !request.acceptsEvents,
      });
      await createServer(request, false).connect(transport);
      return transport.handleRequest(http, { parsedBody });
    },
  };

  function createServer(request: McpRequest, isModern: boolean): Server {
    const { session } = request;
    const tools = ALL_TOOLS.filter((tool) => tool.isOffered(session.policy));
    // Links to documents are the only resources.
    const isReading = tools.includes(getDocument);
    const server = new Server(
      { name: 'erp-proxy', title: 'Odoo', version },
      {
        capabilities: { tools: {}, ...(isReading ? { resources: {} } : {}) },
        instructions: INSTRUCTIONS,
        requestState: { verify: seals.verify },
        cacheHints: { 'tools/list': LIST_HINT, 'server/discover': LIST_HINT },
      },
    );
    server.setRequestHandler('tools/list', async () => {
      const hasInstances = (await session.listInstances()).length > 1;
      return { tools: listTools(tools, hasInstances) };
    });
    if (isReading) {
      server.setRequestHandler('resources/list', async () => ({ resources: [] }));
      server.setRequestHandler('resources/templates/list', async () => ({
        resourceTemplates: [DOCUMENT_TEMPLATE],
      }));
      server.setRequestHandler('resources/read', async ({ params }) => ({
        contents: [await readDocumentResource(params.uri, session)],
      }));
    }
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const tool = findTool(params.name, tools);
      const run: Run = (person) => runTool(tool, params.arguments, session, person);
      return isModern ? callModern(run, context) : callLegacy(run, request, context, server);
    });
    return server;
  }

  /** Returns the question as the result. The client sends the call again, with the answer and the seal. */
  async function callModern(run: Run, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
    const { inputResponses, requestState, envelope } = context.mcpReq;
    const answer = inputResponse(inputResponses, ANSWER);
    const about = requestState<string>();
    const isSaid = answer.kind === 'elicit' && about !== undefined;
    const said = isSaid ? { about, isYes: readConfirmation(answer) } : null;
    const capabilities = (envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const outcome = await run(canShowQuestions(capabilities) ? { said } : null);
    // A client that has shown the page is not sent there again by the same call.
    const isShown = inputResponse(inputResponses, PAGE).kind !== 'missing';
    if (outcome.kind === 'page' && canShowPages(capabilities) && !isShown) {
      const elicitation = inputRequired.elicitUrl({ message: PAGE_TEXT, url: outcome.url });
      return inputRequired({ inputRequests: { [PAGE]: elicitation } });
    }
    if (outcome.kind !== 'question') return printOutcome(outcome);
    const { text: message, about: asked } = outcome;
    return inputRequired({
      inputRequests: { [ANSWER]: inputRequired.elicit({ message, requestedSchema: QUESTION_SCHEMA }) },
      requestState: await seals.mint(asked, context),
    });
  }

  /** Sends the question as a message in the open answer. */
  async function callLegacy(
    run: Run,
    request: McpRequest,
    { mcpReq }: ServerContext,
    server: Server,
  ): Promise<CallToolResult> {
    const outcome = request.canAsk
      ? await questions.run(run, request.runner, async (question) => {
          request.isAsking = true;
          await server.transport?.send(question, { relatedRequestId: mcpReq.id });
        })
      : await run(null);
    if (outcome.kind !== 'page' || !request.canShowPages) return printOutcome(outcome);
    throw new UrlElicitationRequiredError([
      { mode: 'url', elicitationId: randomUUID(), url: outcome.url, message: PAGE_TEXT },
    ]);
  }
}

function printOutcome(outcome: ToolOutcome): CallToolResult {
  if (outcome.kind !== 'answer') return { content: [{ type: 'text', text: outcome.text }], isError: true };
  const { answer, part } = outcome;
  const text = { type: 'text' as const, text: JSON.stringify(answer) };
  const content = part === undefined ? [text] : [text, part];
  return { content, structuredContent: answer };
}

/**
 * Without sessions, a cancellation can only be for a call of its own batch. For a cancelled call, the SDK would wait
 * without end for an answer.
 */
function omitCancellations(batch: readonly unknown[]): readonly unknown[] {
  const others = batch.filter((item) => !isObject(item) || item['method'] !== 'notifications/cancelled');
  return others.length > 0 ? others : batch;
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

type JsonObject = { type: 'object'; [name: string]: unknown };

/** Created once, because that takes long. */
const DEFINITIONS = ALL_TOOLS.map((tool) => ({
  tool,
  forOne: describe(tool, false),
  forSeveral: describe(tool, true),
}));

/**
 * The definitions of tools, as `tools/list` returns them. `hasInstances`: whether the key may call several instances.
 * If not, the arguments for instances are left out.
 */
function listTools(tools: readonly Tool[], hasInstances: boolean) {
  return DEFINITIONS.filter(({ tool }) => tools.includes(tool)).map(({ forOne, forSeveral }) =>
    hasInstances ? forSeveral : forOne,
  );
}

function describe({ name, title, description, input, output, hints }: Tool, hasInstances: boolean) {
  const asksSeveral = hasInstances && 'instances' in input.shape;
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(hasInstances ? input : omitInstances(input)),
    outputSchema: toJsonSchema(asksSeveral ? output.partial().extend(SEVERAL) : output),
    annotations: { title, ...hints, openWorldHint: false },
  };
}

function omitInstances(input: z.ZodObject): z.ZodObject {
  const { instance: _, instances: __, ...others } = input.shape;
  return z.strictObject(others);
}

function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      // JavaScript's bounds of integers mean nothing to a caller.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.propertyNames !== undefined) delete jsonSchema.propertyNames;
    },
  });
  return rest as JsonObject;
}

/**
 * Serves MCP on standard input and output, and passes each request on to the proxy. The SDK speaks with the client in
 * the revision that it knows; the proxy is asked in the revision of 2026-07-28. Knows no tools.
 */

import { INSTRUCTIONS } from '@erp-proxy/agents/instructions';
import { tryParse } from '@erp-proxy/contract';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  inputRequired,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

/** Sends one request to the proxy. Resolves to the text of its answer, or to the reason why there is none. */
export type SendToProxy = (
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<{ text: string } | { problem: string }>;

export interface BridgeOptions {
  send: SendToProxy;
  /** Version of this program. */
  version: string;
  /** Resolves when the bridge must end. */
  untilStopped: Promise<void>;
  /** Called with each problem of the input, as a text for the client's log. */
  onFault: (problem: string) => void;
}

const REVISION = '2026-07-28';

/** Resolves when the client has closed standard input, or the program is asked to end. */
export async function runBridge({ send, version, untilStopped, onFault }: BridgeOptions): Promise<void> {
  const transport = new WatchedTransport();
  const onerror = (error: Error) => {
    const reason = error.name.includes('ZodError') ? 'one is not a message of JSON-RPC' : error.message;
    onFault(`The messages of the client cannot be served: ${reason}.`);
  };
  const handle = serveStdio(() => createServer(send, version), { transport, maxSubscriptions: 0, onerror });
  await Promise.race([transport.closed.promise, untilStopped]);
  await handle.close();
}

class WatchedTransport extends StdioServerTransport {
  readonly closed = Promise.withResolvers<void>();

  override async close(): Promise<void> {
    await super.close();
    this.closed.resolve();
  }
}

function createServer(send: SendToProxy, version: string): Server {
  const server = new Server(
    { name: 'erp-proxy', title: 'Odoo', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    const { tools } = await ask(send, 'tools/list', {}, { version, signal: mcpReq.signal, capabilities: {} });
    return { tools: tools as never };
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, context) => {
    const { inputResponses, signal } = context.mcpReq;
    const requestState = context.mcpReq.requestState<string>();
    const params = {
      name,
      arguments: args,
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    };
    const capabilities = chooseCapabilities(context, server);
    const result = await ask(send, 'tools/call', params, { version, signal, capabilities });
    if (result['resultType'] === 'input_required') {
      return inputRequired({
        inputRequests: result['inputRequests'] as InputRequests,
        requestState: String(result['requestState']),
      });
    }
    const { content, structuredContent, isError } = result;
    return {
      content: content as never,
      ...(structuredContent === undefined ? {} : { structuredContent: structuredContent as never }),
      ...(isError === true ? { isError } : {}),
    };
  });
  return server;
}

/** Passes on which questions this client can show, so that the proxy may ask them. */
function chooseCapabilities({ mcpReq }: ServerContext, server: Server): ClientCapabilities {
  const envelope = mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const { elicitation } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
  return elicitation === undefined ? {} : { elicitation };
}

/** Returns the result, or throws the error of the proxy. */
async function ask(
  send: SendToProxy,
  method: string,
  params: { name?: string; [member: string]: unknown },
  {
    version,
    signal,
    capabilities,
  }: { version: string; signal: AbortSignal; capabilities: ClientCapabilities },
): Promise<Record<string, unknown>> {
  const meta = {
    [PROTOCOL_VERSION_META_KEY]: REVISION,
    [CLIENT_INFO_META_KEY]: { name: 'erp-proxy mcp', version },
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
  };
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': nameInHeader(params.name) }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
  const sent = await send(body, headers, signal);
  if ('problem' in sent) throw new ProtocolError(ProtocolErrorCode.InternalError, sent.problem);
  const { result, error } = readAnswer(sent.text);
  if (result !== undefined) return result;
  const message = EXPLANATIONS[error?.data?.type ?? ''] ?? error?.message ?? UNREADABLE;
  throw new ProtocolError(error?.code ?? ProtocolErrorCode.InternalError, message);
}

/** Names of tools are ASCII. The proxy refuses any other name, and lists the existing ones. */
function nameInHeader(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

/** Messages by the type of the proxy's error. */
const EXPLANATIONS: Record<string, string> = {
  unauthorized: 'The proxy does not accept this client key; check ERP_PROXY_KEY, or the file of --key-file.',
  route_not_found: 'The proxy does not serve agents (/mcp): upgrade it, or check the address of --url.',
};
const UNREADABLE = 'The answer is not one of erp-proxy; check the address of --url.';

interface ProxyAnswer {
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { type?: string } };
}

function readAnswer(text: string): ProxyAnswer {
  return (tryParse(text) ?? {}) as ProxyAnswer;
}

/** Starts a proxy with a stored sandbox, and connects official MCP clients to it. */

import type { Policy } from '@erp-proxy/contract';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { closeAfterFile, closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, startProxy } from '../harness.ts';

export type SandboxVersion = NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['version']>;

export interface ConnectOptions {
  key?: string;
  /** A token of an identity provider, in place of a key. */
  token?: string;
  /** Further headers of all requests. */
  headers?: Record<string, string>;
  /** `legacy`: the protocol of 2025. Default: the protocol of 2026-07-28. */
  mode?: 'legacy' | 'modern';
  /** Answers questions to the person; absent: the client cannot ask. */
  answer?: (message: string) => object | Promise<object>;
}

/** Each version of Odoo, with a protocol that the version has. */
export const EACH_VERSION: [SandboxVersion, string][] = [
  [14, 'jsonrpc'],
  [15, 'jsonrpc'],
  [16, 'jsonrpc'],
  [17, 'jsonrpc'],
  [18, 'jsonrpc'],
  [19, 'jsonrpc'],
  [19, 'json2'],
];

/** The answer of a person who agrees. */
export const AGREE = { action: 'accept', content: { confirm: true } };

/** The result of a tool, with its content as the test reads it. */
export interface ToolResult {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  data: any;
}

export interface Stage {
  proxy: ErpProxy;
  sandbox: Sandbox;
  createKey(policy: Policy): Promise<string>;
  connect(options?: ConnectOptions): Promise<Client>;
  /**
   * Calls a tool as `client`. By default, the client has a key without a policy, and its person agrees to everything.
   */
  call(name: string, args?: object, client?: Client): Promise<ToolResult>;
}

export interface StageOptions {
  version?: SandboxVersion;
  settings?: Record<string, string>;
  clock?: () => number;
  /** The monotonic clock of the proxy. */
  nowMs?: () => number;
  /** True: closed after the tests of the file, rather than after this test. For tests that change nothing. */
  isShared?: boolean;
}

export async function startStage({
  version = 18,
  settings = {},
  clock,
  nowMs,
  isShared = false,
}: StageOptions = {}): Promise<Stage> {
  const closeLater = isShared ? closeAfterFile : closeAfterTest;
  const sandbox = closeLater(await startSandbox({ version, ...(clock === undefined ? {} : { clock }) }));
  const proxy = closeLater(
    await startProxy({
      settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64'), ...settings },
      ...(clock === undefined ? {} : { clock }),
      ...(nowMs === undefined ? {} : { nowMs }),
    }),
  );
  await addInstance(proxy, sandbox, 'prod');
  const connect = ({ key = proxy.key, token, headers: more = {}, ...options }: ConnectOptions = {}) => {
    const headers: Record<string, string> = {
      ...(token === undefined ? { 'x-proxy-api': key } : { authorization: `Bearer ${token}` }),
      ...more,
    };
    const transport = new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), {
      requestInit: { headers },
    });
    return connectClient(transport, options, closeLater);
  };
  let usual: Client | null = null;
  return {
    proxy,
    sandbox,
    createKey: async (policy) => (await proxy.app.keys.create({ name: 'limited', policy })).key,
    connect,
    async call(name, args = {}, client) {
      if (client !== undefined) return callTool(client, name, args);
      usual ??= await connect({ answer: () => AGREE });
      return callTool(usual, name, args);
    },
  };
}

/** Connects an official client through the transport. */
export async function connectClient(
  transport: Transport,
  { mode = 'modern', answer }: Pick<ConnectOptions, 'mode' | 'answer'>,
  closeLater: (client: Client) => unknown = closeAfterTest,
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message) as never);
  }
  await client.connect(transport);
  closeLater(client);
  return client;
}

/** Stores the sandbox, with its administrator, under a name. */
export async function addInstance(proxy: ErpProxy, { url, db, users }: Sandbox, name: string): Promise<void> {
  const { userId: user_id, apiKey: api_key } = users.admin;
  await proxy.app.instances.add({ name, url, db, user_id, api_key, allow_private: true });
}

export async function callTool(client: Client, name: string, args: object): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [first] = result.content as { type: string; text: string }[];
  return { isError: result.isError === true, text: first?.text ?? '', data: result.structuredContent };
}

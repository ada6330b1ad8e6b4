/** Starts a proxy in front of the sandbox, or of a scripted table of any size, and makes exports through it. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, type ProxyOptions, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

export interface ExportAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** True if the connection was broken off. */
  isBroken: boolean;
}

/** The records of an answer in NDJSON. An incomplete last line is left out. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
export function readRecords({ text }: Pick<ExportAnswer, 'text'>): any[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

export const readIds = (answer: Pick<ExportAnswer, 'text'>): number[] =>
  readRecords(answer).map(({ id }) => id);

/** Opens an export. The response is not read yet. */
export function openExport(
  proxy: Pick<ErpProxy, 'url' | 'key'>,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${proxy.url}/api/erp/export`, {
      method: 'POST',
      agent: false,
      headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json', ...headers },
    });
    request.on('error', reject);
    request.on('response', resolve);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

export async function runExport(
  proxy: Pick<ErpProxy, 'url' | 'key'>,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<ExportAnswer> {
  const response = await openExport(proxy, body, headers);
  const pieces: Buffer[] = [];
  response.on('data', (piece) => pieces.push(piece));
  const isBroken = await new Promise<boolean>((resolve) => {
    response.on('end', () => resolve(false));
    response.on('error', () => resolve(true));
    response.on('aborted', () => resolve(true));
  });
  const { statusCode = 0 } = response;
  return { status: statusCode, headers: response.headers, text: Buffer.concat(pieces).toString(), isBroken };
}

export interface SandboxStage {
  proxy: ErpProxy;
  sandbox: Sandbox;
  export(body: object, headers?: Record<string, string>): Promise<ExportAnswer>;
}

/** The sandbox is the stored instance `prod`. */
export async function startSandboxStage(
  options: ProxyOptions = {},
  version: 14 | 16 | 18 | 19 = 18,
): Promise<SandboxStage> {
  const sandbox = closeAfterTest(await startSandbox({ version }));
  const settings = { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64'), ...options.settings };
  const proxy = closeAfterTest(await startProxy({ ...options, settings }));
  const { url, db, users } = sandbox;
  const { userId: user_id, apiKey: api_key } = users.admin;
  await proxy.app.instances.add({ name: 'prod', url, db, user_id, api_key, allow_private: true });
  return {
    proxy,
    sandbox,
    export: (body, headers) =>
      runExport(proxy, { model_id: 'res.partner', erp_instance: { name: 'prod' }, ...body }, headers),
  };
}

/** A call of `search_read` that the scripted table got. */
export interface PageCall {
  // biome-ignore lint/suspicious/noExplicitAny: a domain has values of any type
  domain: any[];
  fields: string[];
  limit: number;
  order: string;
  context?: Record<string, unknown>;
  /** The page has the records with ids above this id. */
  after: number;
}

/** Answers a page itself and returns true, or leaves it to the table. */
export type PageScript = (socket: Socket, call: PageCall, index: number) => boolean | Promise<boolean>;

export interface TableStage {
  proxy: ErpProxy;
  upstream: ScriptedUpstream;
  calls: PageCall[];
  body: Record<string, unknown>;
  export(body?: object, headers?: Record<string, string>): Promise<ExportAnswer>;
}

export interface TableOptions extends ProxyOptions {
  /** The number of records. Their ids begin at 1. */
  count: number;
  /** Returns the JSON text of a record. */
  print?: (id: number) => string;
  script?: PageScript;
}

export const NO_ACCESS = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: 200,
    message: 'Odoo Server Error',
    data: { name: 'odoo.exceptions.AccessError', message: 'no', arguments: ['no'], context: {} },
  },
});

export const printRecord = (id: number): string => `{"id": ${id}, "name": "Record ${id}"}`;

export async function startTableStage({
  count,
  print = printRecord,
  script = () => false,
  ...options
}: TableOptions): Promise<TableStage> {
  const calls: PageCall[] = [];
  const upstream = closeAfterTest(
    await startUpstream(async (socket, { body }) => {
      // Other methods ask for names and types of fields.
      if (!body.includes('"search_read"')) return answerLikeOdoo(socket, NO_ACCESS);
      const call = readPageCall(body);
      calls.push(call);
      if (await script(socket, call, calls.length - 1)) return;
      answerLikeOdoo(socket, printPage(call, count, print));
    }),
  );
  const proxy = closeAfterTest(
    await startProxy({ ...options, allow: [upstream.url, ...(options.allow ?? [])] }),
  );
  const body = {
    model_id: 'res.partner',
    fields: ['name'],
    erp_instance: { url: upstream.url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' },
  };
  return {
    proxy,
    upstream,
    calls,
    body,
    export: (changes = {}, headers) => runExport(proxy, { ...body, ...changes }, headers),
  };
}

export function readPageCall(body: Buffer): PageCall {
  const { args } = JSON.parse(body.toString()).params;
  const [domain] = args[5];
  const [first] = domain;
  const after = Array.isArray(first) && first[0] === 'id' && first[1] === '>' ? first[2] : 0;
  return { domain, after, ...args[6] };
}

export function printPage(
  { after, limit }: Pick<PageCall, 'after' | 'limit'>,
  count: number,
  print: (id: number) => string,
): string {
  const last = Math.min(count, after + limit);
  const records: string[] = [];
  for (let id = after + 1; id <= last; id++) records.push(print(id));
  return printResult(`[${records.join(', ')}]`);
}

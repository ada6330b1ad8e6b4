/** Starts a proxy with stored instances on one scripted upstream, and sends one call to many of them. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Policy } from '@erp-proxy/contract';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, type ProxyOptions, send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

export interface FleetLine {
  instance?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  error?: any;
  done?: number;
  failed?: number;
  skipped?: number;
}

export interface FleetReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** True if the connection was broken off. */
  isBroken: boolean;
  lines: FleetLine[];
  /** The last line; empty if there is none. */
  counts: FleetLine;
  /** The lines of the instances, by name. */
  byName: Record<string, FleetLine>;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  error: any;
}

/** Answers a call for the database `db`, or leaves the connection open. */
export type DatabaseScript = (db: string, socket: Socket, body: Buffer) => void;

export interface FleetStage {
  proxy: ErpProxy;
  upstream: ScriptedUpstream;
  /** The databases in the order in which their calls arrived. */
  called: string[];
  fleet(body: object | string, headers?: Record<string, string>): Promise<FleetReply>;
  open(body: object | string, headers?: Record<string, string>): Promise<IncomingMessage>;
  createKey(policy: Partial<Policy>): Promise<string>;
  /** The value of a metric without labels, or with these. */
  readMetric(name: string): Promise<number>;
}

export interface FleetStageOptions extends ProxyOptions {
  /** Tags of each instance by its name. The name of its database is the same. */
  instances: Record<string, string[]>;
  script?: DatabaseScript;
}

export const ACCESS_ERROR = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: 200,
    message: 'Odoo Server Error',
    data: { name: 'odoo.exceptions.AccessError', message: 'no', arguments: ['no'], context: {} },
  },
});

export const COUNT = { action: 'search_count', model_id: 'res.partner', params: [[]] };

export const answerCount: DatabaseScript = (db, socket) =>
  answerLikeOdoo(socket, printResult(String(db.length)));

export async function startFleetStage({
  instances,
  script = answerCount,
  ...options
}: FleetStageOptions): Promise<FleetStage> {
  const called: string[] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const [db, , , model] = JSON.parse(body.toString()).params.args;
      // The proxy asks in the background when the keys of instances end.
      if (model === 'res.users.apikeys') return answerLikeOdoo(socket, ACCESS_ERROR);
      called.push(db);
      script(db, socket, body);
    }),
  );
  const settings = { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64'), ...options.settings };
  const proxy = closeAfterTest(await startProxy({ ...options, settings, allow: [upstream.url] }));
  for (const [name, tags] of Object.entries(instances))
    await addInstance(proxy, upstream.url, name, { tags });
  const open: FleetStage['open'] = (body, headers) => openFleet(proxy, body, headers);
  return {
    proxy,
    upstream,
    called,
    open,
    fleet: async (body, headers) => readReply(await open(body, headers)),
    async createKey(policy) {
      const given = { instances: ['*'], models: { 'res.partner': ['*'] }, ...policy };
      return (await proxy.app.keys.create({ name: 'limited', policy: given })).key;
    },
    async readMetric(name) {
      const metrics = (await send(`${proxy.url}/metrics`)).body.toString();
      const line = metrics.split('\n').find((text) => text.startsWith(`${name} `));
      return Number(line?.split(' ').at(-1));
    },
  };
}

export function addInstance(proxy: ErpProxy, url: string, name: string, more: object = {}) {
  return proxy.app.instances.add({
    name,
    url,
    db: name,
    user_id: 2,
    api_key: 'upstream-key-0123456789',
    ...more,
  });
}

/** Opens a request. The response is not read yet. */
export function openFleet(
  proxy: Pick<ErpProxy, 'url' | 'key'>,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${proxy.url}/api/erp/fleet`, {
      method: 'POST',
      agent: false,
      headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json', ...headers },
    });
    request.on('error', reject);
    request.on('response', resolve);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

export async function readReply(response: IncomingMessage): Promise<FleetReply> {
  const pieces: Buffer[] = [];
  response.on('data', (piece) => pieces.push(piece));
  const isBroken = await new Promise<boolean>((resolve) => {
    response.on('end', () => resolve(false));
    response.on('error', () => resolve(true));
    response.on('aborted', () => resolve(true));
  });
  const text = Buffer.concat(pieces).toString();
  const isLines = response.headers['content-type'] === 'application/x-ndjson';
  const lines: FleetLine[] = isLines
    ? text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    : [];
  const ofInstances = lines.filter(({ instance }) => instance !== undefined);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    isBroken,
    lines,
    counts: lines.find(({ instance }) => instance === undefined) ?? {},
    byName: Object.fromEntries(ofInstances.map((line) => [line.instance, line])),
    error: isLines ? null : JSON.parse(text).error,
  };
}

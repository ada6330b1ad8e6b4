/** Starts the proxy on a memory store, on a free port, with a client key. Black-box tests send HTTP requests to it. */
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { JobTimes } from '@erp-proxy/data/jobs';
import type { WorkerTimes } from '@erp-proxy/data/subscriptions';
import { createLogger } from '@erp-proxy/observe/log';
import { type App, type AppOptions, createApp } from '../src/app/app.ts';
import { loadSettings } from '../src/config/load.ts';
import type { Settings } from '../src/config/schema.ts';

/** The default settings with some changes, each by its dotted name, as for flags. */
export function makeSettings(changes: Record<string, string> = {}): Settings {
  const argv = Object.entries(changes).map(([name, value]) => `--${name}=${value}`);
  const loaded = loadSettings({
    argv,
    env: {},
    cwd: '/',
    readFile: () => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded.settings;
}

/** The version of package.json. */
export const PROGRAM_VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

export interface ProxyOptions {
  /** Addresses of test upstreams, for `egress.allow`. */
  allow?: readonly string[];
  /** Other settings, by dotted name. */
  settings?: Record<string, string>;
  clock?: () => number;
  /** The monotonic clock that determines the delay of refused keys. */
  nowMs?: () => number;
  /** Shorter times for the work on subscriptions. */
  subscriptionTimes?: Partial<WorkerTimes>;
  /** Shorter times for the work on jobs. */
  jobTimes?: Partial<JobTimes>;
  /** Folder of the built console. Without it, the console is off: reading its files takes a third of a start. */
  consoleFolder?: string;
  /** Function that starts the sandbox of a first start. */
  startSandbox?: AppOptions['startSandbox'];
  /** Files that settings have come from. */
  secretFiles?: AppOptions['secretFiles'];
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An answer of the execute route. Untyped, because tests verify its shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
type Answer = any;

export interface Proxy {
  app: App;
  /** Base address. */
  url: string;
  /** A valid client key. */
  key: string;
  /** The log so far: one parsed line per entry. */
  log: Record<string, unknown>[];
  /** POSTs to the execute route with the key. An object is sent as JSON; strings and bytes are sent unchanged. */
  post(body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** Like {@link post}, with the parsed body of the answer. */
  call(body: unknown, headers?: Record<string, string>): Promise<HttpAnswer & { json: Answer }>;
  close(): Promise<void>;
}

export async function startProxy({
  allow = [],
  settings = {},
  clock,
  nowMs,
  subscriptionTimes,
  jobTimes,
  consoleFolder,
  startSandbox,
  secretFiles,
}: ProxyOptions = {}): Promise<Proxy> {
  const log: Record<string, unknown>[] = [];
  const logger = createLogger('info', {
    add: (print) => {
      log.push(JSON.parse(print()));
    },
  });
  const app = await createApp({
    settings: makeSettings({
      'http.port': '0',
      'http.shutdownGraceMs': '0',
      'store.url': 'memory:',
      // Scripted upstreams expect the call first, not the request for the version. Tests of the protocol choice set
      // `auto`.
      'upstream.protocol': 'jsonrpc',
      // The longest: what a busy machine delays must not time out. Tests of time limits set their own.
      'upstream.timeoutMs': '300000',
      'upstream.connectTimeoutMs': '300000',
      'console.enabled': String(consoleFolder !== undefined),
      ...(allow.length > 0 ? { 'egress.allow': allow.join(',') } : {}),
      ...settings,
    }),
    version: PROGRAM_VERSION,
    logger,
    ...(clock === undefined ? {} : { clock }),
    ...(nowMs === undefined ? {} : { nowMs }),
    ...(subscriptionTimes === undefined ? {} : { subscriptionTimes }),
    ...(jobTimes === undefined ? {} : { jobTimes }),
    ...(consoleFolder === undefined ? {} : { consoleFolder }),
    ...(startSandbox === undefined ? {} : { startSandbox }),
    ...(secretFiles === undefined ? {} : { secretFiles }),
  });
  const url = await app.listen();
  const { key } = await app.keys.create({ name: 'test' });
  const post: Proxy['post'] = (body, headers = {}) => {
    const bytes =
      typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body);
    return send(`${url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'x-proxy-api': key, 'content-type': 'application/json', ...headers },
      body: bytes,
    });
  };
  return {
    app,
    url,
    key,
    log,
    post,
    async call(body, headers) {
      const answer = await post(body, headers);
      return { ...answer, json: JSON.parse(answer.body.toString()) };
    },
    close: () => app.stop(),
  };
}

/** Sends one HTTP request on its own connection. Rejects if the answer is cut off. */
export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: options.method ?? 'GET',
      headers: options.headers ?? {},
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.end(options.body);
  });
}

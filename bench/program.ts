/** Starts the real program like an operator: a process of its own, SQLite, and a log file with a line for each call. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stopProcess } from './helper-process.ts';

/** Root of the checkout that this file belongs to. */
export const OWN_CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const READY_MS_MAX = 20_000;

export interface Program {
  pid: number;
  port: number;
  /** Time from the start of the process to the first success of `/readyz`, in milliseconds. */
  readyMs: number;
  stop(): Promise<void>;
}

/** The command of a checkout. */
export function locateBin(checkout: string): string {
  return join(checkout, 'packages/server/bin/erp-proxy.mjs');
}

/** Creates a client key and returns its text. Without a store in the arguments, it creates a store in the folder. */
export async function createKey(
  folder: string,
  storeUrl = locateStore(folder),
  checkout = OWN_CHECKOUT,
): Promise<string> {
  const command = [
    locateBin(checkout),
    'keys',
    'create',
    '--name=bench',
    '--json',
    `--store.url=${storeUrl}`,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: folder });
  return (JSON.parse(stdout) as { key: string }).key;
}

export async function startProgram(
  folder: string,
  settings: Record<string, string> = {},
  { bin = locateBin(OWN_CHECKOUT), env = {} }: { bin?: string; env?: Record<string, string> } = {},
): Promise<Program> {
  const port = await findFreePort();
  const flags = Object.entries({
    'http.port': String(port),
    'store.url': locateStore(folder),
    'egress.allow': '127.0.0.1',
    ...settings,
  }).map(([name, value]) => `--${name}=${value}`);
  const log = openSync(join(folder, 'proxy.log'), 'a');
  const startedMs = performance.now();
  // Arguments for Node, such as --cpu-prof, allow profiling the program while it is measured.
  const nodeArguments = (process.env['BENCH_NODE_ARGUMENTS'] ?? '').split(' ').filter(Boolean);
  // 10,000 calls in flight need 20,000 sockets, so the shell raises its limit if it may.
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      'ulimit -n 65536 2>/dev/null; exec "$@"',
      'sh',
      process.execPath,
      ...nodeArguments,
      bin,
      'serve',
      ...flags,
    ],
    { cwd: folder, stdio: ['ignore', log, log], env: { ...process.env, ...env } },
  );
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`the proxy ended early; see ${join(folder, 'proxy.log')}`);
    if (performance.now() - startedMs > READY_MS_MAX) throw new Error('the proxy does not become ready');
    await sleep(4);
  }
  const readyMs = performance.now() - startedMs;
  return {
    pid: child.pid as number,
    port,
    readyMs,
    async stop() {
      child.kill('SIGTERM');
      await Promise.race([once(child, 'exit'), sleep(2000)]);
      await stopProcess(child);
    },
  };
}

/** Builds a complete HTTP request for a call of the execute route. `upstream`: its port, or its address. */
export function buildExecuteRequest(
  key: string,
  upstream: number | string,
  headers: Record<string, string> = {},
): Buffer {
  const body = JSON.stringify({
    id: 1,
    action: 'search_read',
    model_id: 'res.partner',
    params: [[['is_company', '=', true]]],
    keyword: { fields: ['id', 'name', 'email', 'active'], limit: 3, context: { allowed_company_ids: [1] } },
    erp_instance: {
      url: typeof upstream === 'string' ? upstream : `http://127.0.0.1:${upstream}`,
      db: 'production',
      user_id: 2,
      api_key: '0123456789abcdef0123456789abcdef01234567',
    },
  });
  const lines = Object.entries({
    host: '127.0.0.1',
    'x-proxy-api': key,
    'content-type': 'application/json',
    // All calls are the same read. Without this header they would share calls to Odoo.
    'cache-control': 'no-cache',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST /api/erp/execute HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** A copy of the request with other members of its body. */
export function changeBody(request: Buffer, changes: object): Buffer {
  const [head = '', body = ''] = request.toString().split('\r\n\r\n');
  const changed = JSON.stringify({ ...JSON.parse(body), ...changes });
  return Buffer.from(
    `${head.replace(/content-length: \d+/, `content-length: ${changed.length}`)}\r\n\r\n${changed}`,
  );
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function locateStore(folder: string): string {
  return `sqlite:${join(folder, 'bench.db')}`;
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = httpRequest({ port, host: '127.0.0.1', path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
    request.end();
  });
}

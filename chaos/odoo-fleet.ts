/**
 * A process that serves many Odoos on one port each: sandboxes of four versions, servers that accept a connection and
 * never answer, and servers that are being upgraded.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SandboxUser, startSandbox, type Version } from '@erp-proxy/sandbox';
import { readMessage } from './http-message.ts';

export interface OdooFleetSizes {
  sandboxes: number;
  hanging: number;
  upgrading: number;
  /** How long the fastest and the slowest sandbox work on a call, in milliseconds. Most are near the fastest. */
  workMs: { fastest: number; slowest: number };
}

export interface OdooFleet {
  sandboxes: { port: number; db: string; user: SandboxUser }[];
  hanging: number[];
  upgrading: number[];
}

const VERSIONS: Version[] = [16, 17, 18, 19];
/** Cost of a wrong key in Odoo: docs/odoo-facts.md#wrong-key-cost. */
const AUTH_DELAY_MS = 330;
const SPREAD = 67;

if (process.send !== undefined) {
  process.on('disconnect', () => process.exit());
  process.on('message', async (sizes: OdooFleetSizes) => process.send?.(await startFleet(sizes)));
  process.send('ready');
}

async function startFleet({ sandboxes, hanging, upgrading, workMs }: OdooFleetSizes): Promise<OdooFleet> {
  const { fastest, slowest } = workMs;
  return {
    sandboxes: await repeat(sandboxes, async (index) => {
      const version = VERSIONS[index % VERSIONS.length]!;
      const sandbox = await startSandbox({ version, authDelayMs: AUTH_DELAY_MS });
      // Slow ones are spread over the fleet. The number is prime to that of the sandboxes.
      const share = ((index * SPREAD) % sandboxes) / Math.max(1, sandboxes - 1);
      sandbox.beforeCall(({ method }) =>
        method === 'search_count' ? sleep(fastest + (slowest - fastest) * share ** 8) : undefined,
      );
      return { port: Number(new URL(sandbox.url).port), db: sandbox.db, user: sandbox.users.admin };
    }),
    hanging: await repeat(hanging, () => listen(() => {})),
    // While workers restart, a reverse proxy answers 503. Then Odoo loads its registry: models are not there yet.
    upgrading: await repeat(upgrading, (index) =>
      listen(index % 2 === 0 ? answerRestart : answerMissingModel),
    ),
  };
}

async function repeat<Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> {
  const made: Result[] = [];
  for (let index = 0; index < count; index++) made.push(await make(index));
  return made;
}

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function answerRestart(socket: Socket): void {
  const body = '<html><body>503 Service Temporarily Unavailable</body></html>';
  readMessage(socket, () => socket.end(printAnswer('503 Service Unavailable', 'text/html', body)));
}

function answerMissingModel(socket: Socket): void {
  const name = 'builtins.KeyError';
  const data = { name, debug: '', message: 'res.partner', arguments: ['res.partner'], context: {} };
  const error = { code: 200, message: 'Odoo Server Error', data };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error });
  readMessage(socket, () => socket.end(printAnswer('200 OK', 'application/json', body)));
}

function printAnswer(status: string, type: string, body: string): string {
  return `HTTP/1.0 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}

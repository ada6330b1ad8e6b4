/**
 * A caller on a plain socket. It shows what an HTTP library hides: each byte as it arrives, how the connection ended,
 * and whether the answer was complete by the rules of HTTP.
 */
import { connect, type Socket } from 'node:net';
import type { Proxy as RunningProxy } from '../harness.ts';

export interface CallerOptions {
  version?: '1.0' | '1.1';
  headers?: Record<string, string>;
  /** True: reads nothing until `socket.resume()`. */
  isPaused?: boolean;
}

export interface Caller {
  socket: Socket;
  /** All bytes so far. */
  readonly received: Buffer;
  /** Sends a further request on the same connection. */
  send(body: unknown): void;
  /** Resolves once the condition holds. Rejects with the received bytes if the connection ends before. */
  until(holds: (received: Buffer) => boolean): Promise<void>;
  /** How the connection ended. */
  ended: Promise<'closed' | 'reset'>;
}

export function startCaller(proxy: RunningProxy, body: unknown, options: CallerOptions = {}): Caller {
  const { hostname, port } = new URL(proxy.url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  let whole = Buffer.alloc(0);
  const watchers = new Set<() => void>();
  const ending = Promise.withResolvers<'closed' | 'reset'>();
  socket.on('data', (bytes) => {
    pieces.push(bytes);
    for (const watch of watchers) watch();
  });
  socket.on('error', () => ending.resolve('reset'));
  socket.on('close', () => ending.resolve('closed'));
  if (options.isPaused) socket.pause();
  const caller: Caller = {
    socket,
    ended: ending.promise,
    get received() {
      if (pieces.length > 0) whole = Buffer.concat([whole, ...pieces.splice(0)]);
      return whole;
    },
    send(next) {
      socket.write(printRequest(proxy, next, options));
    },
    until(holds) {
      return new Promise((resolve, reject) => {
        const watch = () => {
          if (!holds(caller.received)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
        void ending.promise.then((how) => {
          const text = caller.received.toString('latin1').slice(0, 300);
          reject(new Error(`${how} after ${caller.received.length} bytes: ${text}`));
        });
      });
    },
  };
  caller.send(body);
  return caller;
}

function printRequest(
  proxy: RunningProxy,
  body: unknown,
  { version = '1.1', headers = {} }: CallerOptions,
): Buffer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const all = {
    host: new URL(proxy.url).host,
    'x-proxy-api': proxy.key,
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`POST /api/erp/execute HTTP/${version}\r\n${lines.join('')}\r\n`),
    bytes,
  ]);
}

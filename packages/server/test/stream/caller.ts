/**
 * A caller on a bare socket: it sees each byte as it comes, how the connection ended, and whether what it got was a
 * whole answer by the rules of HTTP. For what an HTTP library would hide.
 */
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Proxy as RunningProxy } from '../harness.ts';

export interface CallerOptions {
  version?: '1.0' | '1.1';
  headers?: Record<string, string>;
  /** Takes nothing until `socket.resume()`. */
  isPaused?: boolean;
}

export interface Caller {
  socket: Socket;
  /** All bytes so far. */
  readonly received: Buffer;
  /** Sends a further request on the same connection. */
  send(body: unknown): void;
  /** Resolves once this holds; fails after the time with what there is instead. */
  until(holds: (received: Buffer) => boolean, timeoutMs?: number): Promise<void>;
  /** How the connection ended. */
  ended: Promise<'closed' | 'reset'>;
}

export interface TakenAnswer {
  status: number;
  headers: Record<string, string>;
  /** Without the framing of HTTP, still encoded. */
  body: Buffer;
  /** By its framing; an answer that only the connection's end delimits never is. */
  isWhole: boolean;
  /** What follows the answer on the connection. */
  rest: Buffer;
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
    until(holds, timeoutMs = 3_000) {
      return new Promise((resolve, reject) => {
        const settle = (outcome: () => void) => {
          clearTimeout(timer);
          watchers.delete(watch);
          outcome();
        };
        const watch = () => holds(caller.received) && settle(resolve);
        const timer = setTimeout(() => {
          const text = caller.received.toString('latin1').slice(0, 300);
          settle(() =>
            reject(new Error(`within ${timeoutMs} ms came ${caller.received.length} bytes: ${text}`)),
          );
        }, timeoutMs);
        watchers.add(watch);
        watch();
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

/** The first answer among bytes; null while its head is not there. */
export function takeAnswer(bytes: Buffer): TakenAnswer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const after = bytes.subarray(headEnd + 4);
  const length = headers['content-length'];
  if (length !== undefined) {
    const body = after.subarray(0, Number(length));
    const isWhole = body.length === Number(length);
    return { status, headers, body, isWhole, rest: after.subarray(body.length) };
  }
  if (headers['transfer-encoding'] === 'chunked') return { status, headers, ...takeChunks(after) };
  return { status, headers, body: after, isWhole: false, rest: Buffer.alloc(0) };
}

function takeChunks(bytes: Buffer): Pick<TakenAnswer, 'body' | 'isWhole' | 'rest'> {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2;
    if (size === 0) {
      if (bytes.length < at + 2) break;
      return { body: Buffer.concat(chunks), isWhole: true, rest: bytes.subarray(at + 2) };
    }
    chunks.push(bytes.subarray(at, at + size));
    if (bytes.length < at + size + 2) break;
    at += size + 2;
  }
  return { body: Buffer.concat(chunks), isWhole: false, rest: Buffer.alloc(0) };
}

/** The body of a whole answer, unpacked. */
export function unpack(encoding: string | undefined, body: Buffer): Buffer {
  switch (encoding) {
    case 'gzip':
      return gunzipSync(body);
    case 'deflate':
      return inflateSync(body);
    case 'br':
      return brotliDecompressSync(body);
    case 'zstd':
      return zstdDecompressSync(body);
    default:
      return body;
  }
}

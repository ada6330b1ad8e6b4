/**
 * An upstream on a plain socket whose answers are defined by a script: truncated answers, unusual envelopes, slow
 * bytes. It keeps the bytes of every request.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { passTurns, pause } from './time.ts';

export interface UpstreamRequest {
  /** The header of the request as text, without the empty line. */
  head: string;
  body: Buffer;
}

/** Writes an answer to the socket. The script must close the socket itself, or it stays open. */
export type Script = (socket: Socket, request: UpstreamRequest, index: number) => void | Promise<void>;

export interface ScriptedUpstream {
  url: string;
  requests: UpstreamRequest[];
  /** Open sockets. */
  sockets: Set<Socket>;
  /** Number of connections so far. */
  connections(): number;
  close(): Promise<void>;
}

/** `port` 0 uses a free port. */
export async function startUpstream(script: Script, port = 0): Promise<ScriptedUpstream> {
  const requests: UpstreamRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    let pieces: Buffer[] = [];
    /** Number of bytes until the request is complete, as far as is known. */
    let missing = 0;
    socket.on('data', (bytes) => {
      pieces.push(bytes);
      missing -= bytes.length;
      if (missing > 0) return;
      received = Buffer.concat([received, ...pieces]);
      pieces = [];
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.subarray(0, headEnd).toString('latin1');
      const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
      missing = headEnd + 4 + length - received.length;
      if (missing > 0) return;
      const request = { head, body: received.subarray(headEnd + 4, headEnd + 4 + length) };
      received = received.subarray(headEnd + 4 + length);
      requests.push(request);
      void script(socket, request, requests.length - 1);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sockets,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends a complete answer like an Odoo worker: HTTP/1.0, Content-Length, connection closed. */
export function answerLikeOdoo(socket: Socket, body: string | Uint8Array, status = '200 OK'): void {
  const bytes = Buffer.from(body);
  socket.write(
    `HTTP/1.0 ${status}\r\nServer: Werkzeug/2.2.2 Python/3.11.2\r\nContent-Length: ${bytes.length}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n\r\n`,
  );
  socket.end(bytes);
}

/**
 * Resets a connection once the proxy in this process has read the sent bytes. A reset discards bytes that are not read.
 */
export async function resetAfterReading(socket: Socket): Promise<void> {
  await pause();
  await passTurns(10);
  socket.resetAndDestroy();
}

/** The body of a success as Odoo prints it. `result` is JSON text. */
export function printResult(result: string): string {
  return `{"jsonrpc": "2.0", "id": 1, "result": ${result}}`;
}

/** The body of Odoo's answer to a call that PostgreSQL rolled back because of another transaction. */
export const ROLLED_BACK: string = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: 200,
    message: 'Odoo Server Error',
    data: { name: 'psycopg2.errors.SerializationFailure', message: 'x', arguments: ['x'], context: {} },
  },
});

/** A script for tests that do not depend on the answer. */
export const answerTrue: Script = (socket) => answerLikeOdoo(socket, printResult('true'));

/** A call of the execute route on this upstream, with changes. */
export function makeCall(url: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 1,
    action: 'read',
    model_id: 'res.partner',
    params: [[1]],
    erp_instance: { url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' },
    ...changes,
  };
}

/** A server of bare bytes on loopback for the tests: it answers with whatever the test writes, right or wrong. */
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface RawServer {
  port: number;
  origin: string;
  /** Connections accepted so far. */
  connections: number;
  /** Sockets that are open now. */
  readonly sockets: Set<Socket>;
  /** The requests as they came, head and body. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** `answer` is called for each whole request (by its content-length). */
export async function startRawServer(
  answer: (socket: Socket, request: string, index: number) => void,
  options: { host?: string; port?: number; tls?: { key: string; cert: string } } = {},
): Promise<RawServer> {
  const { host = '127.0.0.1', port = 0, tls } = options;
  const accept = (socket: Socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      const request = text;
      text = '';
      answer(socket, request, server.requests.push(request) - 1);
    });
  };
  const listener = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  const server: RawServer = {
    port: 0,
    origin: '',
    connections: 0,
    sockets: new Set(),
    requests: [],
    async close() {
      for (const socket of server.sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
  listener.on('connection', (socket: Socket) => {
    server.connections++;
    server.sockets.add(socket);
    socket.on('close', () => server.sockets.delete(socket));
  });
  listener.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => listener.listen(port, host, resolve));
  const address = listener.address();
  server.port = typeof address === 'object' && address !== null ? address.port : 0;
  server.origin = `${tls === undefined ? 'http' : 'https'}://${host}:${server.port}`;
  return server;
}

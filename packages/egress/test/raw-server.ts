/** A TCP or TLS server on loopback that answers with the bytes that the test writes, valid or not. */
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface RawServer {
  port: number;
  origin: string;
  /** Connections accepted so far. */
  connections: number;
  /** Sockets that are open now. */
  readonly sockets: Set<Socket>;
  /** The received requests, head and body. */
  readonly requests: string[];
  close(): Promise<void>;
}

/**
 * `answer` is called for each request, once its content-length has arrived. With `isPaused`, a TCP connection is read
 * only after its socket was resumed.
 */
export async function startRawServer(
  answer: (socket: Socket, request: string, index: number) => void,
  options: { host?: string; port?: number; tls?: { key: string; cert: string }; isPaused?: boolean } = {},
): Promise<RawServer> {
  const { host = '127.0.0.1', port = 0, tls, isPaused: pauseOnConnect = false } = options;
  const accept = (socket: Socket) => {
    let chunks: Buffer[] = [];
    let missingBytes: number | null = null;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      missingBytes =
        missingBytes === null ? countMissing(Buffer.concat(chunks)) : missingBytes - chunk.length;
      if (missingBytes === null || missingBytes > 0) return;
      const request = Buffer.concat(chunks).toString('latin1');
      chunks = [];
      missingBytes = null;
      answer(socket, request, server.requests.push(request) - 1);
    });
  };
  const listener =
    tls === undefined ? createServer({ pauseOnConnect }, accept) : createTlsServer(tls, accept);
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

/** Number of bytes of a request that have not arrived; null while its head is incomplete. */
function countMissing(bytes: Buffer): number | null {
  const headBytes = bytes.indexOf('\r\n\r\n') + 4;
  if (headBytes === 3) return null;
  const head = bytes.toString('latin1', 0, headBytes);
  return headBytes + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - bytes.length;
}

/**
 * The minimal proxy for an upstream that closes each connection: node:http, and one bare socket for each call. It reads
 * only status and length from the head of the answer.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export async function start(upstreamPort: number): Promise<number> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      send(upstreamPort, request.url ?? '/', body, response);
    });
  });
  // The proxy's backlog: the result of a burst must not depend on connections that the kernel drops.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function send(port: number, path: string, body: Buffer, response: ServerResponse): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(Buffer.concat([Buffer.from(head), body]));
  let received = '';
  let missingBytes: number | null = null;
  socket.on('data', (piece) => {
    let bodyPiece = piece;
    if (missingBytes === null) {
      const before = received.length;
      received += piece.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      missingBytes = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1]);
      bodyPiece = piece.subarray(headEnd + 4 - before);
      response.writeHead(Number(received.slice(9, 12)), {
        'content-type': 'application/json',
        'content-length': missingBytes,
      });
    }
    missingBytes -= bodyPiece.length;
    if (missingBytes === 0) {
      response.end(bodyPiece);
      socket.destroy();
    } else if (!response.write(bodyPiece)) {
      socket.pause();
      response.once('drain', () => socket.resume());
    }
  });
  socket.on('error', () => response.destroy());
}

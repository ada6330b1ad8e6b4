/** The ways in which an upstream can delimit an answer, for the tests of what comes of an answer that is cut. */
import type { Socket } from 'node:net';

export type Framing = 'length' | 'chunked' | 'close';

const FRAMINGS = {
  length: (bytes: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n`,
  chunked: () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n',
  close: () => 'HTTP/1.0 200 OK\r\nConnection: close\r\n',
};

/** Writes the head of an answer of so many bytes. */
export function writeHead(socket: Socket, framing: Framing, bytes: number, headers = ''): void {
  socket.write(`${FRAMINGS[framing](bytes)}Content-Type: application/json\r\n${headers}\r\n`);
}

/** Writes a piece of the body; false when there is no room for more. */
export function writePiece(socket: Socket, framing: Framing, piece: Uint8Array | string): boolean {
  const bytes = Buffer.from(piece);
  if (framing !== 'chunked') return socket.write(bytes);
  return socket.write(
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
  );
}

/** Ends an answer that is whole. */
export function writeEnd(socket: Socket, framing: Framing): void {
  if (framing === 'chunked') socket.write('0\r\n\r\n');
  if (framing === 'close') socket.end();
}

/** Writes a whole answer. */
export function writeAnswer(socket: Socket, framing: Framing, body: Uint8Array | string, headers = ''): void {
  writeHead(socket, framing, Buffer.byteLength(body), headers);
  writePiece(socket, framing, body);
  writeEnd(socket, framing);
}

/** Writes without end, as fast as it is taken, until the connection is gone. */
export async function writeForEver(socket: Socket): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 'x');
  while (!socket.destroyed) if (!socket.write(piece)) await waitForRoom(socket);
}

/** Until the socket takes more, or is gone. */
export function waitForRoom(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle).off('close', settle);
      resolve();
    };
    socket.on('drain', settle).on('close', settle);
  });
}

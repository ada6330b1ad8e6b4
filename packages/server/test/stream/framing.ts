/** Writes answers in each framing that an upstream can use, in pieces, so that tests can cut them off. */
import type { Socket } from 'node:net';
import { expect } from 'vitest';

export type Framing = 'length' | 'chunked' | 'close';

const FRAMINGS = {
  length: (bytes: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n`,
  chunked: () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n',
  close: () => 'HTTP/1.0 200 OK\r\nConnection: close\r\n',
};

/** Writes the head of an answer whose body has this many bytes. */
export function writeHead(socket: Socket, framing: Framing, bytes: number, headers = ''): void {
  socket.write(`${FRAMINGS[framing](bytes)}Content-Type: application/json\r\n${headers}\r\n`);
}

/** Writes a piece of the body. Returns false if the socket's buffer is full. */
export function writePiece(socket: Socket, framing: Framing, piece: Uint8Array | string): boolean {
  const bytes = Buffer.from(piece);
  if (framing !== 'chunked') return socket.write(bytes);
  return socket.write(printChunk(bytes));
}

/** A chunk of the chunked transfer coding. */
export function printChunk(piece: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

/** Ends a complete answer. */
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

/** Writes pieces as fast as the peer reads, until the connection is closed. */
export async function writeForEver(socket: Socket): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 'x');
  while (!socket.destroyed) if (!socket.write(piece)) await untilWritable(socket);
}

/** Longer than the time in which a peer that reads makes room. */
const STALLED_MS = 150;

/** Resolves once nothing more can be written to the sockets: all buffers on the way are full. */
export async function untilStalled(sockets: Iterable<Socket>): Promise<void> {
  const read = () => [...sockets].map((socket) => (socket.writableNeedDrain ? socket.bytesWritten : null));
  let before: (number | null)[] = [];
  const isSame = () => {
    const last = before;
    before = read();
    return before.every((bytes, index) => bytes !== null && bytes === last[index]);
  };
  await expect.poll(isSame, { interval: STALLED_MS }).toBe(true);
}

/** Resolves once the socket's buffer has room, or the socket is closed. */
export function untilWritable(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle).off('close', settle);
      resolve();
    };
    socket.on('drain', settle).on('close', settle);
  });
}

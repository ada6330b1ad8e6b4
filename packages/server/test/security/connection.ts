/** A client on a plain socket that sends arbitrary bytes and reads the answers one by one. */
import { connect, type Socket } from 'node:net';
import { type TakenAnswer, takeAnswer } from '../take-answer.ts';

export interface Connection {
  socket: Socket;
  /** Received bytes that are not part of a complete answer. */
  readonly rest: Buffer;
  /** The next complete answer; null if the connection ends without one. */
  next(): Promise<TakenAnswer | null>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>;
}

export function openConnection(url: string, bytes: Uint8Array | string = ''): Connection {
  const { hostname, port } = new URL(url);
  // The client's side stays open after the server has ended its own.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let rest: Buffer = Buffer.alloc(0);
  let isEnded = false;
  let wake = () => {};
  socket.on('data', (piece) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    wake();
  });
  const ending = Promise.withResolvers<void>();
  const end = () => {
    isEnded = true;
    ending.resolve();
    wake();
  };
  socket.on('error', () => {});
  socket.on('end', end);
  socket.on('close', end);
  if (bytes.length > 0) socket.write(bytes);
  return {
    socket,
    get rest() {
      return rest;
    },
    closed: ending.promise,
    async next() {
      for (;;) {
        const answer = takeAnswer(rest);
        // `100 Continue` has no body and no framing (RFC 9110 section 15.2).
        if (answer?.status === 100) {
          rest = answer.body;
          return { ...answer, body: Buffer.alloc(0), isWhole: true, rest };
        }
        if (answer?.isWhole) {
          rest = answer.rest;
          return answer;
        }
        if (isEnded) return null;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** The bytes of a POST to the execute route with these header lines. */
export function printPost(headers: readonly string[], body: Uint8Array | string = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`POST /api/erp/execute HTTP/1.1\r\nhost: proxy\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1'),
    Buffer.from(body),
  ]);
}

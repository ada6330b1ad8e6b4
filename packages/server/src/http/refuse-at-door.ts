/** The answer to a request that the process has no time for: for one route always the same but for its id, and made beforehand. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Denial } from '../execute/denial.ts';
import type { Dialect } from '../execute/dialect.ts';
import { buildErrorAnswer, describeDenial, listDenialHeaders, NULL_ID } from '../execute/envelope.ts';
import type { Hear } from './door.ts';
import { hasBodyToCome } from './end-in-stages.ts';
import { describeAnswer, HttpAnswerWriter } from './http-answer-writer.ts';
import { readRequestId } from './request-id.ts';

const DENIAL = new Denial(
  'overloaded',
  'The proxy has more requests than it can serve. Send the call again in 1 s; nothing of it was sent.',
  { outcome: 'not_sent', retryAfterSeconds: 1 },
);

export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The body. */
  text: string;
}

export function prepareRefusal(dialect: Dialect): Refusal {
  const { httpStatus, error } = describeDenial(DENIAL, dialect);
  const body = buildErrorAnswer(NULL_ID, error);
  const headers = { ...listDenialHeaders(DENIAL), 'content-length': String(body.length) };
  return { status: httpStatus, headers, body, text: body.toString('latin1') };
}

/** The connection stays open, and is not read until the caller is to be heard. */
export function refuseAtDoor(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, text }: Refusal,
): Hear {
  const requestId = readRequestId(request.headers);
  if (hasBodyToCome(request)) {
    new HttpAnswerWriter(request, response, requestId, null).sendWhole(status, headers, body);
    return () => {};
  }
  response.writeHead(status, { ...describeAnswer(request, requestId), ...headers });
  // As a text it leaves in one piece with the head, which takes a fifth less time than bytes.
  response.end(text, 'latin1');
  return stopReading(request, request.socket);
}

/**
 * Once the answer has left and the request is whole: until then Node itself lets the connection be read. In a function of its
 * own, so that what it gives holds the socket alone.
 */
function stopReading(request: IncomingMessage, socket: Socket): Hear {
  let isHeard = false;
  request.once('close', () => {
    if (!isHeard) socket.pause();
  });
  return () => {
    isHeard = true;
    socket.resume();
  };
}

/** The same for a request that was let in. */
export function restAfterAnswer(
  response: ServerResponse,
  socket: Socket,
  callback: (hear: Hear) => void,
): void {
  response.once('close', () => {
    if (socket.destroyed) return;
    socket.pause();
    callback(() => void socket.resume());
  });
}

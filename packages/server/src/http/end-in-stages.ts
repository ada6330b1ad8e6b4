/** Ends an answer while the client may still be sending a body that is not wanted. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Time for a client to notice that its body is not wanted. */
const LINGER_MS = 1000;
/** Maximum size of an unread body that is cheaper to receive and discard than a new connection. */
const UNREAD_BYTES_MAX = 64 * 1024;

/**
 * RFC 9112 section 9.6: closing while the client still sends would reset the connection, which could destroy the answer
 * on its way. Bytes that arrive meanwhile are discarded.
 */
export function endInStages(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', end).resume();
}

/** True if the connection should be closed, because too much of the body is missing or it may never arrive. */
export function hasBodyToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > UNREAD_BYTES_MAX;
}

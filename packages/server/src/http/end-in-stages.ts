/** The end of an answer whose client may still be sending a body that is not wanted. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Time for a client to notice that its body is not wanted. */
const LINGER_MS = 1000;
/** Bytes of an unread body that are cheaper to take in and throw away than a new connection is. */
const UNREAD_BYTES_MAX = 64 * 1024;

/**
 * RFC 9112 section 9.6: to close while the client still sends would reset the connection, and could destroy the answer
 * on its way. What comes meanwhile is thrown away.
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

/** True where too much of the body is still to come, or where it may never come, to keep the connection. */
export function hasBodyToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > UNREAD_BYTES_MAX;
}

/**
 * Requests that never become one: not HTTP, too long in their head, or too slow. They get one answer in our form, and the
 * connection is closed.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buildErrorAnswer, describeDenial, NULL_ID } from '../execute/request/envelope.ts';
import { Denial } from '../execute/terms/denial.ts';
import { OWN_DIALECT } from '../execute/terms/dialect.ts';

/** Node names the response that has its turn on a connection; its own handler of broken requests goes by it too. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Node tells again of each further piece that a broken client sends. */
const brokenSockets = new WeakSet<Socket>();

/** Node's `clientError`: answers it once. */
export function handleBrokenRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (brokenSockets.has(socket)) return;
  brokenSockets.add(socket);
  answerBrokenRequest(error, socket);
}

/** Answers what is not HTTP, too long in its head, or too slow, and closes the connection. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const pending = socket._httpMessage;
  if (error.code !== 'ECONNRESET' && pending?.req.complete) {
    // The answer of an earlier request comes first: ours would be taken for it.
    pending.once('finish', () => answerBrokenRequest(error, socket));
    return;
  }
  if (error.code === 'ECONNRESET' || !socket.writable || pending?.headersSent) {
    socket.destroy();
    return;
  }
  const denial = new Denial(
    'invalid_request',
    BROKEN_REQUEST_TEXTS[error.code ?? ''] ??
      'The request is not HTTP/1.1; call with an HTTP client, and without TLS.',
  );
  const body = buildErrorAnswer(NULL_ID, describeDenial(denial, OWN_DIALECT).error);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

const BROKEN_REQUEST_TEXTS: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive whole in time; send it again, faster.',
  HPE_HEADER_OVERFLOW: "The request's head is too large; send fewer or shorter headers.",
};

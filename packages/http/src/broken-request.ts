/**
 * Answers what Node cannot parse as a request: bytes that are not HTTP, a head that is too long, or a request that is
 * too slow. The client gets one error in the proxy's format, then the connection is closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buildErrorAnswer, describeDenial } from '@erp-proxy/gateway/request';
import { Denial, NULL_ID, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { FastifyInstance } from 'fastify';

/**
 * `_httpMessage` is the response that Node currently sends on a connection. Node's own handler of `clientError` uses
 * it, too.
 */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Connections that were answered: Node emits `clientError` again for each further piece from the client. */
const brokenSockets = new WeakSet<Socket>();

/** Listener for Node's `clientError`; answers each connection once. */
export function handleBrokenRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (brokenSockets.has(socket)) return;
  brokenSockets.add(socket);
  answerBrokenRequest(error, socket);
}

function answerBrokenRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const pending = socket._httpMessage;
  if (error.code !== 'ECONNRESET' && pending?.req.complete) {
    // The answer to an earlier request must be sent first: otherwise the client would take the error for that answer.
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

/**
 * Closes the connection after the answer to an HTTP/1.0 message with `transfer-encoding`. RFC 9112 section 6.1: the
 * framing of such a message counts as faulty, because a proxy before this one may not know where it ends. Bytes after
 * it on the connection are not served.
 */
export function closeAfterFaultyFraming(app: FastifyInstance): void {
  const faulty = new WeakMap<Socket, IncomingMessage>();
  app.server.prependListener('request', (message, response) => {
    const { httpVersion, headers, socket } = message;
    if (httpVersion !== '1.0' || headers['transfer-encoding'] === undefined || faulty.has(socket)) return;
    faulty.set(socket, message);
    response.shouldKeepAlive = false;
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const first = faulty.get(raw.socket);
    if (first === undefined || first === raw) done();
  });
}

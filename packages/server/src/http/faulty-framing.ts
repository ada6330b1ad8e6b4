/**
 * Closes the connection after the answer to an HTTP/1.0 message with `transfer-encoding`. RFC 9112 section 6.1: the
 * framing of such a message counts as faulty, because a proxy before this one may not know where it ends. Bytes after
 * it on the connection are not served.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

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

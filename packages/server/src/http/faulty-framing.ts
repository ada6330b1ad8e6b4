/**
 * Closes the connection after the answer to a message of HTTP/1.0 with `transfer-encoding`. RFC 9112 section 6.1: such
 * a message counts as faulty framing, because a proxy before this one may not know where it ends. What follows it on
 * the connection is not served.
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

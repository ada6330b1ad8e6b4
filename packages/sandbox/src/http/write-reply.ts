/**
 * Writes an answer to the socket without Node's HTTP: Odoo's workers speak HTTP/1.0 and close after each answer, and
 * the order of their headers is part of the recordings (docs/odoo-facts.md#connection-close,
 * docs/odoo-facts.md#answer-headers). With `keepAlive` the answer looks as if sent by a reverse proxy: HTTP/1.1 on an
 * open connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from './reply.ts';

export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  { keepAlive, connectionHeader }: { keepAlive: boolean; connectionHeader: boolean },
): void {
  const body = Buffer.from(reply.body);
  const own: [string, string][] = [
    ['Server', 'Werkzeug/2.2.2 Python/3.11.2'],
    ['Date', new Date().toUTCString()],
  ];
  const given = reply.headers.map(([name, value]): [string, string] => [
    name,
    name === 'Content-Length' ? String(body.length) : value,
  ]);
  // The Werkzeug version of 14 and 15 puts the Server header last, and sends no Connection header.
  const headers = connectionHeader ? [...own, ...given] : [...given, ...own];
  const shown = request.method === 'HEAD' ? Buffer.alloc(0) : body;
  const reason = reasons[reply.status] ?? '';
  if (keepAlive) {
    response.sendDate = false;
    response.writeHead(reply.status, reason, headers.flat());
    response.end(shown);
    return;
  }
  if (connectionHeader) headers.push(['Connection', 'close']);
  const head = `HTTP/1.0 ${reply.status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  request.socket.write(Buffer.concat([Buffer.from(head), shown]));
  request.socket.destroySoon();
}

const reasons: Record<number, string> = {
  200: 'OK',
  303: 'SEE OTHER',
  304: 'NOT MODIFIED',
  400: 'BAD REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT FOUND',
  415: 'UNSUPPORTED MEDIA TYPE',
  422: 'UNPROCESSABLE ENTITY',
  500: 'INTERNAL SERVER ERROR',
};

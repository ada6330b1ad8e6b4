/**
 * Writes an answer to the socket without Node's HTTP: Odoo's workers speak HTTP/1.0 and close after each answer, and
 * the order of their headers is part of the recordings (docs/odoo-facts.md#connection-close,
 * docs/odoo-facts.md#answer-headers). With `keepAlive` the answer looks as if sent by a reverse proxy: HTTP/1.1 on an
 * open connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { Binary } from '../json/binary.ts';
import type { Reply } from './reply.ts';

export async function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  { keepAlive, connectionHeader, nowMs }: { keepAlive: boolean; connectionHeader: boolean; nowMs: number },
): Promise<void> {
  const parts = (typeof reply.body === 'string' ? [reply.body] : reply.body).map((part) =>
    typeof part === 'string' ? Buffer.from(part) : part,
  );
  const length = parts.reduce(
    (sum, part) => sum + (part instanceof Binary ? part.base64Length : part.length),
    0,
  );
  const own: [string, string][] = [
    ['Server', 'Werkzeug/2.2.2 Python/3.11.2'],
    ['Date', new Date(nowMs).toUTCString()],
  ];
  const given = reply.headers.map(([name, value]): [string, string] => [
    name,
    name === 'Content-Length' ? String(length) : value,
  ]);
  // The Werkzeug version of 14 and 15 puts the Server header last, and sends no Connection header.
  const headers = connectionHeader ? [...own, ...given] : [...given, ...own];
  const shown = request.method === 'HEAD' ? [] : parts;
  const reason = reasons[reply.status] ?? '';
  if (keepAlive) {
    response.sendDate = false;
    response.writeHead(reply.status, reason, headers.flat());
    await writeParts(response, shown);
    response.end();
    return;
  }
  if (connectionHeader) headers.push(['Connection', 'close']);
  const head = `HTTP/1.0 ${reply.status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  await writeParts(request.socket, [Buffer.from(head), ...shown]);
  request.socket.destroySoon();
}

/** Writes neighbouring texts at once, and files as fast as the client reads. */
async function writeParts(target: Writable, parts: readonly (Buffer | Binary)[]): Promise<void> {
  let texts: Buffer[] = [];
  for (const part of parts) {
    if (!(part instanceof Binary)) {
      texts.push(part);
      continue;
    }
    target.write(Buffer.concat(texts));
    texts = [];
    for (const chunk of part.base64()) {
      if (target.destroyed) return;
      if (!target.write(chunk)) await waitForDrain(target);
    }
  }
  const last = Buffer.concat(texts);
  if (last.length > 0) target.write(last);
}

function waitForDrain(target: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      target.off('drain', done);
      target.off('close', done);
      resolve();
    };
    target.on('drain', done);
    target.on('close', done);
  });
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

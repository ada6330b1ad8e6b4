/** The bytes of a request (RFC 9112 section 3). Pure; refuses what a server could read as another request than is meant. */
import type { EgressRequest } from './messages.ts';

/** Printable, and no space. */
const PATH = /^\/[\x21-\x7e]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They say how long the request is, where it goes and what becomes of the connection, which is not for the caller. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

/** A body up to this size leaves with the head in one piece; to copy a larger one would cost more than a second write. */
const COPIED_BYTES_MAX = 64 * 1024;

/** The whole request, to be written at once. Throws a TypeError that says what cannot be sent. */
export function buildRequest({ method, path, headers, body }: EgressRequest, host: string): Uint8Array[] {
  if (!PATH.test(path)) throw new TypeError('the path must begin with a slash, without spaces and controls');
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
    if (!HEADER_VALUE.test(value)) throw new TypeError(`the header ${name} has a value that cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  if (body === null) return [Buffer.from(`${head}\r\n`, 'latin1')];
  head += `content-length: ${body.length}\r\n\r\n`;
  if (body.length > COPIED_BYTES_MAX) return [Buffer.from(head, 'latin1'), body];
  const whole = Buffer.allocUnsafe(head.length + body.length);
  whole.write(head, 0, 'latin1');
  whole.set(body, head.length);
  return [whole];
}

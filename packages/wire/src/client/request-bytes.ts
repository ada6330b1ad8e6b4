/** Serialises a request (RFC 9112 section 3). Pure; refuses a request that a server could read differently. */
import type { WireRequest } from './messages.ts';

/** Printable ASCII without spaces. */
const PATH = /^\/[\x21-\x7e]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Callers must not set these: they define length, target and connection handling of the request. */
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

/** A body up to this size is written together with the head. To copy a larger one costs more than a second write. */
const COPIED_BYTES_MAX = 64 * 1024;

/** The pieces of the whole request. Throws a TypeError that names the part that cannot be sent. */
export function buildRequest({ method, path, headers, body }: WireRequest, host: string): Uint8Array[] {
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

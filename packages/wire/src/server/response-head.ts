/** Prints the head of a response (RFC 9112). Pure, but for the date. */
import { STATUS_CODES } from 'node:http';
import type { AnswerHeaders } from '@erp-proxy/async/streams';

interface HeadOptions {
  /** Null: the body comes in chunks. */
  lengthBytes: number | null;
  /** Value of the header `keep-alive`; null if the connection is closed after the response. */
  keepAlive: string | null;
}

/** Text that could end a header line or the head. */
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** The head of a response, as Latin-1 text. Throws a TypeError for a header that cannot be sent. */
export function printResponseHead(
  status: number,
  headers: AnswerHeaders,
  { lengthBytes, keepAlive }: HeadOptions,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const name in headers) {
    if (name === 'connection') continue;
    const value = headers[name] as string;
    if (UNSAFE.test(value)) throw new TypeError(`the header ${name} has a value that cannot be sent`);
    text += `${name}: ${value}\r\n`;
  }
  text += lengthBytes === null ? 'transfer-encoding: chunked\r\n' : `content-length: ${lengthBytes}\r\n`;
  text += `date: ${printDate()}\r\n`;
  return keepAlive === null
    ? `${text}connection: close\r\n\r\n`
    : `${text}connection: keep-alive\r\nkeep-alive: ${keepAlive}\r\n\r\n`;
}

let printedSecond = 0;
let printedDate = '';

/** The date of a response has a resolution of one second (RFC 9110 section 5.6.7). */
function printDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== printedSecond) {
    printedSecond = second;
    printedDate = new Date(now).toUTCString();
  }
  return printedDate;
}

/**
 * The response to one request: sends head and body in HTTP's format. Implemented on Node's HTTP (node-response.ts) and
 * directly on a connection (plain-call.ts). Knows nothing of what is answered.
 */

import { STATUS_CODES } from 'node:http';
import type { AnswerHeaders } from '@erp-proxy/async/streams';

export interface HttpResponse {
  /** Sends the whole response at once; adds `content-length`. */
  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void;
  /** Begins a body in pieces. `lengthBytes` is null if the length is unknown. */
  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void;
  /**
   * Returns a promise if there is no room for a further piece. It resolves when there is room, or when the connection
   * is closed.
   */
  write(piece: Uint8Array): Promise<void> | undefined;
  /** Ends the body, which is complete. */
  end(): void;
  /** Resets the connection: a client must not take a truncated body for a complete one. */
  breakOff(): void;
  /** Calls `listener` once when the client leaves before its answer is complete; immediately if it has left already. */
  onClientLeft(listener: () => void): void;
  /** Resolves when the last byte of the answer was sent, or the connection is closed. */
  waitUntilAnswered(): Promise<void>;
}

interface HeadOptions {
  /** Null: the body comes in chunks. */
  lengthBytes: number | null;
  /** Value of the header `keep-alive`; null if the connection is closed after the response. */
  keepAlive: string | null;
}

/** Text that could end a header line or the head. */
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The head of a response (RFC 9112), as Latin-1 text. Throws a TypeError for a header that cannot be sent.
 */
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

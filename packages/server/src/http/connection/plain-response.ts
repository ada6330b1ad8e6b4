/**
 * A response that is written to the connection itself, without Node's HTTP (RFC 9112). A response that is complete when
 * it is sent takes one write.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { atTurnEnd } from '@erp-proxy/async/tasks';
import type { HttpResponse } from '../response.ts';

/** The connection of a response. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** Value of the header `keep-alive`. */
  readonly keepAlive: string;
  /** True if this response must be the last one on the connection. */
  readonly isLastResponse: boolean;
  /** Called once: the last byte of the response was written. */
  onAnswered(isLast: boolean): void;
}

/** A body up to this size is copied behind its head. To copy a larger one costs more than a second buffer. */
const COPIED_BYTES_MAX = 64 * 1024;
const CHUNK_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export class PlainResponse implements HttpResponse {
  readonly #connection: ResponseConnection;
  #isLast = false;
  #isChunked = false;
  #isEnded = false;
  #pendingWrites = 0;

  constructor(connection: ResponseConnection) {
    this.#connection = connection;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    const head = this.#printHead(status, headers, body.length);
    this.#isEnded = true;
    if (body.length > COPIED_BYTES_MAX) {
      this.#begin(head);
      this.#write(body);
      return;
    }
    const whole = Buffer.allocUnsafe(head.length + body.length);
    whole.write(head, 0, 'latin1');
    whole.set(body, head.length);
    // At the end of this turn of the event loop: answers that are sent together wake their receiver only once.
    atTurnEnd('send an answer', () => this.#write(whole));
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#begin(this.#printHead(status, headers, lengthBytes));
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    if (piece.length === 0 || !this.#isChunked) return this.#write(piece);
    // One system call for the three parts.
    const { socket } = this.#connection;
    socket.cork();
    this.#write(Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1'));
    this.#write(piece);
    const drained = this.#write(CHUNK_END);
    socket.uncork();
    return drained;
  }

  end(): void {
    this.#isEnded = true;
    if (this.#isChunked) this.#write(LAST_CHUNK);
    else if (this.#pendingWrites === 0) this.#connection.onAnswered(this.#isLast);
  }

  breakOff(): void {
    this.#connection.socket.resetAndDestroy();
  }

  /** The head is sent together with what is written in the same turn of the event loop. */
  #begin(head: string): void {
    const { socket } = this.#connection;
    socket.cork();
    atTurnEnd('send an answer', () => socket.uncork());
    this.#write(Buffer.from(head, 'latin1'));
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    const { socket } = this.#connection;
    if (socket.destroyed || bytes.length === 0) return undefined;
    this.#pendingWrites++;
    if (socket.write(bytes, this.#onWritten)) return undefined;
    return new Promise((resolve) => {
      const settle = () => {
        socket.off('drain', settle);
        socket.off('close', settle);
        resolve();
      };
      socket.on('drain', settle);
      socket.on('close', settle);
    });
  }

  /** After an error the connection closes, and the response was not answered. */
  readonly #onWritten = (error?: Error | null): void => {
    this.#pendingWrites--;
    if (this.#pendingWrites === 0 && this.#isEnded && !error) this.#connection.onAnswered(this.#isLast);
  };

  #printHead(status: number, headers: AnswerHeaders, lengthBytes: number | null): string {
    const connection = this.#connection;
    this.#isLast = connection.isLastResponse || headers['connection'] === 'close';
    this.#isChunked = lengthBytes === null;
    return printResponseHead(status, headers, {
      lengthBytes,
      keepAlive: this.#isLast ? null : connection.keepAlive,
    });
  }
}

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

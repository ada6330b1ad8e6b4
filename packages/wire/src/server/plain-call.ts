/**
 * One plain call: its request, and the response, which is written to the connection itself, without Node's HTTP (RFC
 * 9112). A response that is complete when it is sent takes one write.
 */
import type { Socket } from 'node:net';
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import { splitHeaderLines } from '@erp-proxy/text';
import { atTurnEnd } from '../turn-end.ts';
import { type HttpResponse, printResponseHead } from './response.ts';

/** Why the rest of a body does not arrive: the client or the signal ended it, or the time for it was over. */
export type BodyFailure = 'incomplete' | 'late';

/** The connection of a call. */
export interface CallConnection {
  readonly socket: Socket;
  /** Value of the header `keep-alive`. */
  readonly keepAlive: string;
  /** True if this response must be the last one on the connection. */
  readonly isLastResponse: boolean;
  readBody(signal: AbortSignal): Uint8Array | BodyFailure | Promise<Uint8Array | BodyFailure>;
  /** Called once: the last byte of the response was written. */
  onAnswered(isLast: boolean): void;
}

/** A body up to this size is copied behind its head. To copy a larger one costs more than a second buffer. */
const COPIED_BYTES_MAX = 64 * 1024;
const CHUNK_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export class PlainCall implements HttpResponse {
  /** Names the call, such as by the id of its request, for stacks and debuggers. Its server may set it. */
  owner: string | null = null;
  readonly #connection: CallConnection;
  readonly #request: PlainRequest;
  #state: 'running' | 'answered' | 'closed' = 'running';
  readonly #onClientLeft: (() => void)[] = [];
  #resolveAnswered: (() => void) | null = null;
  #isLast = false;
  #isChunked = false;
  #isEnded = false;
  #pendingWrites = 0;

  constructor(connection: CallConnection, request: PlainRequest) {
    this.#connection = connection;
    this.#request = request;
  }

  /** By name in lower case. No header occurs twice. */
  get headers(): ReadonlyMap<string, string> {
    return this.#request.headers;
  }

  /** Length of the body, which may still arrive. */
  get bodyBytes(): number {
    return this.#request.bodyBytes;
  }

  /** Undefined if the client has left already. */
  get remoteAddress(): string | undefined {
    return this.#connection.socket.remoteAddress;
  }

  /**
   * Reads the whole body, or returns why it does not arrive. Called once, by a caller that has room for `bodyBytes`:
   * before that, only little of the body is received.
   */
  readBody(signal: AbortSignal): Uint8Array | BodyFailure | Promise<Uint8Array | BodyFailure> {
    return this.#connection.readBody(signal);
  }

  onClientLeft(listener: () => void): void {
    if (this.#state === 'closed') listener();
    else this.#onClientLeft.push(listener);
  }

  waitUntilAnswered(): Promise<void> {
    if (this.#state !== 'running') return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveAnswered = resolve;
    });
  }

  /** Called by the connection when the last byte of the answer was sent. */
  onAnswered(): void {
    this.#leave('answered');
  }

  /** Called by the connection when it has closed before that. */
  onClosed(): void {
    this.#leave('closed');
    for (const listener of this.#onClientLeft) listener();
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
    atTurnEnd('send an answer', this.owner, () => this.#write(whole));
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
    atTurnEnd('send an answer', this.owner, () => socket.uncork());
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

  #leave(state: 'answered' | 'closed'): void {
    this.#state = state;
    this.#resolveAnswered?.();
  }
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** A longer head is not plain. */
const HEAD_BYTES_MAX = 8 * 1024;
const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1\r\n/;
/** These decide where the request ends or what follows it, in ways that Node's parser must handle. */
const NOT_PLAIN = ['transfer-encoding', 'proxy-connection', 'expect', 'upgrade'];
/** Decimal without leading zeros, up to nine digits. */
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;

/**
 * Reads the head of a plain request: a `POST` in the form that most clients send, which can be understood in only one
 * way. Anything unusual is left to Node's parser (RFC 9112 sections 2 to 6).
 */
export class PlainRequest {
  /** The target, as the client wrote it. */
  readonly path: string;
  /** By name in lower case. No header occurs twice. */
  readonly headers: ReadonlyMap<string, string>;
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** True if the client wants the connection closed after the answer. */
  readonly closes: boolean;

  constructor(path: string, headers: ReadonlyMap<string, string>, headBytes: number) {
    this.path = path;
    this.headers = headers;
    this.headBytes = headBytes;
    this.bodyBytes = Number(headers.get('content-length') ?? 0);
    this.closes = headers.get('connection')?.toLowerCase() === 'close';
  }
}

/** Returns null if the head is incomplete or not plain. */
export function readPlainRequest(bytes: Buffer): PlainRequest | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1 || headEnd > HEAD_BYTES_MAX) return null;
  const text = bytes.toString('latin1', 0, headEnd + 2);
  const line = REQUEST_LINE.exec(text);
  if (line === null) return null;
  const headers = readHeaders(text, line[0].length);
  if (headers === null || !isPlain(headers)) return null;
  return new PlainRequest(line[1] as string, headers, headEnd + HEAD_END.length);
}

function readHeaders(text: string, start: number): Map<string, string> | null {
  const lines = splitHeaderLines(text, start);
  if (lines === null) return null;
  const headers = new Map<string, string>();
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] as string;
    // Which one counts, or how they are joined, depends on the header.
    if (headers.has(name)) return null;
    headers.set(name, lines[index + 1] as string);
  }
  return headers;
}

function isPlain(headers: ReadonlyMap<string, string>): boolean {
  const length = headers.get('content-length');
  if (length !== undefined && !LENGTH.test(length)) return false;
  const connection = headers.get('connection')?.toLowerCase();
  if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return false;
  return headers.has('host') && !NOT_PLAIN.some((name) => headers.has(name));
}

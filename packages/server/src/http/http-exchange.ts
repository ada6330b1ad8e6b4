/** The pipeline's port on a real request: reads headers and body from Node's request, writes answers to its response. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Denial } from '../execute/denial.ts';
import type { AnswerHeaders, AnswerWriter, Exchange } from '../execute/exchange.ts';
import { readBody } from './body.ts';
import { chooseEncoding, createEncoder, ENCODED_BYTES_MIN, type Encoding, encodeWhole } from './encoding.ts';

export interface HttpExchangeOptions {
  address: string;
  bodyBytesMax: number;
}

export class HttpExchange implements Exchange {
  readonly requestId: string;
  readonly address: string;
  readonly writer: AnswerWriter;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #bodyBytesMax: number;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { address, bodyBytesMax }: HttpExchangeOptions,
  ) {
    this.#request = request;
    this.#response = response;
    this.#bodyBytesMax = bodyBytesMax;
    this.address = address;
    this.requestId = readRequestId(this.header('x-request-id'));
    this.writer = new HttpAnswerWriter(
      request,
      response,
      this.requestId,
      chooseEncoding(this.header('accept-encoding')),
    );
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  onCallerLeft(listener: () => void): void {
    const response = this.#response;
    if (response.destroyed && !response.writableFinished) listener();
    else response.once('close', () => response.writableFinished || listener());
  }

  async readBody(signal: AbortSignal): Promise<Uint8Array | Denial> {
    return readBody(this.#request, this.#response, this.#bodyBytesMax, signal);
  }

  async waitUntilLeft(): Promise<void> {
    const response = this.#response;
    if (!response.destroyed) await new Promise((resolve) => response.once('close', resolve));
  }
}

/** The caller's own id where it is safe to log, or a new one (contract section 1). */
export function readRequestId(header: string | undefined): string {
  return header !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID();
}

/** Writes an answer to a response. Compresses it where the client asks for that and it is worth it. */
class HttpAnswerWriter implements AnswerWriter {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #encoding: Encoding | null;
  #encoder: ReturnType<typeof createEncoder> | null = null;
  #isBegun = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    encoding: Encoding | null,
  ) {
    this.#request = request;
    this.#response = response;
    this.#requestId = requestId;
    this.#encoding = encoding;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.#isBegun = true;
    if (this.#encoding === null || body.length < ENCODED_BYTES_MIN) {
      if (hasBodyToCome(this.#request)) {
        this.#writeHead(status, headers, { 'content-length': body.length, connection: 'close' });
        endInStages(this.#request, this.#response, body);
      } else {
        this.#writeHead(status, headers, { 'content-length': body.length });
        this.#response.end(body);
      }
      return;
    }
    const encoding = this.#encoding;
    encodeWhole(encoding, body).then(
      (encoded) => {
        this.#writeHead(status, headers, { 'content-encoding': encoding, 'content-length': encoded.length });
        this.#response.end(encoded);
      },
      () => this.breakOff(),
    );
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#isBegun = true;
    if (this.#encoding === null) {
      this.#writeHead(status, headers, lengthBytes === null ? {} : { 'content-length': lengthBytes });
      return;
    }
    this.#writeHead(status, headers, { 'content-encoding': this.#encoding });
    this.#encoder = createEncoder(this.#encoding);
    this.#encoder.on('error', () => this.breakOff());
    this.#encoder.pipe(this.#response);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    const out = this.#encoder ?? this.#response;
    if (this.#response.destroyed || out.write(piece)) return undefined;
    return new Promise((resolve) => {
      const settle = () => {
        out.off('drain', settle);
        this.#response.off('close', settle);
        resolve();
      };
      out.on('drain', settle);
      this.#response.on('close', settle);
    });
  }

  end(): void {
    (this.#encoder ?? this.#response).end();
  }

  restart(): boolean {
    return !this.#isBegun;
  }

  breakOff(): void {
    this.#encoder?.destroy();
    const { socket } = this.#response;
    // A reset, since an HTTP/1.0 client takes a plain end of the connection for the end of the answer.
    if (socket && 'resetAndDestroy' in socket) socket.resetAndDestroy();
    this.#response.destroy();
  }

  #writeHead(status: number, headers: AnswerHeaders, more: Record<string, string | number>): void {
    this.#response.writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      'x-request-id': this.#requestId,
      ...headers,
      ...more,
    });
  }
}

/** Bytes of an unread body that are cheaper to take in and throw away than a new connection is. */
const UNREAD_BYTES_MAX = 64 * 1024;

/** True where too much of the body is still to come, or where it may never come, to keep the connection. */
function hasBodyToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > UNREAD_BYTES_MAX;
}

/** Time for a client to notice that its body is not wanted. */
const LINGER_MS = 1000;

/**
 * RFC 9112 section 9.6: to close while the client still sends would reset the connection, and could destroy the answer
 * on its way. What comes meanwhile is thrown away.
 */
function endInStages(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', end).resume();
}

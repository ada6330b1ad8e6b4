/**
 * Writes an answer to a response, compressed if the client accepts that and the answer is large enough. Knows nothing
 * of calls.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerHeaders, AnswerWriter } from '../streams/answer-writer.ts';
import { describeCors } from './cors.ts';
import { createEncoder, ENCODED_BYTES_MIN, type Encoding, encodeWhole } from './encoding.ts';
import { endInStages, hasBodyToCome } from './end-in-stages.ts';

export class HttpAnswerWriter implements AnswerWriter {
  readonly isHeldBack = false;
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
        // At the end of the event loop's turn, so that answers sent together wake their receiver only once.
        setImmediate(() => this.#response.end(body));
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
    // A reset, because an HTTP/1.0 client takes a normal end of the connection for the end of the answer.
    if (socket && 'resetAndDestroy' in socket) socket.resetAndDestroy();
    this.#response.destroy();
  }

  #writeHead(status: number, headers: AnswerHeaders, more: Record<string, string | number>): void {
    this.#response.writeHead(status, {
      ...describeAnswer(this.#request.headers.origin, this.#requestId),
      ...headers,
      ...more,
    });
  }
}

/** Headers of every answer to a call. `origin` is the origin of the page that sent the call. */
export function describeAnswer(origin: string | undefined, requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    'x-request-id': requestId,
    ...describeCors(origin),
  };
}

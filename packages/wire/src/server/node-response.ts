/** A response through Node's HTTP server. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerHeaders } from '@erp-proxy/async/streams';
import type { HttpResponse } from './response.ts';

/**
 * How long a client may take to notice that its body is not wanted. The time starts again while bytes arrive, because
 * many clients read no answer before they have sent the whole body. It ends at the latest with the time limit of the
 * request.
 */
export const LINGER_MS = 1000;
/** Number of bytes of an unwanted body after which the connection is closed in any case. */
export const DISCARDED_BYTES_MAX = 256 * 1024 ** 2;
/** Maximum size of an unread body that costs less to receive and discard than a new connection. */
export const UNREAD_BYTES_MAX = 64 * 1024;

export class NodeResponse implements HttpResponse {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** True when the whole answer was sent, and the rest of an unwanted body is being discarded. */
  #isLingering = false;
  #onLingering: (() => void) | null = null;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    const isLast = hasBodyToCome(this.#request);
    this.#response.writeHead(status, {
      ...headers,
      'content-length': body.length,
      ...(isLast && { connection: 'close' }),
    });
    if (isLast) this.#endInSteps(body);
    else this.#response.end(body);
  }

  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void {
    this.#response.writeHead(status, {
      ...headers,
      ...(lengthBytes !== null && { 'content-length': lengthBytes }),
    });
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    const response = this.#response;
    if (response.destroyed || response.write(piece)) return undefined;
    return new Promise((resolve) => {
      const settle = () => {
        response.off('drain', settle);
        response.off('close', settle);
        resolve();
      };
      response.on('drain', settle);
      response.on('close', settle);
    });
  }

  end(): void {
    this.#response.end();
  }

  breakOff(): void {
    const { socket } = this.#response;
    // Resets the connection, because an HTTP/1.0 client takes a normal end of the connection for the end of the answer.
    if (socket && 'resetAndDestroy' in socket) socket.resetAndDestroy();
    this.#response.destroy();
  }

  onClientLeft(listener: () => void): void {
    const response = this.#response;
    if (response.destroyed && !response.writableFinished) listener();
    else response.once('close', () => response.writableFinished || this.#isLingering || listener());
  }

  async waitUntilAnswered(): Promise<void> {
    if (this.#isLingering || this.#response.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#onLingering = resolve;
      this.#response.once('close', resolve);
    });
  }

  /**
   * Ends the answer while the client may still be sending a body that is not wanted. RFC 9112 section 9.6: closing at
   * once would reset the connection, which could destroy the answer on its way. Bytes that arrive meanwhile are
   * discarded.
   */
  #endInSteps(body: Uint8Array): void {
    this.#response.write(body, () => {
      this.#isLingering = true;
      this.#onLingering?.();
    });
    const { socket } = this.#request;
    const bytesBefore = socket.bytesRead;
    let { bytesRead } = socket;
    const end = () => {
      clearInterval(timer);
      this.#response.end();
    };
    // This loop ends in any case: Node closes the connection when the time limit of the request is over.
    const timer = setInterval(() => {
      if (socket.bytesRead === bytesRead || socket.bytesRead - bytesBefore > DISCARDED_BYTES_MAX) end();
      else bytesRead = socket.bytesRead;
    }, LINGER_MS);
    this.#request.once('close', end).resume();
  }
}

/**
 * True if the connection should be closed, because too much of the body is missing, or because the rest may never
 * arrive.
 */
function hasBodyToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > UNREAD_BYTES_MAX;
}

/**
 * One request on one connection: the answer's reader on one side, the answer and its body on the other, with the
 * deadlines and the back-pressure between them. One object for all of it keeps a small call cheap. It knows neither
 * addresses nor pools.
 */

import { type ByteStream, ByteStreamError } from '../streams/byte-stream.ts';
import { type AnswerHead, AnswerSyntaxError } from './answer-head.ts';
import { AnswerReader, type AnswerSink } from './answer-reader.ts';
import { decodeBody, findCoding } from './decode.ts';
import type { EgressAnswer, EgressFailure, EgressFailureReason } from './messages.ts';

/** What a call needs of the connection it runs on. */
export interface CallConnection {
  pause(): void;
  resume(): void;
  /** The answer is complete: the connection may serve another call, for as long as the server keeps it. */
  release(keptMs: number | null): void;
  /** Closes at once. */
  drop(): void;
}

/** Above this many bytes waiting for the reader, the socket is not read. */
const WAITING_BYTES_MAX = 64 * 1024;
/** What a waiting piece costs beside its bytes: a server can send them one by one. */
const PIECE_BYTES = 256;

export class Call implements AnswerSink, ByteStream {
  readonly #connection: CallConnection;
  readonly #signal: AbortSignal;
  readonly #firstByteTimeoutMs: number | null;
  readonly #settle: (outcome: EgressAnswer | EgressFailure) => void;

  readonly #answer = new AnswerReader(this);
  #phase: 'opening' | 'waiting' | 'receiving' | 'complete' | 'broken' = 'opening';
  #firstByteTimer: NodeJS.Timeout | null = null;
  #head: AnswerHead | null = null;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #break: ByteStreamError | null = null;
  #reader: PromiseWithResolvers<Uint8Array | null> | null = null;

  constructor(
    connection: CallConnection,
    options: { signal: AbortSignal; firstByteTimeoutMs: number | null },
    settle: (outcome: EgressAnswer | EgressFailure) => void,
  ) {
    this.#connection = connection;
    this.#signal = options.signal;
    this.#firstByteTimeoutMs = options.firstByteTimeoutMs;
    this.#settle = settle;
    this.#signal.addEventListener('abort', this);
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length + PIECE_BYTES;
      if (this.#isPaused && this.#waitingBytes < WAITING_BYTES_MAX) {
        this.#isPaused = false;
        if (this.#phase === 'receiving') this.#connection.resume();
      }
      return chunk;
    }
    if (this.#break !== null) throw this.#break;
    if (this.#phase === 'complete') return null;
    if (this.#reader !== null) throw new Error('next() was called before the last one was done');
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  cancel(): void {
    this.end('aborted', 'the reader cancelled');
  }

  /** The signal's abort event. */
  handleEvent(): void {
    this.end('aborted', 'the caller aborted');
  }

  /** Ends the call from our side, wherever it stands. */
  end(reason: EgressFailureReason, detail: string): void {
    if (this.#phase === 'receiving') this.#breakOff('aborted', detail);
    else if (this.#phase === 'opening' || this.#phase === 'waiting') this.#fail(reason, detail);
    this.#chunks = [];
    this.#waitingBytes = 0;
  }

  /** The connection will not bring the whole answer. */
  break(reason: EgressFailureReason, detail: string): void {
    if (this.#phase === 'receiving') this.#breakOff('broken_off', detail);
    else if (this.#phase === 'opening' || this.#phase === 'waiting') this.#fail(reason, detail);
  }

  /** From here on the server may have the request. */
  onSending(): void {
    this.#phase = 'waiting';
  }

  /** The last byte of the request has left. The time runs from here: a large body on a slow line is no slow server. */
  onSent(): void {
    if (this.#phase !== 'waiting' || this.#firstByteTimeoutMs === null) return;
    this.#firstByteTimer = setTimeout(() => {
      this.#fail('first_byte_timeout', `no answer within ${this.#firstByteTimeoutMs} ms`);
    }, this.#firstByteTimeoutMs);
  }

  /** Bytes of the answer. */
  take(bytes: Buffer): void {
    if (this.#phase === 'opening') {
      this.#fail('reset', 'the server spoke before it was asked');
      return;
    }
    try {
      this.#answer.take(bytes);
    } catch (error) {
      if (!(error instanceof AnswerSyntaxError)) throw error;
      this.break('bad_response', error.message);
    }
  }

  /** The server has ended the connection, which may be how the answer ends. */
  finish(): void {
    if (!this.#answer.finish()) this.break('reset', 'the connection ended before the answer was complete');
  }

  onHead(head: AnswerHead): void {
    const { status, headers, framing } = head;
    const coding = findCoding(headers['content-encoding']);
    if (coding === null) {
      this.#fail('bad_response', 'the answer has a content-encoding that was not asked for');
      return;
    }
    this.#head = head;
    this.#phase = 'receiving';
    if (this.#firstByteTimer !== null) clearTimeout(this.#firstByteTimer);
    this.#settle({
      ok: true,
      status,
      headers,
      bodyLength: coding === 'identity' && typeof framing === 'number' ? framing : null,
      body: coding === 'identity' ? this : decodeBody(this, coding),
    });
  }

  onPiece(piece: Buffer): void {
    if (this.#phase !== 'receiving') return;
    if (this.#reader !== null) {
      this.#takeReader()?.resolve(piece);
      return;
    }
    this.#chunks.push(piece);
    this.#waitingBytes += piece.length + PIECE_BYTES;
    if (this.#waitingBytes < WAITING_BYTES_MAX || this.#isPaused) return;
    this.#isPaused = true;
    this.#connection.pause();
  }

  onEnd(hasMore: boolean): void {
    if (this.#phase !== 'receiving' || this.#head === null) return;
    this.#phase = 'complete';
    this.#signal.removeEventListener('abort', this);
    if (this.#head.isLast || hasMore) this.#connection.drop();
    else this.#connection.release(this.#head.keptMs);
    this.#takeReader()?.resolve(null);
  }

  #fail(reason: EgressFailureReason, detail: string): void {
    const sent = this.#phase !== 'opening';
    this.#leave();
    this.#settle({ ok: false, reason, sent, detail });
  }

  #breakOff(reason: ByteStreamError['reason'], detail: string): void {
    this.#break = new ByteStreamError(reason, detail);
    this.#leave();
    this.#chunks = [];
    this.#takeReader()?.reject(this.#break);
  }

  #leave(): void {
    this.#phase = 'broken';
    if (this.#firstByteTimer !== null) clearTimeout(this.#firstByteTimer);
    this.#signal.removeEventListener('abort', this);
    this.#connection.drop();
  }

  #takeReader(): PromiseWithResolvers<Uint8Array | null> | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }
}

/**
 * One request on one connection: it parses the answer and passes the body to its reader, with time limits and
 * back-pressure. A single object does all of this, which keeps small calls cheap. It knows neither addresses nor pools.
 */

import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';
import { nameOwner } from '../owner.ts';
import { type AnswerHead, AnswerReader, type AnswerSink, AnswerSyntaxError } from './answer-reader.ts';
import { decodeBody, findCoding } from './decode.ts';
import type { FailureReason, SendOptions, WireAnswer, WireFailure } from './messages.ts';

/** The part of a connection that a request uses. */
export interface RequestConnection {
  /** The end of the request was not given to the socket yet. */
  readonly isSending: boolean;
  pause(): void;
  resume(): void;
  /** The answer is complete. The connection may serve another one within `keptMs`; null: the server states no time. */
  release(keptMs: number | null): void;
  /** Closes at once. */
  drop(): void;
}

/**
 * While more bytes than this wait for the reader, the socket is not read. It is more than one read (64 KiB): otherwise
 * the beginning of a long answer would pause its socket, and a socket that was paused is not used again.
 */
const WAITING_BYTES_MAX = 72 * 1024;
/** Overhead of a waiting piece beside its bytes. It matters because a server can send single bytes. */
const PIECE_BYTES = 256;

export class RunningRequest implements AnswerSink, ByteStream {
  readonly #connection: RequestConnection;
  readonly #signal: AbortSignal;
  readonly #firstByteTimeoutMs: number | null;
  /** Name of the call that it serves; null if it is not known. */
  readonly owner: string | null;
  readonly #settle: (outcome: WireAnswer | WireFailure) => void;

  readonly #answer = new AnswerReader(this);
  #phase: 'opening' | 'waiting' | 'receiving' | 'complete' | 'broken' = 'opening';
  #firstByteTimer: NodeJS.Timeout | null = null;
  #head: AnswerHead | null = null;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #error: ByteStreamError | null = null;
  #reader: PromiseWithResolvers<Uint8Array | null> | null = null;

  constructor(
    connection: RequestConnection,
    { signal, owner }: Pick<SendOptions, 'signal' | 'owner'>,
    firstByteTimeoutMs: number | null,
    settle: (outcome: WireAnswer | WireFailure) => void,
  ) {
    this.#connection = connection;
    this.#signal = signal;
    this.owner = owner ?? null;
    this.#firstByteTimeoutMs = firstByteTimeoutMs;
    this.#settle = settle;
    this.#signal.addEventListener('abort', this.#onAbort);
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
    if (this.#error !== null) throw this.#error;
    if (this.#phase === 'complete') return null;
    if (this.#reader !== null) throw new Error('next() was called while another next() is pending');
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  cancel(): void {
    this.abort('aborted', 'the reader cancelled');
  }

  /** Not an object with `handleEvent`: Node wraps such a listener in a closure that V8 keeps for long. */
  readonly #onAbort = (): void => {
    this.abort('aborted', 'the caller aborted');
  };

  /** Ends the request from our side, in any phase. */
  abort(reason: FailureReason, detail: string): void {
    if (this.#phase === 'receiving') this.#breakOff('aborted', detail);
    else if (this.#phase === 'opening' || this.#phase === 'waiting') this.#fail(reason, detail);
    this.#chunks = [];
    this.#waitingBytes = 0;
  }

  /** The rest of the answer will not arrive. */
  onLost(reason: FailureReason, detail: string): void {
    if (this.#phase === 'receiving') this.#breakOff('broken_off', detail);
    else if (this.#phase === 'opening' || this.#phase === 'waiting') this.#fail(reason, detail);
  }

  /** From now on the server may have received the request. */
  onSending(): void {
    this.#phase = 'waiting';
  }

  /**
   * The last byte of the request was sent. The time limit starts now: a large body on a slow line is not a slow server.
   */
  onSent(): void {
    if (this.#phase !== 'waiting' || this.#firstByteTimeoutMs === null) return;
    this.#firstByteTimer = setTimeout(() => {
      this.#fail('first_byte_timeout', `no answer within ${this.#firstByteTimeoutMs} ms`);
    }, this.#firstByteTimeoutMs);
  }

  /** Bytes of the answer. */
  take(bytes: Buffer): void {
    if (this.#phase === 'opening') {
      this.#fail('reset', 'the server sent bytes before the request');
      return;
    }
    try {
      this.#answer.take(bytes);
    } catch (error) {
      if (!(error instanceof AnswerSyntaxError)) throw nameOwner(error, this.owner);
      this.onLost('bad_response', error.message);
    }
  }

  /** The server has ended the connection, which can be the regular end of the answer. */
  finish(): void {
    if (!this.#answer.finish()) this.onLost('reset', 'the connection ended before the answer was complete');
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
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (this.#head.isLast || hasMore) this.#connection.drop();
    else this.#connection.release(this.#head.keptMs);
    this.#takeReader()?.resolve(null);
  }

  #fail(reason: FailureReason, detail: string): void {
    // No server runs a request whose body is cut off.
    const sent = this.#phase !== 'opening' && !this.#connection.isSending;
    this.#leave();
    this.#settle({ ok: false, reason, sent, detail });
  }

  #breakOff(reason: ByteStreamError['reason'], detail: string): void {
    this.#error = new ByteStreamError(reason, detail);
    this.#leave();
    this.#chunks = [];
    this.#takeReader()?.reject(this.#error);
  }

  #leave(): void {
    this.#phase = 'broken';
    if (this.#firstByteTimer !== null) clearTimeout(this.#firstByteTimer);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#connection.drop();
  }

  #takeReader(): PromiseWithResolvers<Uint8Array | null> | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }
}

/**
 * One request on one connection: undici's handler on one side, the answer and its body on the other, with the
 * deadlines and the back-pressure between them. One object for all of it keeps a small call cheap. It knows neither
 * addresses nor pools.
 */
import { type Dispatcher, errors } from 'undici';
import { decodeBody, findCoding } from './decode.ts';
import {
  type EgressAnswer,
  type EgressBody,
  EgressBreak,
  type EgressFailure,
  type EgressFailureReason,
} from './exchange.ts';
import { describeError, OpeningFault } from './opening.ts';

/** What a call needs of the connection it runs on. */
export interface CallConnection {
  readonly hasFailed: boolean;
  /** The socket still holds bytes of the request. */
  readonly isSending: boolean;
  /** The answer is complete: the connection may serve another call, unless the server said that this is the last. */
  release(isLast: boolean): void;
  /** Closes at once. */
  drop(): void;
}

type Headers = Record<string, string | string[] | undefined>;

/** Above this many bytes waiting for the reader, the socket is not read. */
const WAITING_BYTES_MAX = 64 * 1024;

export class Call implements Dispatcher.DispatchHandler, EgressBody {
  readonly #connection: CallConnection;
  readonly #signal: AbortSignal;
  readonly #firstByteTimeoutMs: number | null;
  readonly #settle: (outcome: EgressAnswer | EgressFailure) => void;
  readonly #refuse: (error: Error) => void;

  #phase: 'opening' | 'waiting' | 'receiving' | 'complete' | 'broken' = 'opening';
  #controller: Dispatcher.DispatchController | null = null;
  #firstByteTimer: NodeJS.Timeout | null = null;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #break: EgressBreak | null = null;
  #isLast = false;
  #reader: PromiseWithResolvers<Uint8Array | null> | null = null;

  constructor(
    connection: CallConnection,
    options: { signal: AbortSignal; firstByteTimeoutMs: number | null },
    settle: (outcome: EgressAnswer | EgressFailure) => void,
    refuse: (error: Error) => void,
  ) {
    this.#connection = connection;
    this.#signal = options.signal;
    this.#firstByteTimeoutMs = options.firstByteTimeoutMs;
    this.#settle = settle;
    this.#refuse = refuse;
    this.#signal.addEventListener('abort', this);
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length;
      if (this.#waitingBytes < WAITING_BYTES_MAX && this.#controller?.paused) this.#controller.resume();
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

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#phase = 'waiting';
    this.#armFirstByte();
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    // 1xx are skipped (RFC 9110 15.2)
    if (this.#phase !== 'waiting' || status < 200) return;
    const coding = findCoding(headers['content-encoding']);
    if (coding === null) {
      this.#fail('bad_response', 'the answer has a content-encoding that was not asked for');
      return;
    }
    this.#phase = 'receiving';
    this.#isLast = String(headers.connection).toLowerCase() === 'close';
    clearTimeout(this.#firstByteTimer ?? undefined);
    this.#settle({
      ok: true,
      status,
      headers,
      bodyLength: coding === 'identity' ? readLength(headers) : null,
      body: coding === 'identity' ? this : decodeBody(this, coding),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase !== 'receiving') return;
    if (this.#reader !== null) {
      this.#takeReader()?.resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= WAITING_BYTES_MAX) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#phase !== 'receiving') return;
    // undici takes a reset for the end of a body that only the connection's end delimits.
    if (this.#connection.hasFailed) {
      this.#breakOff('broken_off', 'the connection was reset before the body was complete');
      return;
    }
    this.#phase = 'complete';
    this.#signal.removeEventListener('abort', this);
    this.#connection.release(this.#isLast);
    this.#takeReader()?.resolve(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#phase === 'receiving') this.#breakOff('broken_off', describeError(error));
    else if (isFaultOfCaller(error) && this.#phase === 'opening') {
      this.#leave();
      this.#refuse(error);
    } else if (this.#phase === 'opening' || this.#phase === 'waiting') {
      this.#fail(reasonOf(error), describeError(error));
    }
  }

  #fail(reason: EgressFailureReason, detail: string): void {
    const sent = this.#phase !== 'opening';
    this.#leave();
    this.#settle({ ok: false, reason, sent, detail });
  }

  #breakOff(reason: EgressBreak['reason'], detail: string): void {
    this.#break = new EgressBreak(reason, detail);
    this.#leave();
    this.#chunks = [];
    this.#takeReader()?.reject(this.#break);
  }

  #leave(): void {
    this.#phase = 'broken';
    clearTimeout(this.#firstByteTimer ?? undefined);
    this.#signal.removeEventListener('abort', this);
    this.#connection.drop();
  }

  #takeReader(): PromiseWithResolvers<Uint8Array | null> | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }

  /** The time runs from the last byte of the request: a large body on a slow line is no slow server. */
  #armFirstByte(): void {
    if (this.#firstByteTimeoutMs === null) return;
    this.#firstByteTimer = setTimeout(() => {
      if (this.#connection.isSending) this.#armFirstByte();
      else this.#fail('first_byte_timeout', `no answer within ${this.#firstByteTimeoutMs} ms`);
    }, this.#firstByteTimeoutMs);
  }
}

function readLength(headers: Headers): number | null {
  const text = headers['content-length'];
  return typeof text === 'string' && headers['transfer-encoding'] === undefined ? Number(text) : null;
}

function isFaultOfCaller(error: Error): boolean {
  return 'code' in error && (error.code === 'UND_ERR_INVALID_ARG' || error.code === 'UND_ERR_NOT_SUPPORTED');
}

function reasonOf(error: Error): EgressFailureReason {
  if (error instanceof OpeningFault) return error.reason;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'tls';
  const isUnreadable =
    error instanceof errors.HTTPParserError ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
    (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad '));
  return isUnreadable ? 'bad_response' : 'reset';
}

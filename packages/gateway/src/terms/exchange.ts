/**
 * The interface between the pipeline and HTTP: reading a request, and writing its answer. Implemented by
 * `packages/http/src/plain-exchange.ts` and `packages/http/src/node-exchange.ts`.
 */
import { AnswerCollector, type AnswerWriter } from '@erp-proxy/async/streams';
import type { Denial } from './denial.ts';

/** One HTTP request, as the pipeline sees it. */
export interface Exchange {
  readonly requestId: string;
  /** The caller's address, behind trusted reverse proxies; null: the proxy itself makes the calls. */
  readonly address: string | null;
  /** Reads a request header. `name` is in lower case. Repeated headers are joined by commas. */
  header(name: string): string | undefined;
  /** Returns how often the header was sent. */
  countHeader(name: string): number;
  /** Calls `listener` once when the caller leaves before the answer is complete; immediately if it has left already. */
  onCallerLeft(listener: () => void): void;
  /**
   * Reads the whole body. Denies a body of the wrong type, too large, or cut off, also by `signal`. Called once. With
   * `kind` `bytes`, any media type is accepted. Default: JSON.
   */
  readBody(signal: AbortSignal, kind?: 'json' | 'bytes'): Promise<Uint8Array | Denial>;
  /** Called when no call needs the body any more. */
  releaseBody(): void;
  readonly writer: AnswerWriter;
  /** Takes the number of records in the answer so far. Absent: nobody asks. */
  reportRecords?(count: number): void;
  /** Resolves when the last byte of the answer was sent, or the connection is closed. Called after the answer. */
  waitUntilLeft(): Promise<void>;
}

/** A request that was stored. */
export interface StoredRequest {
  readonly address: string | null;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly writer: AnswerWriter;
  readonly reportRecords?: (count: number) => void;
}

/** The exchange of calls whose caller does not wait. By default, no request has asked for them. */
export class BackgroundExchange implements Exchange {
  /** The id that the records of all its calls have. */
  readonly requestId: string;
  readonly address: string | null;
  readonly writer: AnswerWriter;
  readonly #stored: StoredRequest;
  readonly #signal: AbortSignal;
  #onAborted: () => void = () => {};

  /** Once the signal is aborted, the calls end as if their caller had left. */
  constructor(
    requestId: string,
    signal: AbortSignal,
    stored: StoredRequest = { address: null, headers: {}, body: NO_BYTES, writer: new AnswerCollector(0) },
  ) {
    this.requestId = requestId;
    this.address = stored.address;
    this.writer = stored.writer;
    this.#stored = stored;
    this.#signal = signal;
  }

  header(name: string): string | undefined {
    return this.#stored.headers[name];
  }

  countHeader(name: string): number {
    return this.header(name) === undefined ? 0 : 1;
  }

  onCallerLeft(listener: () => void): void {
    this.#onAborted = listener;
    if (this.#signal.aborted) listener();
    else this.#signal.addEventListener('abort', listener);
  }

  async readBody(): Promise<Uint8Array> {
    return this.#stored.body;
  }

  releaseBody(): void {}

  reportRecords(count: number): void {
    this.#stored.reportRecords?.(count);
  }

  async waitUntilLeft(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAborted);
  }
}

const NO_BYTES = Buffer.alloc(0);

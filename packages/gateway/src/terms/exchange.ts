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
  /** Resolves when the last byte of the answer was sent, or the connection is closed. Called after the answer. */
  waitUntilLeft(): Promise<void>;
}

/** The exchange of calls that no request asks for: it has no caller, no headers and no body, and is not answered. */
export class BackgroundExchange implements Exchange {
  /** The id that the records of all its calls have. */
  readonly requestId: string;
  readonly address = null;
  readonly writer = new AnswerCollector(0);
  readonly #signal: AbortSignal;
  #onAborted: () => void = () => {};

  /** Once the signal is aborted, the calls end as if their caller had left. */
  constructor(requestId: string, signal: AbortSignal) {
    this.requestId = requestId;
    this.#signal = signal;
  }

  header(): undefined {}

  countHeader(): number {
    return 0;
  }

  onCallerLeft(listener: () => void): void {
    this.#onAborted = listener;
    if (this.#signal.aborted) listener();
    else this.#signal.addEventListener('abort', listener);
  }

  async readBody(): Promise<Uint8Array> {
    return NO_BYTES;
  }

  releaseBody(): void {}

  async waitUntilLeft(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAborted);
  }
}

const NO_BYTES = Buffer.alloc(0);

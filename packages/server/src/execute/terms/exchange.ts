/**
 * The interface between the pipeline and HTTP: reading a request, and writing its answer. Implemented by
 * `http/plain-exchange.ts` and `http/node-exchange.ts`.
 */
import type { AnswerWriter } from '@erp-proxy/async/streams';
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

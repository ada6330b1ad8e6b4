/**
 * The port between the pipeline and HTTP: what the pipeline may ask of a request, and how an answer leaves. `http/`
 * implements it on a socket, `batch.ts` on one element of an array.
 */
import type { AnswerWriter } from '../../streams/answer-writer.ts';
import type { Denial } from './denial.ts';

/** One HTTP request, as the pipeline sees it. */
export interface Exchange {
  readonly requestId: string;
  /** The caller's address, behind trusted reverse proxies. */
  readonly address: string;
  /** One request header, lower-case name; repeated headers come joined by a comma. */
  header(name: string): string | undefined;
  /** How often it comes. */
  countHeader(name: string): number;
  /** Tells once when the caller leaves before the answer is whole; at once if that has happened already. */
  onCallerLeft(listener: () => void): void;
  /** The whole body; a denial when it is of the wrong type, too large or cut off, by the signal too. To be called once. */
  readBody(signal: AbortSignal): Promise<Uint8Array | Denial>;
  readonly writer: AnswerWriter;
  /** Resolves when the last byte of the answer has left, or the connection is gone. To be called after the answer. */
  waitUntilLeft(): Promise<void>;
}

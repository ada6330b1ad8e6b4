/**
 * The port between the pipeline and HTTP: what the pipeline may ask of a request, and how an answer leaves. `http/`
 * implements it on a socket, `batch.ts` on one element of an array.
 */
import type { Denial } from './denial.ts';

/** HTTP headers of an answer, lower-case names. */
export type AnswerHeaders = Record<string, string>;

/** Where the bytes of one answer go. Exactly one of `sendWhole` or `begin` … `end` is used, unless `restart` allows another. */
export interface AnswerWriter {
  /** The whole answer at once; its length is known. */
  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void;
  /** Opens an answer that follows in pieces; `lengthBytes` where it is known beforehand. */
  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void;
  /** Takes a piece; the promise, where there is one, resolves when there is room for the next. */
  write(piece: Uint8Array): Promise<void> | undefined;
  /** True while it is not its caller that `write` waits for: other answers come first. */
  readonly isHeldBack: boolean;
  /** Closes an answer that is whole. */
  end(): void;
  /** True if nothing has left yet, so that an error may still take the place of what was begun. */
  restart(): boolean;
  /** Breaks the caller's connection off: never a short answer that looks whole. */
  breakOff(): void;
}

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

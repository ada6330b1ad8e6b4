/** Interface of the destinations of an answer: a socket, an element of an array, a recorder in front of either. */

/** HTTP headers of an answer, lower-case names. */
export type AnswerHeaders = Record<string, string>;

/**
 * The destination of one answer. Exactly one of `sendWhole` or `begin` … `end` is used, unless `restart` allows
 * another.
 */
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

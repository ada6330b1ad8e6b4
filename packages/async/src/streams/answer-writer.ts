/** The destination of one answer: a socket, an element of an array, or a recorder in front of either. */

/** HTTP headers of an answer; names in lower case. */
export type AnswerHeaders = Record<string, string>;

/** Exactly one of `sendWhole` and `begin` … `end` is used, unless `restart` permits another. */
export interface AnswerWriter {
  /** Sends the whole answer at once. */
  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void;
  /** Begins an answer in pieces. `lengthBytes` null: its length is unknown. */
  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void;
  /** Writes a piece. Gives a promise if there is no room for the next one yet; it resolves when there is. */
  write(piece: Uint8Array): Promise<void> | undefined;
  /** True while `write` waits for other answers that come first, and not for the caller. */
  readonly isHeldBack: boolean;
  /** Ends a complete answer. */
  end(): void;
  /** True if no byte was sent yet: an error can then replace the answer that was begun. */
  restart(): boolean;
  /** Closes the caller's connection, so that a truncated answer does not look complete. */
  breakOff(): void;
}

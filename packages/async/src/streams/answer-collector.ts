/**
 * Collects one answer in memory, for code that makes another answer from it. An answer that is larger than the maximum
 * is dropped: it is drained, or cancelled.
 */
import { ByteStreamError } from './byte-stream.ts';
import { PieceCollector } from './piece-collector.ts';

export class AnswerCollector implements AnswerWriter {
  readonly isHeldBack = false;
  readonly #bytesMax: number;
  readonly #excess: 'drained' | 'cancelled';
  #collected = new PieceCollector();
  /** 0 until the answer has begun. */
  status = 0;
  headers: AnswerHeaders = {};
  /** True once the end has arrived. An answer that is not whole was broken off. */
  isWhole = false;
  isTooLarge = false;

  /** `cancelled`: only for an answer that comes straight from a call, which then ends. */
  constructor(bytesMax: number, excess: 'drained' | 'cancelled' = 'drained') {
    this.#bytesMax = bytesMax;
    this.#excess = excess;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.begin(status, headers);
    this.#add(body);
    this.end();
  }

  begin(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  /** Throws a {@link ByteStreamError} if the answer is too large and is cancelled. */
  write(piece: Uint8Array): undefined {
    if (!this.#add(piece) && this.#excess === 'cancelled')
      throw new ByteStreamError('aborted', `the answer has more than ${this.#bytesMax} bytes`);
  }

  #add(piece: Uint8Array): boolean {
    if (this.#collected.length + piece.length > this.#bytesMax) {
      this.isTooLarge = true;
      this.#collected = new PieceCollector();
    }
    if (!this.isTooLarge) this.#collected.add(piece);
    return !this.isTooLarge;
  }

  end(): void {
    this.isWhole = true;
  }

  /** False after an answer that was cancelled: no error takes its place. */
  restart(): boolean {
    if (this.isTooLarge && this.#excess === 'cancelled') return false;
    this.isTooLarge = false;
    this.#collected = new PieceCollector();
    this.isWhole = false;
    return true;
  }

  breakOff(): void {}

  /** The bytes so far. */
  join(): Uint8Array {
    return this.#collected.join();
  }
}

/** HTTP headers of an answer; names in lower case. */
export type AnswerHeaders = Record<string, string>;

/**
 * The destination of one answer: a socket, an element of an array, or a recorder in front of either. Exactly one of
 * `sendWhole` and `begin` … `end` is used, unless `restart` permits another.
 */
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

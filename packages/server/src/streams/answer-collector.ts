/**
 * Collects one answer in memory, for code that makes another answer from it. An answer that is larger than the maximum
 * is drained and dropped.
 */
import type { AnswerHeaders, AnswerWriter } from './answer-writer.ts';
import { PieceCollector } from './piece-collector.ts';

export class AnswerCollector implements AnswerWriter {
  readonly isHeldBack = false;
  readonly #bytesMax: number;
  #collected = new PieceCollector();
  /** 0 until the answer has begun. */
  status = 0;
  headers: AnswerHeaders = {};
  /** True once the end has arrived. An answer that is not whole was broken off. */
  isWhole = false;
  isTooLarge = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.begin(status, headers);
    this.write(body);
    this.end();
  }

  begin(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  write(piece: Uint8Array): undefined {
    if (this.#collected.length + piece.length > this.#bytesMax) this.isTooLarge = true;
    // A piece may be a view of a buffer that is used again.
    else if (!this.isTooLarge) this.#collected.add(piece.slice());
  }

  end(): void {
    this.isWhole = true;
  }

  restart(): boolean {
    this.#collected = new PieceCollector();
    this.isTooLarge = false;
    this.isWhole = false;
    return true;
  }

  breakOff(): void {}

  /** The bytes so far. */
  join(): Uint8Array {
    return this.#collected.join();
  }
}

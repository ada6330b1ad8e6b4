/**
 * Collects the pieces of a body. A sender can split it into single bytes, and a piece costs far more memory than a
 * byte, so that many pieces are joined into blocks. Does not interpret the bytes.
 */

/** More than the number of pieces in bodies with pieces of usual size. */
const LOOSE_PIECES_MAX = 1024;

export class PieceCollector {
  /** Each block is joined from LOOSE_PIECES_MAX pieces. */
  #blocks: Uint8Array[] = [];
  #loose: Uint8Array[] = [];
  /** Bytes of all pieces. */
  length = 0;

  add(piece: Uint8Array): void {
    this.length += piece.length;
    this.#loose.push(piece);
    if (this.#loose.length < LOOSE_PIECES_MAX) return;
    this.#blocks.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }

  /** All bytes so far, in their order. */
  get pieces(): readonly Uint8Array[] {
    return [...this.#blocks, ...this.#loose];
  }

  /** All bytes so far. A single piece is not copied. */
  join(): Uint8Array {
    if (this.#blocks.length === 0 && this.#loose.length === 1) return this.#loose[0] as Uint8Array;
    const whole = Buffer.concat(this.pieces, this.length);
    this.#blocks = [];
    this.#loose = [whole];
    return whole;
  }
}

/**
 * Collects the pieces of a body until it is needed as a whole. The sender decides how small the pieces are, and each
 * costs far more memory than a byte. Beyond a number of pieces they are copied together.
 */

/** More than a body in pieces of usual size has. */
const LOOSE_PIECES_MAX = 1024;

export class PieceCollector {
  /** Copied together, each from as many pieces as may be loose. */
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

  /** All bytes so far; a single piece is not copied. */
  join(): Uint8Array {
    const pieces = [...this.#blocks, ...this.#loose];
    if (pieces.length === 1) return pieces[0] as Uint8Array;
    const whole = Buffer.concat(pieces, this.length);
    this.#blocks = [];
    this.#loose = [whole];
    return whole;
  }
}

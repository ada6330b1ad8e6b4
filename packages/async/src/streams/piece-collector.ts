/**
 * Collects the pieces of a body. A sender can split it into single bytes, and a piece costs far more memory than a
 * byte, so that many pieces are joined into blocks. Does not interpret the bytes.
 */

/** A piece of at least this many bytes is kept as it is. */
const LARGE_PIECE_BYTES = 1024;
/** Small pieces that are joined at once: 256 KiB at most. */
const SMALL_PIECES_MAX = 256;

export class PieceCollector {
  /** Large pieces, and blocks of small ones. */
  #blocks: Uint8Array[] = [];
  /** Small pieces behind the blocks. */
  #small: Uint8Array[] = [];
  /** Bytes of all pieces. */
  length = 0;

  add(piece: Uint8Array): void {
    this.length += piece.length;
    if (piece.length < LARGE_PIECE_BYTES) {
      this.#small.push(piece);
      if (this.#small.length === SMALL_PIECES_MAX) this.#joinSmall();
      return;
    }
    this.#joinSmall();
    this.#blocks.push(piece);
  }

  /** All bytes so far, in their order. */
  get pieces(): readonly Uint8Array[] {
    return [...this.#blocks, ...this.#small];
  }

  /** All bytes so far. A single piece is not copied. */
  join(): Uint8Array {
    const [only] = this.#blocks;
    if (only !== undefined && this.#blocks.length === 1 && this.#small.length === 0) return only;
    const [onlySmall] = this.#small;
    if (onlySmall !== undefined && this.#small.length === 1 && this.#blocks.length === 0) return onlySmall;
    const whole = Buffer.concat(this.pieces, this.length);
    this.#blocks = [whole];
    this.#small = [];
    return whole;
  }

  #joinSmall(): void {
    if (this.#small.length === 0) return;
    this.#blocks.push(Buffer.concat(this.#small));
    this.#small = [];
  }
}

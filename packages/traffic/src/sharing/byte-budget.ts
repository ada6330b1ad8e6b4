/** Counts the bytes that are held for many calls, so that their sum stays below one limit. */

/** Overhead of a held piece in addition to its bytes. It matters because a server can send single bytes. */
const PIECE_BYTES = 256;

export class ByteBudget {
  readonly #bytesMax: number;
  #heldBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** True if no more bytes should be held until some are passed on or dropped. */
  get isSpent(): boolean {
    return this.#heldBytes >= this.#bytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  hold(bytes: number): void {
    this.#heldBytes += bytes;
  }

  free(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

/** Number of bytes for which a piece counts in the budget. */
export function weighPiece(piece: Uint8Array): number {
  return piece.length + PIECE_BYTES;
}

/** Copies a piece that is a small part of a large buffer. The piece would keep the whole buffer in memory. */
export function detachPiece(piece: Uint8Array): Uint8Array {
  if (piece.length * 2 >= piece.buffer.byteLength) return piece;
  const copy = Buffer.allocUnsafeSlow(piece.length);
  copy.set(piece);
  return copy;
}

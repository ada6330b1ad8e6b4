/** Counts the bytes that are held on behalf of many calls, so that all together stay within one bound. */

/** What a held piece costs beside its bytes: a server can send them one by one. */
const PIECE_BYTES = 256;

export class ByteBudget {
  readonly #bytesMax: number;
  #heldBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Nothing more should be held: what is must be passed on or dropped first. */
  get isSpent(): boolean {
    return this.#heldBytes >= this.#bytesMax;
  }

  /** Bytes held now. */
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

/** Bytes that a piece counts for. */
export function weighPiece(piece: Uint8Array): number {
  return piece.length + PIECE_BYTES;
}

/** A copy where the piece is a small part of a large buffer: a server that sends much beside few bytes would have us hold it all. */
export function detachPiece(piece: Uint8Array): Uint8Array {
  if (piece.length * 2 >= piece.buffer.byteLength) return piece;
  const copy = Buffer.allocUnsafeSlow(piece.length);
  copy.set(piece);
  return copy;
}

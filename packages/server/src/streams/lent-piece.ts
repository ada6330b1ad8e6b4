/** Bytes in memory that its owner uses again after {@link LentPiece.giveBack}. */
export interface LentPiece {
  readonly bytes: Uint8Array;
  /** This number of bytes before and after the piece may be overwritten, so that it can be framed in place. */
  readonly roomBytes: number;
  /** Called once, when the bytes are not used any more. */
  giveBack(): void;
}

/** A piece that belongs to its reader. */
export function own(bytes: Uint8Array): LentPiece {
  return { bytes, roomBytes: 0, giveBack: () => {} };
}

/** Gives the piece back, and returns a copy of its bytes. */
export function copyLent(piece: LentPiece): Uint8Array {
  const bytes = Buffer.from(piece.bytes);
  piece.giveBack();
  return bytes;
}

/** What this folder knows of a reply that is a result: its bytes, as far as they are there. Whose reply it is stays outside. */
import type { ByteStream } from '../streams/byte-stream.ts';

export interface StreamedResult {
  pieces: Uint8Array[];
  /** What is still to come; null where `pieces` are the whole. */
  rest: ByteStream | null;
  /** The byte that pieces and rest must end with; null where any may. */
  lastByte: number | null;
  /** What follows pieces and rest. */
  tail: Uint8Array;
}

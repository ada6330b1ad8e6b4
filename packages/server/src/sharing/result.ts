/** The part of a result that this folder needs: its bytes, of which some may not have arrived. */
import type { ByteStream } from '@erp-proxy/async/streams';

export interface StreamedResult {
  pieces: Uint8Array[];
  /** The bytes after `pieces`; null if `pieces` are all. */
  rest: ByteStream | null;
  /** The byte with which `pieces` and `rest` must end; null if any is valid. */
  lastByte: number | null;
  /** Bytes to append after `pieces` and `rest`. */
  tail: Uint8Array;
}

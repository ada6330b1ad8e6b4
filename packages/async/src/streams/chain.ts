/** Pieces that have arrived, followed by the stream of the rest. */
import type { ByteStream } from './byte-stream.ts';

/** `rest` null: the pieces are the whole. */
export function chain(pieces: readonly Uint8Array[], rest: ByteStream | null): ByteStream {
  const first = [...pieces];
  return {
    next: () => first.shift() ?? rest?.next() ?? null,
    cancel: () => rest?.cancel(),
  };
}

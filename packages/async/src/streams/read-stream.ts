/** Reads a whole stream into memory. */
import type { ByteStream } from './byte-stream.ts';

/** All bytes of the stream. Rejects if the stream fails. Null, and the stream is cancelled, beyond `bytesMax` bytes. */
export async function readStream(stream: ByteStream): Promise<Buffer>;
export async function readStream(stream: ByteStream, bytesMax: number): Promise<Buffer | null>;
export async function readStream(
  stream: ByteStream,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Buffer | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      stream.cancel();
      return null;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** A stream of bytes that arrive in pieces, such as the body of an upstream answer. */

export interface ByteStream {
  /**
   * The next bytes, which the reader may keep; null once the stream is complete. Fails with {@link ByteStreamError} if
   * it cannot complete. A source returns bytes that have arrived as they are, without a promise, so that a reader can
   * take them and need not wait for more. Streams that wrap a source may return a promise.
   */
  next(): Uint8Array | null | Promise<Uint8Array | null>;
  /** Drops the rest and closes the source. */
  cancel(): void;
}

/** A stream ended before it was complete. The bytes that were read must not be treated as the whole. */
export class ByteStreamError extends Error {
  override readonly name = 'ByteStreamError';
  readonly reason: 'broken_off' | 'aborted' | 'bomb';

  constructor(reason: ByteStreamError['reason'], detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** Pieces that have arrived, followed by the stream of the rest. `rest` null: the pieces are the whole. */
export function chain(pieces: readonly Uint8Array[], rest: ByteStream | null): ByteStream {
  const first = [...pieces];
  return {
    next: () => first.shift() ?? rest?.next() ?? null,
    cancel: () => rest?.cancel(),
  };
}

/**
 * Reads a whole stream into memory. Rejects if the stream fails. Null, and the stream is cancelled, beyond `bytesMax`
 * bytes.
 */
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

/** A stream that calls back once when it has ended, failed or been cancelled. */
export class WatchedStream implements ByteStream {
  readonly #stream: ByteStream;
  #onDone: (() => void) | null;

  constructor(stream: ByteStream, onDone: () => void) {
    this.#stream = stream;
    this.#onDone = onDone;
  }

  async next(): Promise<Uint8Array | null> {
    try {
      const piece = await this.#stream.next();
      if (piece === null) this.#finish();
      return piece;
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  cancel(): void {
    this.#stream.cancel();
    this.#finish();
  }

  #finish(): void {
    const onDone = this.#onDone;
    this.#onDone = null;
    onDone?.();
  }
}

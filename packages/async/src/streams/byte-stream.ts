/** A stream of bytes that arrive in pieces, such as the body of an upstream answer. */

export interface ByteStream {
  /**
   * The next bytes, which the reader may keep; null once the stream is complete. Fails with {@link ByteStreamError} if
   * it cannot complete.
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

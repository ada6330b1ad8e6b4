/** A stream of bytes that arrive in pieces, such as the body of an upstream answer. */

export interface ByteStream {
  /**
   * The next bytes, which the reader may keep; null once the stream is complete. Fails with {@link ByteStreamError} if
   * it cannot complete. A source gives bytes that have arrived without a promise, so that a reader can take what is
   * there and not wait for more. Streams around it need not.
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

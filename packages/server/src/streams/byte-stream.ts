/** Bytes that arrive in pieces: what the body of an upstream answer is to everything that passes it on. */

export interface ByteStream {
  /** The next bytes; null once the stream is complete. Fails with {@link ByteStreamError} if it will never be. */
  next(): Uint8Array | null | Promise<Uint8Array | null>;
  /** Drops the rest and closes what it comes from. */
  cancel(): void;
}

/** A stream ended before it was complete. What was read of it must not pass for the whole. */
export class ByteStreamError extends Error {
  override readonly name = 'ByteStreamError';
  readonly reason: 'broken_off' | 'aborted' | 'bomb';

  constructor(reason: ByteStreamError['reason'], detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** A stream that calls back once when it has ended, failed or been cancelled. */
import type { ByteStream } from './byte-stream.ts';

export class WatchedStream implements ByteStream {
  readonly #stream: ByteStream;
  #onDone: (() => void) | null;

  constructor(stream: ByteStream, onDone: () => void) {
    this.#stream = stream;
    this.#onDone = onDone;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    try {
      const read = this.#stream.next();
      return read instanceof Promise ? read.then(this.#watch, this.#fail) : this.#watch(read);
    } catch (error) {
      return this.#fail(error);
    }
  }

  cancel(): void {
    this.#stream.cancel();
    this.#finish();
  }

  readonly #watch = (piece: Uint8Array | null): Uint8Array | null => {
    if (piece === null) this.#finish();
    return piece;
  };

  readonly #fail = (error: unknown): never => {
    this.#finish();
    throw error;
  };

  #finish(): void {
    const onDone = this.#onDone;
    this.#onDone = null;
    onDone?.();
  }
}

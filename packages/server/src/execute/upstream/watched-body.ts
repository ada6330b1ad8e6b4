/** A body that tells once when it has ended, broken off or was left. */
import type { ByteStream } from '../../streams/byte-stream.ts';

export class WatchedBody implements ByteStream {
  readonly #body: ByteStream;
  #onDone: (() => void) | null;

  constructor(body: ByteStream, onDone: () => void) {
    this.#body = body;
    this.#onDone = onDone;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    try {
      const read = this.#body.next();
      return read instanceof Promise ? read.then(this.#watch, this.#fail) : this.#watch(read);
    } catch (error) {
      return this.#fail(error);
    }
  }

  cancel(): void {
    this.#body.cancel();
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

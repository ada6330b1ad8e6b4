/** A stream that calls back once when it has ended, failed or been cancelled. */
import type { ByteStream } from './byte-stream.ts';

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

/** A stream that calls back once when it has ended, failed or been cancelled. */
import type { ByteStream } from './byte-stream.ts';
import type { LentPiece } from './lent-piece.ts';

export class WatchedStream implements ByteStream {
  readonly #stream: ByteStream;
  #onDone: (() => void) | null;
  /** Undefined for a stream that does not lend its pieces. */
  readonly nextLent?: () => Promise<LentPiece | null>;

  constructor(stream: ByteStream, onDone: () => void) {
    this.#stream = stream;
    this.#onDone = onDone;
    if (stream.nextLent === undefined) return;
    const nextLent = () => stream.nextLent!().then(this.#watch<LentPiece>, this.#fail);
    this.nextLent = nextLent;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    try {
      const read = this.#stream.next();
      return read instanceof Promise ? read.then(this.#watch<Uint8Array>, this.#fail) : this.#watch(read);
    } catch (error) {
      return this.#fail(error);
    }
  }

  cancel(): void {
    this.#stream.cancel();
    this.#finish();
  }

  readonly #watch = <Piece>(piece: Piece | null): Piece | null => {
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

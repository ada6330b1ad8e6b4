/** A body that passes its bytes on and collects them: after its end was read, the whole body is available. */
import type { ByteStream } from '@erp-proxy/async/streams';
import { type ByteBudget, weighPiece } from './byte-budget.ts';

export class CollectingBody implements ByteStream {
  readonly #body: ByteStream;
  readonly #weightMax: number;
  readonly #budget: ByteBudget;
  readonly #onWhole: (pieces: Uint8Array[]) => void;
  /** The collected pieces. Null once collecting has ended, because they were too large or the body has ended. */
  #pieces: Uint8Array[] | null = [];
  #weight = 0;

  /** `onWhole` is not called for a body that is heavier than `weightMax`, breaks off or is cancelled. */
  constructor(
    body: ByteStream,
    weightMax: number,
    budget: ByteBudget,
    onWhole: (pieces: Uint8Array[]) => void,
  ) {
    this.#body = body;
    this.#weightMax = weightMax;
    this.#budget = budget;
    this.#onWhole = onWhole;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.#pieces === null) return this.#body.next();
    try {
      const read = this.#body.next();
      return read instanceof Promise ? read.then(this.#collect, this.#fail) : this.#collect(read);
    } catch (error) {
      return this.#fail(error);
    }
  }

  cancel(): void {
    this.#drop();
    this.#body.cancel();
  }

  readonly #collect = (piece: Uint8Array | null): Uint8Array | null => {
    const pieces = this.#pieces;
    if (pieces === null) return piece;
    if (piece === null) {
      this.#onWhole(pieces);
      this.#drop();
      return null;
    }
    const weight = weighPiece(piece);
    if (this.#weight + weight > this.#weightMax || this.#budget.isSpent) {
      this.#drop();
      return piece;
    }
    pieces.push(piece);
    this.#weight += weight;
    this.#budget.hold(weight);
    return piece;
  };

  readonly #fail = (error: unknown): never => {
    this.#drop();
    throw error;
  };

  #drop(): void {
    this.#pieces = null;
    this.#budget.free(this.#weight);
    this.#weight = 0;
  }
}

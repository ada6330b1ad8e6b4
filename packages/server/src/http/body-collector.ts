/**
 * Collects the pieces of a request's body. A large body is collected in memory that the thread for large calls can
 * read, too. Does not interpret the bytes.
 */

import { isLarge, SharedCollector } from '@erp-proxy/async/shared-bytes';
import { PieceCollector } from '@erp-proxy/async/streams';

export class BodyCollector {
  readonly #bytesMax: number;
  readonly #pieces = new PieceCollector();
  /** Memory that threads share; null while the body is small. */
  #shared: SharedCollector | null = null;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return (this.#shared ?? this.#pieces).length;
  }

  /** Adds a piece. The body must not exceed `bytesMax` bytes. */
  add(piece: Uint8Array): void {
    if (this.#shared !== null) {
      this.#shared.add(piece);
      return;
    }
    this.#pieces.add(piece);
    if (!isLarge(this.#pieces)) return;
    this.#shared = new SharedCollector(this.#bytesMax);
    this.#shared.add(this.#pieces.join());
  }

  /** Returns all bytes so far. */
  join(): Uint8Array {
    return (this.#shared ?? this.#pieces).join();
  }
}

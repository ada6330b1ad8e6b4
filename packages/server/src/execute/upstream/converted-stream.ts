/** Converts the values of a result while it arrives. The calls of others run between its parts. */

import type { ByteStream } from '@erp-proxy/async/streams';
import { createPauses } from '@erp-proxy/async/tasks';
import type { ResultConverter, UnknownField } from '@erp-proxy/odoo/values';

/**
 * Bytes that are converted at once. Before the code is compiled, this many bytes of records with a thousand fields take
 * 12 ms on a slow machine.
 */
const PART_BYTES = 64 * 1024;
/** A shorter piece counts as this many bytes: those that the converter has kept are read again. */
const PIECE_BYTES = 16 * 1024;

const NOTHING = Buffer.alloc(0);

export class ConvertedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #converter: ResultConverter;
  readonly #learn: (field: UnknownField) => Promise<void>;
  readonly #pauseAfter = createPauses(PART_BYTES);
  /** What is left of the last piece. */
  #rest: Uint8Array = NOTHING;
  #isEnded = false;

  /** `learn` asks for the types of the shape of the converter again. */
  constructor(source: ByteStream, converter: ResultConverter, learn: (field: UnknownField) => Promise<void>) {
    this.#source = source;
    this.#converter = converter;
    this.#learn = learn;
  }

  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      const converted = await this.#convertNext();
      if (converted.length > 0) return converted;
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async #convertNext(): Promise<Uint8Array> {
    const converter = this.#converter;
    if (converter.unknown !== null) {
      await this.#learn(converter.unknown);
      return converter.learn();
    }
    if (this.#rest.length === 0) {
      const piece = await this.#source.next();
      if (piece === null) {
        this.#isEnded = true;
        return converter.end();
      }
      this.#rest = piece;
    }
    const part = this.#rest.subarray(0, PART_BYTES);
    this.#rest = this.#rest.subarray(PART_BYTES);
    await this.#pauseAfter(Math.max(part.length, PIECE_BYTES));
    return converter.push(part);
  }
}

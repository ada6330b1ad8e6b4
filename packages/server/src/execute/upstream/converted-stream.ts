/** A result whose values are converted while it arrives. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { RecordShape } from '../../odoo/values/record-shape.ts';
import type { ResultConverter, UnknownField } from '../../odoo/values/result-converter.ts';
import type { ByteStream } from '../../streams/byte-stream.ts';
import { createPauses } from '../../streams/create-pauses.ts';
import { copyLent, type LentPiece, own } from '../../streams/lent-piece.ts';

/** Returns the shape with the field, if it exists. */
export type LearnField = (field: UnknownField) => Promise<RecordShape>;

/**
 * After this many bytes, other work may run. A socket is read up to 32 times within one turn of the event loop. With
 * records of a thousand fields, four times as much takes 50 ms on a slow machine before the code is compiled.
 */
const SLICE_BYTES = 64 * 1024;

export class ConvertedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #converter: ResultConverter;
  readonly #learn: LearnField;
  /** Pieces that arrived before the stream was created. */
  readonly #first: Uint8Array[];
  #isEnded = false;
  readonly #pauseAfter = createPauses(SLICE_BYTES);
  /** The pause after the last piece. */
  #pause: Promise<void> | undefined;

  constructor(
    first: readonly Uint8Array[],
    source: ByteStream,
    converter: ResultConverter,
    learn: LearnField,
  ) {
    this.#first = [...first];
    this.#source = source;
    this.#converter = converter;
    this.#learn = learn;
  }

  async next(): Promise<Uint8Array | null> {
    const piece = await this.nextLent();
    return piece === null ? null : copyLent(piece);
  }

  async nextLent(): Promise<LentPiece | null> {
    while (!this.#isEnded) {
      const piece = await this.#convertNext();
      if (piece.bytes.length > 0) return piece;
      piece.giveBack();
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  /** Waits for bytes, at a field that is not known, and after each slice. */
  async #convertNext(): Promise<LentPiece> {
    const converter = this.#converter;
    if (converter.unknown !== null) {
      converter.learn(await this.#learn(converter.unknown));
      return converter.push(NOTHING);
    }
    if (this.#pause !== undefined) await this.#pause;
    const source = this.#source;
    const piece = this.#first.shift() ?? (await (source.nextBorrowed?.() ?? source.next()));
    if (piece !== null) {
      this.#pause = this.#pauseAfter(piece.length);
      const converted = converter.push(piece);
      // What passes as it is may be borrowed from its source.
      return converted.bytes === piece ? own(Buffer.from(piece)) : converted;
    }
    this.#isEnded = true;
    return own(converter.end());
  }
}

/** Converts a result that has arrived. */
export async function convertWhole(
  converter: ResultConverter,
  result: Uint8Array,
  learn: LearnField,
): Promise<Uint8Array> {
  const converted: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < result.length; at += SLICE_BYTES) {
    if (at > 0) await yieldToEventLoop();
    converted.push(copyLent(converter.push(result.subarray(at, at + SLICE_BYTES))));
    while (converter.unknown !== null) {
      converter.learn(await learn(converter.unknown));
      converted.push(copyLent(converter.push(NOTHING)));
    }
  }
  return Buffer.concat([...converted, converter.end()]);
}

const NOTHING = Buffer.alloc(0);

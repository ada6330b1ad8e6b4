/** Converts the values of a result while it arrives, or when it has arrived. */
import type { ByteStream } from '../../streams/byte-stream.ts';
import { copyLent, type LentPiece, own } from '../../streams/lent-piece.ts';
import { PART_BYTES, type SlicedConverter } from './sliced-converter.ts';

export class ConvertedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #converter: SlicedConverter;
  /** Pieces that arrived before the stream was created. */
  readonly #first: Uint8Array[];
  #isEnded = false;

  constructor(first: readonly Uint8Array[], source: ByteStream, converter: SlicedConverter) {
    this.#first = [...first];
    this.#source = source;
    this.#converter = converter;
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
    if (converter.isStopped) return await converter.learn();
    if (converter.pause !== undefined) await converter.pause;
    const source = this.#source;
    const piece = this.#first.shift() ?? (await (source.nextBorrowed?.() ?? source.next()));
    if (piece !== null) {
      const converted = converter.push(piece);
      // What passes as it is may be borrowed from its source.
      return converted.bytes === piece ? own(Buffer.from(piece)) : converted;
    }
    this.#isEnded = true;
    return own(converter.end());
  }
}

/** Converts a result that has arrived. */
export async function convertWhole(converter: SlicedConverter, result: Uint8Array): Promise<Uint8Array> {
  const converted: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < result.length; at += PART_BYTES) {
    if (converter.pause !== undefined) await converter.pause;
    converted.push(copyLent(converter.push(result.subarray(at, at + PART_BYTES))));
    while (converter.isStopped) converted.push(copyLent(await converter.learn()));
  }
  return Buffer.concat([...converted, converter.end()]);
}

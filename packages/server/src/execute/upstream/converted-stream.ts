/** A result whose values are converted while it arrives. */
import type { RecordShape } from '../../odoo/values/record-shape.ts';
import type { ResultConverter, UnknownField } from '../../odoo/values/result-converter.ts';
import type { ByteStream } from '../../streams/byte-stream.ts';

/** Returns the shape with the field, if it exists. */
export type LearnField = (field: UnknownField) => Promise<RecordShape>;

export class ConvertedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #converter: ResultConverter;
  readonly #learn: LearnField;
  /** Pieces that arrived before the stream was created. */
  readonly #first: Uint8Array[];
  /** Converted bytes that were not read yet. */
  #converted: Uint8Array[] = [];
  #isEnded = false;

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
    for (;;) {
      const converted = this.#converted.shift();
      if (converted !== undefined && converted.length > 0) return converted;
      if (converted !== undefined) continue;
      if (this.#isEnded) return null;
      const piece = this.#first.shift() ?? (await this.#source.next());
      this.#converted =
        piece === null ? [this.#end()] : await convertPiece(this.#converter, piece, this.#learn);
    }
  }

  cancel(): void {
    this.#source.cancel();
  }

  #end(): Uint8Array {
    this.#isEnded = true;
    return this.#converter.end();
  }
}

/** Waits only at a field that is not known. */
export async function convertPiece(
  converter: ResultConverter,
  piece: Uint8Array,
  learn: LearnField,
): Promise<Uint8Array[]> {
  const converted = [converter.push(piece)];
  while (converter.unknown !== null) {
    converter.learn(await learn(converter.unknown));
    converted.push(converter.push(NOTHING));
  }
  return converted;
}

const NOTHING = Buffer.alloc(0);

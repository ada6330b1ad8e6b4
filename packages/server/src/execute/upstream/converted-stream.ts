/** A result whose values are converted while it arrives. */
import type { RecordShape } from '../../odoo/values/record-shape.ts';
import type { ResultConverter, UnknownField } from '../../odoo/values/result-converter.ts';
import type { ByteStream } from '../../streams/byte-stream.ts';
import { createPauses } from '../../streams/create-pauses.ts';
import { copyLent, type LentPiece, own } from '../../streams/lent-piece.ts';

/** Returns the shape with the field, if it exists. */
export type LearnField = (field: UnknownField) => Promise<RecordShape>;

/** After this many bytes, other work may run. A socket is read up to 32 times within one turn of the event loop. */
const SLICE_BYTES = 256 * 1024;
/**
 * So it may after this time. Before the code is compiled, a slice of records with a thousand fields takes 50 ms on a
 * slow machine.
 */
const SLICE_MS = 5;
/** Bytes that are converted without a look at the time. A socket is read in pieces of this size. */
const PART_BYTES = 64 * 1024;

/** Converts in slices, so that the calls of others run between them. */
export class SlicedConverter {
  readonly #converter: ResultConverter;
  readonly #learn: LearnField;
  readonly #nowMs: () => number;
  readonly #pauseAfterBytes = createPauses(SLICE_BYTES);
  readonly #pauseAfterMs = createPauses(SLICE_MS);
  /** The pause after the last part. */
  #pause: Promise<void> | undefined;

  /** `nowMs` is a monotonic clock. */
  constructor(converter: ResultConverter, learn: LearnField, nowMs: () => number) {
    this.#converter = converter;
    this.#learn = learn;
    this.#nowMs = nowMs;
  }

  /** True while a type must be learnt before the next part is pushed. */
  get isStopped(): boolean {
    return this.#converter.unknown !== null;
  }

  /** To be awaited before each part. */
  get pause(): Promise<void> | undefined {
    return this.#pause;
  }

  /** At most a part. */
  push(part: Uint8Array): LentPiece {
    const begunMs = this.#nowMs();
    const converted = this.#converter.push(part);
    const afterBytes = this.#pauseAfterBytes(part.length);
    const afterMs = this.#pauseAfterMs(this.#nowMs() - begunMs);
    this.#pause = afterBytes ?? afterMs;
    return converted;
  }

  /** Goes on behind a field whose type was not known. */
  async learn(): Promise<LentPiece> {
    if (this.#pause !== undefined) await this.#pause;
    const { unknown } = this.#converter;
    if (unknown !== null) this.#converter.learn(await this.#learn(unknown));
    return this.push(NOTHING);
  }

  end(): Uint8Array {
    return this.#converter.end();
  }
}

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

const NOTHING = Buffer.alloc(0);

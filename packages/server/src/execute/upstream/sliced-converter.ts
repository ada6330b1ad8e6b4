/** Converts values in slices, so that the calls of others run between them. */
import type { RecordShape } from '../../odoo/values/record-shape.ts';
import type { ResultConverter, UnknownField } from '../../odoo/values/result-converter.ts';
import { createPauses } from '../../streams/create-pauses.ts';
import type { LentPiece } from '../../streams/lent-piece.ts';

/** Returns the shape with the field, if it exists. */
export type LearnField = (field: UnknownField) => Promise<RecordShape>;

/** After this many bytes, other work may run. A socket is read up to 32 times within one turn of the event loop. */
const SLICE_BYTES = 256 * 1024;
/**
 * After this time, other work may run, too. Before the code is compiled, a slice of records with a thousand fields
 * takes 50 ms on a slow machine.
 */
const SLICE_MS = 5;
/** Bytes that are converted without a look at the time. A socket is read in pieces of this size. */
export const PART_BYTES = 64 * 1024;

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

const NOTHING = Buffer.alloc(0);

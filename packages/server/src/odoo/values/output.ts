/** Collects output bytes in the conversion memory: ranges of the input that stay as they are, and replacements. */
import type { LentPiece } from '../../streams/lent-piece.ts';
import type { ConversionMemory } from './conversion-memory.ts';

/** Up to this length, a loop costs less than a native copy. */
const SHORT_BYTES = 48;

export class Output {
  readonly #memory: ConversionMemory;
  readonly #input: Uint8Array;
  #bytes: Uint8Array;
  /** Offset in the input up to which bytes are copied or replaced. */
  #taken = 0;
  #length = 0;

  constructor(memory: ConversionMemory) {
    this.#memory = memory;
    this.#input = memory.input;
    this.#bytes = memory.output;
  }

  get length(): number {
    return this.#length;
  }

  begin(): void {
    this.#bytes = this.#memory.output;
    this.#taken = 0;
    this.#length = 0;
  }

  /** Copies the input up to `start`. The bytes from there to `end` are replaced by what is added next. */
  replace(start: number, end: number): void {
    this.addRange(this.#taken, start);
    this.#taken = end;
  }

  /** Adds a range of the input to the current replacement. */
  addRange(start: number, end: number): void {
    const bytes = this.#bytes;
    const input = this.#input;
    if (end - start > SHORT_BYTES) bytes.set(input.subarray(start, end), this.#length);
    else for (let at = start, to = this.#length; at < end; at++, to++) bytes[to] = input[at]!;
    this.#length += end - start;
  }

  addText(text: Uint8Array): void {
    const bytes = this.#bytes;
    let to = this.#length;
    for (let at = 0; at < text.length; at++) bytes[to++] = text[at]!;
    this.#length = to;
  }

  /** Overwrites a byte of the output; `back` is its distance from the end. */
  overwrite(back: number, byte: number): void {
    this.#bytes[this.#length - back] = byte;
  }

  /** The input up to `end` was converted otherwise; the output has `length` bytes now. */
  skip(end: number, length: number): void {
    this.#taken = end;
    this.#length = length;
  }

  /** Returns the output for the input up to `end`. */
  finish(end: number): LentPiece {
    this.replace(end, end);
    return this.#memory.lendOutput(this.#length);
  }
}

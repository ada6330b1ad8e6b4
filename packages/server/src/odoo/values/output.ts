/** Collects output bytes in one buffer: ranges of an input that stay as they are, and replacements between them. */

/** Below this length, a loop costs less than a native copy. */
const SHORT_BYTES = 64;
/** Added to the usual growth, which is less than a quarter. */
const HEADROOM_BYTES = 1024;

export class Output {
  #input: Uint8Array = new Uint8Array(0);
  /** Offset in the input up to which bytes are copied or replaced. */
  #taken = 0;
  #buffer: Buffer | null = null;
  #length = 0;

  /** Begins with the next input. */
  begin(input: Uint8Array): void {
    this.#input = input;
    this.#taken = 0;
    this.#buffer = null;
    this.#length = 0;
  }

  /** Copies the input up to `start`. The bytes from there to `end` are replaced by what is added next. */
  replace(start: number, end: number): void {
    this.#copy(this.#taken, start);
    this.#taken = end;
  }

  /** Adds a range of the input to the current replacement. */
  addRange(start: number, end: number): void {
    this.#copy(start, end);
  }

  addText(text: Uint8Array): void {
    const buffer = this.#reserve(text.length);
    let at = this.#length;
    for (let index = 0; index < text.length; index++) buffer[at++] = text[index]!;
    this.#length = at;
  }

  /** The output for the input up to `end`. Without a replacement it is the input itself. */
  finish(end: number): Uint8Array {
    if (this.#buffer === null) return this.#input.subarray(0, end);
    this.#copy(this.#taken, end);
    return this.#buffer.subarray(0, this.#length);
  }

  #copy(start: number, end: number): void {
    const buffer = this.#reserve(end - start);
    const input = this.#input;
    let at = this.#length;
    if (end - start > SHORT_BYTES) {
      buffer.set(input.subarray(start, end), at);
      at += end - start;
    } else {
      for (let index = start; index < end; index++) buffer[at++] = input[index]!;
    }
    this.#length = at;
  }

  #reserve(bytes: number): Buffer {
    const needed = this.#length + bytes;
    const buffer = this.#buffer;
    if (buffer !== null && needed <= buffer.length) return buffer;
    const expected = this.#input.length + (this.#input.length >> 2) + HEADROOM_BYTES;
    const grown = Buffer.allocUnsafe(Math.max(buffer === null ? needed : 2 * needed, expected));
    if (buffer !== null) grown.set(buffer.subarray(0, this.#length));
    this.#buffer = grown;
    return grown;
  }
}

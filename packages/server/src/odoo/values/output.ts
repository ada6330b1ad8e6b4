/** Collects output bytes in one buffer: ranges of inputs that stay as they are, and replacements between them. */
import type { PackedText } from './packed-text.ts';

const WORD_BYTES = 8;
/** Below this length, a loop over words costs less than a native copy. */
const SHORT_BYTES = 512;
/** Added to the usual growth, which is less than a quarter. Includes the bytes that a word can write too far. */
const HEADROOM_BYTES = 1024;
const NOTHING = Buffer.alloc(0);
const NO_VIEW: DataView = new DataView(new ArrayBuffer(0));

export class Output {
  #input: Uint8Array = NOTHING;
  #inputView: DataView = NO_VIEW;
  /** Offset in the input up to which bytes are copied or replaced. */
  #taken = 0;
  /** The only input so far, up to its end, if nothing in it was replaced. */
  #unchanged: Uint8Array = NOTHING;
  #buffer: Buffer | null = null;
  #view: DataView = NO_VIEW;
  #length = 0;

  /** Begins with the next input, at the start of an output or after {@link end}. */
  begin(input: Uint8Array, view: DataView): void {
    const unchanged = this.#unchanged;
    this.#input = input;
    this.#inputView = view;
    this.#taken = 0;
    if (unchanged.length === 0) return;
    this.#unchanged = NOTHING;
    this.#reserve(unchanged.length).set(unchanged, this.#length);
    this.#length += unchanged.length;
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

  addText(text: PackedText): void {
    this.#reserve(text.length);
    text.write(this.#view, this.#length);
    this.#length += text.length;
  }

  /** Overwrites a byte of the output; `back` is its distance from the end. */
  overwrite(back: number, byte: number): void {
    this.#buffer![this.#length - back] = byte;
  }

  /** The input ends at `end`: the bytes after it are not part of the output. */
  end(end: number): void {
    if (this.#buffer === null) this.#unchanged = this.#input.subarray(0, end);
    else this.#copy(this.#taken, end);
  }

  /** Returns the output, and begins another one. Without a replacement in the only input it is the input itself. */
  finish(): Uint8Array {
    const output = this.#buffer === null ? this.#unchanged : this.#buffer.subarray(0, this.#length);
    this.#unchanged = NOTHING;
    this.#buffer = null;
    this.#length = 0;
    return output;
  }

  #copy(start: number, end: number): void {
    const buffer = this.#reserve(end - start);
    const input = this.#input;
    let to = this.#length;
    this.#length = to + end - start;
    if (end - start > SHORT_BYTES) {
      buffer.set(input.subarray(start, end), to);
      return;
    }
    const from = this.#inputView;
    const view = this.#view;
    const lastWord = input.length - WORD_BYTES;
    let at = start;
    // The last word can be longer than the rest. What it writes too far is overwritten by what is added next.
    for (; at < end && at <= lastWord; at += WORD_BYTES, to += WORD_BYTES)
      view.setBigInt64(to, from.getBigInt64(at, true), true);
    while (at < end) buffer[to++] = input[at++]!;
  }

  /** Returns a buffer with room for these bytes and a word. */
  #reserve(bytes: number): Buffer {
    const needed = this.#length + bytes + WORD_BYTES;
    const buffer = this.#buffer;
    return buffer !== null && needed <= buffer.length ? buffer : this.#grow(needed);
  }

  #grow(needed: number): Buffer {
    const expected = this.#input.length + (this.#input.length >> 2) + HEADROOM_BYTES;
    const buffer = this.#buffer;
    const grown = Buffer.allocUnsafe(buffer === null ? Math.max(needed, expected) : 2 * needed + expected);
    if (buffer !== null) grown.set(buffer.subarray(0, this.#length));
    this.#buffer = grown;
    this.#view = new DataView(grown.buffer, grown.byteOffset, grown.length);
    return grown;
  }
}

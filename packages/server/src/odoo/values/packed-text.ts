/** A short text that is compared with bytes, or written, in words of four bytes, which takes a quarter of the steps. */

const WORD_BYTES = 4;

export class PackedText {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** The last one is filled up with zeros. */
  readonly #words: Int32Array;
  /** Bits of the last word that belong to the text. */
  readonly #lastMask: number;

  /** Keeps the bytes. */
  constructor(text: Uint8Array) {
    this.length = text.length;
    this.#bytes = text;
    const padded = new Uint8Array(Math.max(1, Math.ceil(text.length / WORD_BYTES)) * WORD_BYTES);
    padded.set(text);
    const view = new DataView(padded.buffer);
    this.#words = Int32Array.from({ length: padded.length / WORD_BYTES }, (_, index) =>
      view.getInt32(index * WORD_BYTES, true),
    );
    this.#lastMask = (-1 >>> (8 * (padded.length - text.length))) | 0;
  }

  static of(text: string): PackedText {
    return new PackedText(Buffer.from(text));
  }

  isAt(view: DataView, start: number): boolean {
    const words = this.#words;
    const last = words.length - 1;
    let at = start;
    if (at + words.length * WORD_BYTES > view.byteLength) return this.#isAtEnd(view, start);
    for (let index = 0; index < last; index++, at += WORD_BYTES)
      if (view.getInt32(at, true) !== words[index]) return false;
    return ((view.getInt32(at, true) ^ words[last]!) & this.#lastMask) === 0;
  }

  /** For a text whose last word goes beyond the bytes. */
  #isAtEnd(view: DataView, start: number): boolean {
    if (start + this.length > view.byteLength) return false;
    return this.#bytes.every((byte, index) => view.getUint8(start + index) === byte);
  }

  /** Changes up to three bytes after the text too. */
  write(view: DataView, start: number): void {
    const words = this.#words;
    for (let index = 0, at = start; index < words.length; index++, at += WORD_BYTES)
      view.setInt32(at, words[index]!, true);
  }
}

/**
 * Collects the body of a request. Long base64 strings are decoded while they arrive, and replaced by the number of the
 * file between two NUL characters (json/read-json.ts), so that an upload takes the memory of its file and little more.
 */
import { Binary } from '../json/binary.ts';

export interface Body {
  readonly text: Buffer;
  readonly binaries: readonly Binary[];
}

const quote = 0x22;
const backslash = 0x5c;
/** Shorter strings stay text. */
const longMin = 65_536;

export class BodyCollector {
  readonly #text: Buffer[] = [];
  readonly #binaries: Binary[] = [];
  #isInString = false;
  /** Whether the next byte follows a backslash. */
  #isEscaped = false;
  /** The string that is being read. */
  #held: Buffer[] = [];
  #heldLength = 0;
  #hasEscape = false;
  /** Set once the string is longer than `longMin`. */
  #decoder: Base64Decoder | undefined;

  add(chunk: Buffer): void {
    let at = 0;
    let slash = -2;
    while (at < chunk.length) {
      if (!this.#isInString) {
        const start = chunk.indexOf(quote, at);
        this.#text.push(start < 0 ? chunk.subarray(at) : chunk.subarray(at, start + 1));
        if (start < 0) return;
        this.#isInString = true;
        at = start + 1;
        continue;
      }
      if (this.#isEscaped) {
        this.#hold(chunk.subarray(at, at + 1));
        this.#isEscaped = false;
        at++;
        continue;
      }
      const end = chunk.indexOf(quote, at);
      if (slash !== -1 && slash < at) slash = chunk.indexOf(backslash, at);
      if (slash >= 0 && (end < 0 || slash < end)) {
        this.#hasEscape = true;
        this.#isEscaped = true;
        this.#hold(chunk.subarray(at, slash + 1));
        at = slash + 1;
        continue;
      }
      this.#hold(end < 0 ? chunk.subarray(at) : chunk.subarray(at, end));
      if (end < 0) return;
      this.#endString();
      at = end;
      this.#text.push(chunk.subarray(at, at + 1));
      at++;
    }
  }

  end(): Body {
    this.#endString();
    return { text: Buffer.concat(this.#text), binaries: this.#binaries };
  }

  #hold(piece: Buffer): void {
    if (this.#decoder?.add(piece)) return;
    this.#giveUpDecoding();
    this.#held.push(piece);
    this.#heldLength += piece.length;
    if (this.#heldLength < longMin || this.#hasEscape) return;
    const decoder = new Base64Decoder();
    const held = this.#held;
    if (!held.every((part) => decoder.add(part))) {
      // The string is not base64: decoding is not tried again.
      this.#hasEscape = true;
      return;
    }
    this.#decoder = decoder;
    this.#held = [];
  }

  /** The string turned out not to be base64: its text is restored. */
  #giveUpDecoding(): void {
    if (!this.#decoder) return;
    this.#held = [this.#decoder.restore()];
    this.#decoder = undefined;
    this.#hasEscape = true;
  }

  #endString(): void {
    if (this.#decoder && !this.#decoder.isComplete) this.#giveUpDecoding();
    if (this.#decoder) {
      this.#text.push(Buffer.from(`\0${this.#binaries.length}\0`));
      this.#binaries.push(Binary.of(this.#decoder.bytes));
    } else this.#text.push(...this.#held);
    this.#isInString = false;
    this.#held = [];
    this.#heldLength = 0;
    this.#hasEscape = false;
    this.#decoder = undefined;
  }
}

/** Decodes base64 in pieces, strictly, so that the same text can be restored. */
class Base64Decoder {
  readonly bytes: Buffer[] = [];
  /** Up to three characters that wait for the rest of their group. */
  #rest = '';
  #isPadded = false;

  /** Decodes the next piece. Returns false, and adds nothing, if the text is not base64. */
  add(piece: Buffer): boolean {
    const text = this.#rest + piece.toString('latin1');
    if (this.#isPadded ? piece.length > 0 : !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false;
    const whole = text.length - (text.length % 4);
    const decoded = Buffer.from(text.slice(0, whole), 'base64');
    this.#isPadded = text.slice(0, whole).endsWith('=');
    // Padding must end the text, and the bits before it must be zero.
    if (this.#isPadded && (whole < text.length || !text.endsWith(decoded.toString('base64').slice(-4))))
      return false;
    this.bytes.push(decoded);
    this.#rest = text.slice(whole);
    return true;
  }

  get isComplete(): boolean {
    return this.#rest === '';
  }

  restore(): Buffer {
    return Buffer.concat([...Binary.of(this.bytes).base64(), Buffer.from(this.#rest, 'latin1')]);
  }
}

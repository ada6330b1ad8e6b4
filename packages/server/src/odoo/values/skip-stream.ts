/** Skips one JSON value whose bytes arrive in pieces, however long it is. Keeps no bytes. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;

/** Bytes that end a number or a word. */
const ENDS_SCALAR = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 0x20 || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT ? 1 : 0,
);
/** Longer strings use a native search, which costs less for each byte but more to start. */
const SHORT_RUN_BYTES = 128;

export class ValueSkipper {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isStarted = false;
  /** True once the value has ended. */
  isDone = true;

  begin(): void {
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#isStarted = false;
    this.isDone = false;
  }

  /** The index after the value, or the length of the bytes if it goes on. */
  skip(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let at = start;
    while (at < length) {
      if (this.#isInString) {
        at = this.#skipString(bytes, at);
        if (this.#isInString) return length;
        if (this.#depth === 0) return this.#end(at);
        continue;
      }
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#isStarted = true;
        this.#isInString = true;
        at++;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        this.#isStarted = true;
        this.#depth++;
        at++;
      } else if (this.#depth === 0) {
        if (this.#isStarted && ENDS_SCALAR[byte] === 1) return this.#end(at);
        this.#isStarted = true;
        at++;
      } else {
        at++;
        if ((byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) && --this.#depth === 0) return this.#end(at);
      }
    }
    return length;
  }

  #end(at: number): number {
    this.isDone = true;
    return at;
  }

  #skipString(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    while (at < length) {
      const shortEnd = Math.min(length, at + SHORT_RUN_BYTES);
      while (at < shortEnd) {
        const byte = bytes[at]!;
        if (byte === QUOTE) {
          this.#isInString = false;
          return at + 1;
        }
        if (byte === BACKSLASH) {
          if (at + 1 === length) {
            this.#isEscaped = true;
            return length;
          }
          at += 2;
        } else at++;
      }
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? length : quote;
      const backslashes = countBackslashes(bytes, at, end);
      if (quote < 0) {
        this.#isEscaped = backslashes % 2 === 1;
        return length;
      }
      at = quote + 1;
      if (backslashes % 2 === 1) continue;
      this.#isInString = false;
      return at;
    }
    return length;
  }
}

/** The number of backslashes right before `end`. `start` is not within an escape. */
function countBackslashes(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return end - at;
}

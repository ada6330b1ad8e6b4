/** Skips one JSON value whose text arrives in pieces, however long it is. Keeps nothing of it. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const SPACE = 0x20;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class ValueSkipper {
  #depth = 0;
  #isInString = false;
  /** Whether the next character follows a backslash. */
  #isEscaped = false;
  /** True once the value has ended. */
  isDone = true;

  /** The first character of the value comes next. */
  begin(): void {
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.isDone = false;
  }

  /** The index after the value, or the length of the text if the value goes on. */
  skip(text: string, start: number): number {
    let at = start;
    while (at < text.length) {
      if (this.#isInString) {
        at = this.#skipString(text, at);
        if (!this.#isInString && this.#depth === 0) return this.#end(at);
        continue;
      }
      const code = text.charCodeAt(at);
      const isClose = code === CLOSE_ARRAY || code === CLOSE_OBJECT;
      if (this.#depth === 0 && (isClose || code === COMMA || code <= SPACE)) return this.#end(at);
      at++;
      if (code === QUOTE) this.#isInString = true;
      else if (code === OPEN_ARRAY || code === OPEN_OBJECT) this.#depth++;
      else if (isClose && --this.#depth === 0) return this.#end(at);
    }
    return at;
  }

  #end(at: number): number {
    this.isDone = true;
    return at;
  }

  #skipString(text: string, start: number): number {
    let at = this.#isEscaped ? start + 1 : start;
    for (;;) {
      const quote = text.indexOf('"', at);
      const end = quote === -1 ? text.length : quote;
      this.#isEscaped = countBackslashes(text, at, end) % 2 === 1;
      if (quote === -1) return end;
      at = quote + 1;
      if (this.#isEscaped) continue;
      this.#isInString = false;
      return at;
    }
  }
}

/** The number of backslashes right before `end`. `start` is not within an escape. */
function countBackslashes(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && text.charCodeAt(at - 1) === BACKSLASH) at--;
  return end - at;
}

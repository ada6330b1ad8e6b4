/**
 * Reads JSON without changing its numbers. JavaScript rounds integers beyond 2^53, and prints `1.0` as `1`. Pure.
 */

/** A number that JavaScript would print differently from the server. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Called by JSON.stringify. */
  toJSON(): unknown {
    return rawJson === undefined ? Number(this.source) : rawJson(this.source);
  }

  toString(): string {
    return this.source;
  }
}

/**
 * `source` is the text of a number, which only browsers from 2025 on pass. In older ones, the number's value is shown.
 */
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;
const { rawJSON: rawJson } = JSON as { rawJSON?: (text: string) => unknown };

export function parseExactly(text: string): unknown {
  try {
    return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, keepNumber);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // With a reviver, parsing is recursive and fails some thousands of levels deep.
    return JSON.parse(text);
  }
}

const keepNumber: Reviver = (_name, value, context) => {
  const source = context?.source;
  return typeof value !== 'number' || source === undefined || source === String(value)
    ? value
    : new ExactNumber(source);
};

export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/**
 * The text of the member `result` of an answer, which is valid JSON. If it is a list, only the first items: parsing
 * many megabytes with a reviver takes too long.
 */
export function sliceResult(answer: string, itemsMax: number): string {
  let at = skipBlank(answer, 0) + 1;
  while (at < answer.length) {
    const nameAt = skipBlank(answer, at);
    const nameEnd = skipValue(answer, nameAt);
    const valueAt = skipBlank(answer, skipBlank(answer, nameEnd) + 1);
    if (answer.slice(nameAt, nameEnd) === '"result"') {
      return answer[valueAt] === '[' ? sliceList(answer, valueAt, itemsMax) : sliceValue(answer, valueAt);
    }
    at = skipBlank(answer, skipValue(answer, valueAt)) + 1;
  }
  return 'null';
}

function sliceValue(text: string, start: number): string {
  return text.slice(start, skipValue(text, start));
}

function sliceList(text: string, start: number, itemsMax: number): string {
  let at = start + 1;
  for (let count = 0; count < itemsMax; count++) {
    const itemAt = skipBlank(text, at);
    if (text[itemAt] === ']') return text.slice(start, itemAt + 1);
    const end = skipBlank(text, skipValue(text, itemAt));
    if (text[end] === ']' || count === itemsMax - 1) return `${text.slice(start, end)}]`;
    at = end + 1;
  }
  return '[]';
}

/** Index after the value that begins at `start`. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') {
      at = findStringEnd(text, at);
      if (depth === 0) return at + 1;
    } else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && SCALAR_ENDS.has(character)) return at;
  }
  return at;
}

const BLANKS: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t']);
const SCALAR_ENDS: ReadonlySet<string> = new Set([',', ...BLANKS]);

/** Index of the closing quote. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (BLANKS.has(text[at] ?? '')) at++;
  return at;
}

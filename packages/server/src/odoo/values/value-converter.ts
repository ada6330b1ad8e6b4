/**
 * Converts single values of a result (docs/values.md#reading). Each method returns the index after the value, or
 * INCOMPLETE or DIFFERENT: then nothing was converted.
 */
import { skipWhiteSpace } from '../../json/scan.ts';
import type { Output } from './output.ts';
import {
  DIFFERENT,
  findEmptyEnd,
  findStringEnd,
  findTextEnd,
  INCOMPLETE,
  isWholeNumber,
  skipDigits,
} from './value-ends.ts';

const QUOTE = 0x22;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UNDERSCORE = 0x5f;
const LOWER_A = 0x61;
const LOWER_Z = 0x7a;
const UPPER_T = 0x54;
const LOWER_CASE = 0x20;

/** A longer value is not converted, so that little is kept and nothing long is read twice. */
export const KEPT_BYTES_MAX = 8 * 1024;

const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');
const PAIR_ID = Buffer.from('{"id": ');
const PAIR_NAME = Buffer.from(', "name": ');
const PAIR_END = Buffer.from('}');
const REFERENCE_MODEL = Buffer.from('{"model": "');
const REFERENCE_ID = Buffer.from('", "id": ');
const ZONE_END = Buffer.from('Z"');

/** Where 0 stands for any digit. The closing quote follows. */
const DATETIME = Buffer.from('"0000-00-00 00:00:00');
/** Bytes from the space of a datetime to its closing quote. */
const TIME_BYTES = ' 00:00:00'.length;

export class ValueConverter {
  readonly #output: Output;
  #bytes: Uint8Array = Buffer.alloc(0);

  constructor(output: Output) {
    this.#output = output;
  }

  /** Begins with the next bytes. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  /** `false` becomes `null`. */
  convertFalse(start: number): number {
    const end = findTextEnd(this.#bytes, start, FALSE);
    if (end < 0) return end;
    this.#output.replace(start, end);
    this.#output.addText(NULL);
    return end;
  }

  /** `"2026-10-21 01:31:00"` becomes `"2026-10-21T01:31:00Z"`. */
  convertDatetime(start: number): number {
    const bytes = this.#bytes;
    const quote = start + DATETIME.length;
    for (let at = start; at < quote; at++) {
      if (at === bytes.length) return INCOMPLETE;
      const byte = bytes[at]!;
      const expected = DATETIME[at - start]!;
      if (expected === ZERO ? byte < ZERO || byte > NINE : byte !== expected) return DIFFERENT;
    }
    if (quote === bytes.length) return INCOMPLETE;
    if (bytes[quote] !== QUOTE) return DIFFERENT;
    this.#output.replace(quote, quote + 1);
    this.#output.overwrite(TIME_BYTES, UPPER_T);
    this.#output.addText(ZONE_END);
    return quote + 1;
  }

  /** `"res.partner,3"` becomes `{"model": "res.partner", "id": 3}`. */
  convertReference(start: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    let at = start + 1;
    while (at < length && isModelByte(bytes[at]!)) at++;
    if (at === length) return INCOMPLETE;
    if (bytes[at] !== COMMA || at === start + 1) return DIFFERENT;
    const comma = at;
    at = skipDigits(bytes, at + 1);
    if (at === length) return INCOMPLETE;
    if (bytes[at] !== QUOTE || !isWholeNumber(bytes, comma + 1, at)) return DIFFERENT;
    if (at - start >= KEPT_BYTES_MAX) return DIFFERENT;
    this.#output.replace(start, at + 1);
    this.#output.addText(REFERENCE_MODEL);
    this.#output.addRange(start + 1, comma);
    this.#output.addText(REFERENCE_ID);
    this.#output.addRange(comma + 1, at);
    this.#output.addText(PAIR_END);
    return at + 1;
  }

  /** `[10, "Deco Addict"]` becomes `{"id": 10, "name": "Deco Addict"}`. */
  convertPair(start: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const idStart = skipWhiteSpace(bytes, start + 1, length);
    const idEnd = skipDigits(bytes, idStart);
    const comma = skipWhiteSpace(bytes, idEnd, length);
    if (comma === length) return INCOMPLETE;
    if (bytes[comma] !== COMMA || !isWholeNumber(bytes, idStart, idEnd)) return DIFFERENT;
    const nameStart = skipWhiteSpace(bytes, comma + 1, length);
    if (nameStart === length) return INCOMPLETE;
    const isText = bytes[nameStart] === QUOTE;
    const nameEnd = isText ? findStringEnd(bytes, nameStart) : findEmptyEnd(bytes, nameStart);
    if (nameEnd < 0) return nameEnd;
    const close = skipWhiteSpace(bytes, nameEnd, length);
    if (close === length) return INCOMPLETE;
    if (bytes[close] !== CLOSE_ARRAY || close - start >= KEPT_BYTES_MAX) return DIFFERENT;
    this.#output.replace(start, close + 1);
    this.#output.addText(PAIR_ID);
    this.#output.addRange(idStart, idEnd);
    this.#output.addText(PAIR_NAME);
    if (isText) this.#output.addRange(nameStart, nameEnd);
    else this.#output.addText(NULL);
    this.#output.addText(PAIR_END);
    return close + 1;
  }
}

function isModelByte(byte: number): boolean {
  if (byte === DOT || byte === UNDERSCORE || (byte >= ZERO && byte <= NINE)) return true;
  const letter = byte | LOWER_CASE;
  return letter >= LOWER_A && letter <= LOWER_Z;
}

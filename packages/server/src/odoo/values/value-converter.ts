/**
 * Converts single values of a result (docs/values.md#reading). Each method returns the index after the value, or
 * INCOMPLETE or DIFFERENT: then nothing was converted.
 */
import { skipWhiteSpace } from '../../json/scan.ts';
import type { Output } from './output.ts';
import { PackedText } from './packed-text.ts';
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

const FALSE = PackedText.of('false');
const NULL = PackedText.of('null');
const PAIR_ID = PackedText.of('{"id": ');
const PAIR_NAME = PackedText.of(', "name": ');
const PAIR_END = PackedText.of('}');
const REFERENCE_MODEL = PackedText.of('{"model": "');
const REFERENCE_ID = PackedText.of('", "id": ');
const ZONE_END = PackedText.of('Z"');

/** Where 0 stands for any digit. The closing quote follows. */
const DATETIME = Buffer.from('"0000-00-00 00:00:00');
/** Bytes from the space of a datetime to its closing quote. */
const TIME_BYTES = ' 00:00:00'.length;
const WORD_BYTES = 4;
const DATETIME_WORDS = readWords(DATETIME);
/** For each byte, what can be added to its greatest valid difference from DATETIME before its high bit is set. */
const DATETIME_ROOM = readWords(DATETIME.map((byte) => (byte === ZERO ? 0x7f - 9 : 0x7f)));

export class ValueConverter {
  readonly #output: Output;
  #bytes: Uint8Array = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));

  constructor(output: Output) {
    this.#output = output;
  }

  /** Begins with the next bytes. */
  begin(bytes: Uint8Array, view: DataView): void {
    this.#bytes = bytes;
    this.#view = view;
  }

  /** `false` becomes `null`. */
  convertFalse(start: number): number {
    const end = findTextEnd(this.#view, start, FALSE);
    if (end < 0) return end;
    this.#output.replace(start, end);
    this.#output.addText(NULL);
    return end;
  }

  /** `"2026-10-21 01:31:00"` becomes `"2026-10-21T01:31:00Z"`. */
  convertDatetime(start: number): number {
    const bytes = this.#bytes;
    const quote = start + DATETIME.length;
    if (quote >= bytes.length) return this.#findDatetimeBegin(start);
    if (bytes[quote] !== QUOTE || !isDatetimeAt(this.#view, start)) return DIFFERENT;
    this.#output.replace(quote, quote + 1);
    this.#output.overwrite(TIME_BYTES, UPPER_T);
    this.#output.addText(ZONE_END);
    return quote + 1;
  }

  /** Whether the last bytes can be the beginning of a datetime. */
  #findDatetimeBegin(start: number): number {
    for (let index = 0; start + index < this.#bytes.length; index++) {
      const byte = this.#bytes[start + index]!;
      const expected = DATETIME[index]!;
      if (expected === ZERO ? byte < ZERO || byte > NINE : byte !== expected) return DIFFERENT;
    }
    return INCOMPLETE;
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
    const nameEnd = isText
      ? findStringEnd(bytes, this.#view, nameStart)
      : findEmptyEnd(bytes, this.#view, nameStart);
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

/** Compares words of four bytes. A byte that differs too much sets its high bit, by itself or after the addition. */
function isDatetimeAt(view: DataView, start: number): boolean {
  for (let index = 0; index < DATETIME_WORDS.length; index++) {
    const difference = view.getInt32(start + index * WORD_BYTES, true) ^ DATETIME_WORDS[index]!;
    const isLike = ((difference | (difference + DATETIME_ROOM[index]!)) & 0x80808080) === 0;
    if (!isLike) return false;
  }
  return true;
}

function readWords(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Int32Array.from({ length: bytes.length / WORD_BYTES }, (_, index) =>
    view.getInt32(index * WORD_BYTES, true),
  );
}

function isModelByte(byte: number): boolean {
  if (byte === DOT || byte === UNDERSCORE || (byte >= ZERO && byte <= NINE)) return true;
  const letter = byte | LOWER_CASE;
  return letter >= LOWER_A && letter <= LOWER_Z;
}

/**
 * Converts the values of a result while its bytes pass, by the types of their fields (docs/values.md#reading). It keeps
 * at most one name or one short value. Bytes that are not what the type lets expect stay as they are, and so does all
 * that follows if the result is not JSON.
 */
import { skipWhiteSpace } from '../../json/scan.ts';
import { decodeString } from '../../json/string.ts';
import type { FieldType } from './field-types.ts';
import { Output } from './output.ts';
import type { RecordShape, ResultForm } from './record-shape.ts';
import { ValueSkipper } from './skip-stream.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UNDERSCORE = 0x5f;
const LOWER_A = 0x61;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_Z = 0x7a;
const SPACE = 0x20;
const LOWER_CASE = 0x20;

/** Results of a function that reads a token. Other results are the index after it. */
const INCOMPLETE = -1;
const DIFFERENT = -2;

/** A longer name or value is not converted, so that little is kept and nothing long is read twice. */
const KEPT_BYTES_MAX = 8 * 1024;
/** Bytes of a piece that are joined with the kept ones of the piece before it. */
const JOINED_BYTES = 1024;
/** Names of a record that are recognised by their position. */
const SLOTS_MAX = 1000;

const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');
const PAIR_ID = Buffer.from('{"id": ');
const PAIR_NAME = Buffer.from(', "name": ');
const PAIR_END = Buffer.from('}');
const REFERENCE_MODEL = Buffer.from('{"model": "');
const REFERENCE_ID = Buffer.from('", "id": ');
const TIME = Buffer.from('T');
const ZONE = Buffer.from('Z"');
const NOTHING = Buffer.alloc(0);

/** `"2026-10-21 01:31:00"`, where 0 stands for any digit. */
const DATETIME = Buffer.from('"0000-00-00 00:00:00"');
const DATE_END = '"0000-00-00'.length;

/** What is done with a value of a field. */
type Treatment = 'keep' | 'empty' | 'many2one' | 'reference' | 'datetime' | 'records';

/** A member at a position in the records: the bytes from the end of the value before it to its own value. */
interface Slot {
  text: Uint8Array;
  treatment: Treatment;
  nested: Layout | null;
}

/** What was seen of the records of one shape. */
interface Layout {
  shape: RecordShape;
  slots: Slot[];
  /** The bytes from the end of a record to the first name of the next one; null until they were seen. */
  turn: Uint8Array | null;
  nested: ReadonlyMap<string, Layout>;
}

interface Frame {
  kind: 'list' | 'record' | 'page';
  layout: Layout;
  /** The number of members so far, for a record. */
  count: number;
}

/** What comes next in the bytes. */
type State = 'root' | 'first element' | 'element' | 'first member' | 'value' | 'next' | 'skipped' | 'rest';

/** A field that the shape of its record does not have. */
export interface UnknownField {
  model: string;
  name: string;
}

export class ResultConverter {
  readonly #output = new Output();
  readonly #skipper = new ValueSkipper();
  readonly #form: ResultForm;
  #root: Layout;
  #frames: Frame[] = [];
  #state: State = 'root';
  /** The member whose value comes next. */
  #slot: Slot | null = null;
  #kept: Uint8Array = NOTHING;
  /**
   * Set if the converter has stopped at a field that the shape lacks. It goes on after {@link learn}. Null at the end
   * of each other {@link push}.
   */
  unknown: UnknownField | null = null;
  /** Offset of the end of the last record in the current bytes; -1 if there is none. */
  #recordEnd = -1;
  readonly #asked = new Set<string>();

  constructor(shape: RecordShape, form: ResultForm) {
    this.#form = form;
    this.#root = layOut(shape);
  }

  /** Converts the next bytes of the result. Returns what is known of the output, in one or two parts. */
  push(piece: Uint8Array): Uint8Array[] {
    if (this.#kept.length === 0 || piece.length <= JOINED_BYTES) return [this.#push(piece)];
    // Only the bytes around the cut are joined: a copy of each piece would cost as much as its conversion.
    const first = this.#push(piece.subarray(0, JOINED_BYTES));
    const keptBytes = this.#kept.length;
    if (this.unknown !== null || keptBytes > JOINED_BYTES)
      return [first, ...this.#keepForLater(piece.subarray(JOINED_BYTES))];
    this.#kept = NOTHING;
    return [first, this.#push(piece.subarray(JOINED_BYTES - keptBytes))];
  }

  /** Converts the rest of a piece later if a field is unknown, else now. */
  #keepForLater(rest: Uint8Array): Uint8Array[] {
    if (this.unknown === null) return [this.#push(rest)];
    this.#kept = Buffer.concat([this.#kept, rest]);
    return [];
  }

  #push(piece: Uint8Array): Uint8Array {
    const bytes = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece]);
    this.unknown = null;
    this.#recordEnd = -1;
    this.#output.begin(bytes);
    const end = this.#convert(bytes);
    this.#kept = bytes.subarray(end);
    return this.#output.finish(end);
  }

  /** Returns the bytes that were kept back. */
  end(): Uint8Array {
    const kept = this.#kept;
    this.#kept = NOTHING;
    return kept;
  }

  /** Goes on with other types, or with the same ones: then the unknown field keeps its bytes. */
  learn(shape: RecordShape): void {
    const root = layOut(shape);
    const layouts = new Map<Layout, Layout>();
    pairLayouts(this.#root, root, layouts);
    this.#frames = this.#frames.map((frame) => ({
      ...frame,
      layout: layouts.get(frame.layout) ?? frame.layout,
    }));
    this.#root = root;
  }

  /** Returns the index up to which the bytes are done. */
  #convert(bytes: Uint8Array): number {
    const { length } = bytes;
    let at = 0;
    for (;;) {
      if (this.#state === 'rest') return length;
      if (this.#state === 'skipped') {
        at = this.#skipper.skip(bytes, at);
        if (!this.#skipper.isDone) return length;
        this.#state = 'next';
      }
      const next = this.#step(bytes, at);
      if (next === INCOMPLETE) return at;
      if (next === DIFFERENT) this.#state = 'rest';
      else at = next;
    }
  }

  #step(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    const frame = this.#frames.at(-1);
    switch (this.#state) {
      case 'root':
        return this.#enterRoot(bytes, start);
      case 'value':
        return this.#convertValue(bytes, start);
      case 'first member':
        return this.#readMember(bytes, start, frame!);
      case 'next': {
        if (frame === undefined) return DIFFERENT;
        if (frame.kind === 'list') break;
        const known = frame.kind === 'record' ? this.#convertKnown(bytes, start, frame) : start;
        return known === start ? this.#readMember(bytes, start, frame) : known;
      }
    }
    const at = skipWhiteSpace(bytes, start, length);
    if (at === length) return this.#waitFor(bytes, start);
    const byte = bytes[at];
    if (byte === CLOSE_ARRAY && this.#state !== 'element') return this.#leave(at);
    if (this.#state === 'next') {
      this.#state = 'element';
      return byte === COMMA ? at + 1 : DIFFERENT;
    }
    if (byte !== OPEN_OBJECT) return this.#skipValue(at);
    if (this.#recordEnd >= 0 && at - this.#recordEnd < TURN_BYTES_MAX)
      frame!.layout.turn = Uint8Array.from(bytes.subarray(this.#recordEnd, at + 1));
    return this.#enter('record', frame!.layout, at);
  }

  /**
   * Converts members that are where they were in the record before, up to the first one that needs more care. Most
   * bytes of a result pass here.
   */
  #convertKnown(bytes: Uint8Array, start: number, frame: Frame): number {
    const { slots, turn } = frame.layout;
    let { count } = frame;
    let at = start;
    for (;;) {
      if (turn !== null && bytes[at] === CLOSE_OBJECT && isTextAt(bytes, at, turn)) {
        at += turn.length;
        count = 0;
      }
      const slot = slots[count];
      if (slot === undefined || !isTextAt(bytes, at, slot.text)) break;
      const valueStart = at + slot.text.length;
      const end = this.#convertShort(bytes, valueStart, slot.treatment);
      if (end < 0) break;
      at = end;
      count++;
    }
    // In a record that has begun, no member before the first name was passed.
    if (count === 0 && at !== start) this.#state = 'first member';
    frame.count = count;
    return at;
  }

  /** The end of the value, which is converted; negative if it needs more care. */
  #convertShort(bytes: Uint8Array, start: number, treatment: Treatment): number {
    switch (bytes[start]) {
      case QUOTE:
        if (treatment === 'datetime') return this.#convertDatetime(bytes, start);
        return treatment === 'reference' ? DIFFERENT : findStringEnd(bytes, start);
      case LOWER_F:
        return treatment === 'keep' ? findScalarEnd(bytes, start) : this.#convertFalse(bytes, start);
      case OPEN_ARRAY:
        if (treatment === 'many2one') return this.#convertPair(bytes, start);
        return treatment === 'records' ? DIFFERENT : findFlatEnd(bytes, start);
      case OPEN_OBJECT:
        return DIFFERENT;
      default:
        return findScalarEnd(bytes, start);
    }
  }

  #enterRoot(bytes: Uint8Array, start: number): number {
    const at = skipWhiteSpace(bytes, start, bytes.length);
    if (at === bytes.length) return this.#waitFor(bytes, start);
    if (bytes[at] === OPEN_ARRAY) return this.#enter('list', this.#root, at);
    const isPage = bytes[at] === OPEN_OBJECT && this.#form === 'page';
    return isPage ? this.#enter('page', this.#root, at) : DIFFERENT;
  }

  #enter(kind: Frame['kind'], layout: Layout, at: number): number {
    this.#frames.push({ kind, layout, count: 0 });
    this.#state = kind === 'list' ? 'first element' : 'first member';
    return at + 1;
  }

  #leave(at: number): number {
    if (this.#frames.pop()?.kind === 'record') this.#recordEnd = at;
    this.#state = this.#frames.length === 0 ? 'rest' : 'next';
    return at + 1;
  }

  #skipValue(at: number): number {
    this.#skipper.begin();
    this.#state = 'skipped';
    return at;
  }

  /** Reads the end of the record, or a member up to its value, with the comma before it. */
  #readMember(bytes: Uint8Array, start: number, frame: Frame): number {
    const { layout, count } = frame;
    const { length } = bytes;
    const slot = frame.kind === 'record' ? layout.slots[count] : undefined;
    if (slot !== undefined && isTextAt(bytes, start, slot.text)) {
      frame.count++;
      this.#slot = slot;
      this.#state = 'value';
      return start + slot.text.length;
    }
    let at = skipWhiteSpace(bytes, start, length);
    if (at === length) return this.#waitFor(bytes, start);
    const isFirst = this.#state === 'first member';
    if (bytes[at] === CLOSE_OBJECT) return this.#leave(at);
    if (!isFirst) {
      if (bytes[at] !== COMMA) return DIFFERENT;
      at = skipWhiteSpace(bytes, at + 1, length);
      if (at === length) return this.#waitFor(bytes, start);
    }
    if (bytes[at] !== QUOTE) return DIFFERENT;
    const nameEnd = findStringEnd(bytes, at);
    if (nameEnd === INCOMPLETE) return this.#waitFor(bytes, start);
    const colon = skipWhiteSpace(bytes, nameEnd, length);
    const valueStart = skipWhiteSpace(bytes, colon + 1, length);
    if (valueStart >= length) return this.#waitFor(bytes, start);
    if (bytes[colon] !== COLON || valueStart - start > KEPT_BYTES_MAX) return DIFFERENT;
    const found = this.#findSlot(bytes, { start: at, end: nameEnd }, frame);
    if (found === null) return INCOMPLETE;
    this.#slot = { ...found, text: Uint8Array.from(bytes.subarray(start, valueStart)) };
    if (frame.kind === 'record' && count < SLOTS_MAX) layout.slots[count] = this.#slot;
    frame.count++;
    this.#state = 'value';
    return valueStart;
  }

  /** Waits for more bytes of a token, unless it is too long. */
  #waitFor(bytes: Uint8Array, start: number): number {
    return bytes.length - start > KEPT_BYTES_MAX ? DIFFERENT : INCOMPLETE;
  }

  /** Null if the field is unknown and was not asked for. */
  #findSlot(
    bytes: Uint8Array,
    range: { start: number; end: number },
    { kind, layout }: Frame,
  ): Omit<Slot, 'text'> | null {
    const name = readName(bytes, range);
    if (kind === 'page') {
      return name === 'records' ? { treatment: 'records', nested: layout } : KEEP;
    }
    if (name === null) return KEEP;
    const { model, types } = layout.shape;
    const type = types.get(name);
    if (type !== undefined) {
      const nested = layout.nested.get(name) ?? null;
      return { treatment: findTreatment(type, nested), nested };
    }
    const asked = `${model} ${name}`;
    if (this.#asked.has(asked) || this.#asked.size === SLOTS_MAX) return KEEP;
    this.#asked.add(asked);
    this.unknown = { model, name };
    return null;
  }

  #convertValue(bytes: Uint8Array, start: number): number {
    const { treatment, nested } = this.#slot!;
    const at = skipWhiteSpace(bytes, start, bytes.length);
    if (at === bytes.length) return this.#waitFor(bytes, start);
    if (treatment === 'keep') return this.#skipValue(at);
    const first = bytes[at];
    let end = DIFFERENT;
    if (first === LOWER_F) end = treatment === 'records' ? DIFFERENT : this.#convertFalse(bytes, at);
    else if (first === QUOTE && treatment === 'datetime') end = this.#convertDatetime(bytes, at);
    else if (first === QUOTE && treatment === 'reference') end = this.#convertReference(bytes, at);
    else if (first === OPEN_ARRAY && treatment === 'many2one') end = this.#convertPair(bytes, at);
    else if (first === OPEN_ARRAY && nested !== null && treatment === 'records')
      return this.#enter('list', nested, at);
    else if (first === OPEN_OBJECT && nested !== null) return this.#enter('record', nested, at);
    if (end === INCOMPLETE && bytes.length - at <= KEPT_BYTES_MAX) return INCOMPLETE;
    if (end < 0) return this.#skipValue(at);
    this.#state = 'next';
    return end;
  }

  #convertFalse(bytes: Uint8Array, start: number): number {
    const end = start + FALSE.length;
    if (end > bytes.length) return INCOMPLETE;
    if (!isTextAt(bytes, start, FALSE)) return DIFFERENT;
    this.#output.replace(start, end);
    this.#output.addText(NULL);
    return end;
  }

  /** `"2026-10-21 01:31:00"` becomes `"2026-10-21T01:31:00Z"`. */
  #convertDatetime(bytes: Uint8Array, start: number): number {
    const end = start + DATETIME.length;
    for (let at = start, index = 0; at < end; at++, index++) {
      if (at >= bytes.length) return INCOMPLETE;
      const byte = bytes[at]!;
      const expected = DATETIME[index]!;
      const isExpected = expected === ZERO ? byte >= ZERO && byte <= NINE : byte === expected;
      if (!isExpected) return DIFFERENT;
    }
    this.#output.replace(start, end);
    this.#output.addRange(start, start + DATE_END);
    this.#output.addText(TIME);
    this.#output.addRange(start + DATE_END + 1, end - 1);
    this.#output.addText(ZONE);
    return end;
  }

  /** `"res.partner,3"` becomes `{"model": "res.partner", "id": 3}`. */
  #convertReference(bytes: Uint8Array, start: number): number {
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
  #convertPair(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    const idStart = skipWhiteSpace(bytes, start + 1, length);
    const idEnd = skipDigits(bytes, idStart);
    const comma = skipWhiteSpace(bytes, idEnd, length);
    if (comma === length) return INCOMPLETE;
    if (bytes[comma] !== COMMA || !isWholeNumber(bytes, idStart, idEnd)) return DIFFERENT;
    const nameStart = skipWhiteSpace(bytes, comma + 1, length);
    if (nameStart === length) return INCOMPLETE;
    const isText = bytes[nameStart] === QUOTE;
    const nameEnd = isText ? findStringEnd(bytes, nameStart) : findWordEnd(bytes, nameStart);
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

/** Bytes of numbers and words. */
const SCALAR = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[-+.0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
/** Longest white space between two records that is recognised. */
const TURN_BYTES_MAX = 16;

const KEEP: Omit<Slot, 'text'> = { treatment: 'keep', nested: null };

function layOut(shape: RecordShape): Layout {
  const nested = new Map([...shape.nested].map(([name, below]) => [name, layOut(below)] as const));
  return { shape, slots: [], turn: null, nested };
}

/** Finds the layout that replaces each layout of a tree. */
function pairLayouts(before: Layout, after: Layout, pairs: Map<Layout, Layout>): void {
  pairs.set(before, after);
  for (const [name, layout] of before.nested) {
    const next = after.nested.get(name);
    if (next !== undefined) pairLayouts(layout, next, pairs);
  }
}

function findTreatment({ type }: FieldType, nested: Layout | null): Treatment {
  switch (type) {
    case 'boolean':
      return 'keep';
    case 'many2one':
    case 'reference':
    case 'datetime':
      return type;
    case 'one2many':
    case 'many2many':
      return nested === null ? 'empty' : 'records';
    default:
      return 'empty';
  }
}

function isTextAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  const { length } = text;
  if (start + length > bytes.length) return false;
  for (let index = 0; index < length; index++) if (bytes[start + index] !== text[index]) return false;
  return true;
}

/** Null if the name is not UTF-8 or has a wrong escape. */
function readName(bytes: Uint8Array, range: { start: number; end: number }): string | null {
  try {
    return decodeString(bytes, range);
  } catch {
    return null;
  }
}

/** `start` is the index of the opening quote. Unlike skipString, tells that the closing one is missing. */
function findStringEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return INCOMPLETE;
}

/** The end of `false` or `null`: a record without a name. */
function findWordEnd(bytes: Uint8Array, start: number): number {
  const word = bytes[start] === LOWER_N ? NULL : FALSE;
  if (isTextAt(bytes, start, word)) return start + word.length;
  return bytes.length - start < word.length ? INCOMPLETE : DIFFERENT;
}

/** The end of a number or a word, which may go on after the last byte. */
function findScalarEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length && SCALAR[bytes[at]!] === 1) at++;
  return at === start || at === length ? DIFFERENT : at;
}

/** The end of an array of numbers and words. */
function findFlatEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length && (SCALAR[bytes[at]!] === 1 || bytes[at] === COMMA || bytes[at] === SPACE)) at++;
  return bytes[at] === CLOSE_ARRAY ? at + 1 : DIFFERENT;
}

function skipDigits(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  if (at < length && bytes[at] === MINUS) at++;
  while (at < length && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  return at;
}

/** Whether the digits are an integer of JSON. */
function isWholeNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  return first < end && (bytes[first] !== ZERO || end === first + 1);
}

function isModelByte(byte: number): boolean {
  if (byte === DOT || byte === UNDERSCORE || (byte >= ZERO && byte <= NINE)) return true;
  const letter = byte | LOWER_CASE;
  return letter >= LOWER_A && letter <= LOWER_Z;
}

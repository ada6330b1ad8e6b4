/**
 * Converts the values of a result while its bytes pass, by the types of their fields (docs/values.md#reading). It keeps
 * at most one name or one short value. Bytes that are not what the type lets expect stay as they are, and so does all
 * that follows if the result is not JSON.
 */
import { skipWhiteSpace } from '../../json/scan.ts';
import { decodeString } from '../../json/string.ts';
import { Output } from './output.ts';
import { PackedText } from './packed-text.ts';
import {
  findTreatment,
  type Layout,
  layOut,
  pairLayouts,
  type Slot,
  type Treatment,
} from './record-layout.ts';
import type { RecordShape, ResultForm } from './record-shape.ts';
import { ValueSkipper } from './skip-stream.ts';
import { KEPT_BYTES_MAX, ValueConverter } from './value-converter.ts';
import { DIFFERENT, findFlatEnd, findScalarEnd, findStringEnd, INCOMPLETE } from './value-ends.ts';

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const LOWER_F = 0x66;

/** Bytes of a piece that are joined with the kept ones of the piece before it. */
const JOINED_BYTES = 1024;
/** Names of a record that are recognised by their position. */
const SLOTS_MAX = 1000;
/** Longest white space between two records that is recognised. */
const TURN_BYTES_MAX = 16;
const NOTHING = Buffer.alloc(0);
const KEEP: Omit<Slot, 'text'> = { treatment: 'keep', nested: null };

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
  readonly #values = new ValueConverter(this.#output);
  readonly #skipper = new ValueSkipper();
  readonly #form: ResultForm;
  #root: Layout;
  #frames: Frame[] = [];
  #state: State = 'root';
  /** The member whose value comes next. */
  #slot: Slot | null = null;
  /** A view of the current bytes. */
  #view: DataView = new DataView(NOTHING.buffer, 0, 0);
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

  /** Converts the next bytes of the result. Returns what is known of the output. */
  push(piece: Uint8Array): Uint8Array {
    this.unknown = null;
    const rest = this.#convertCut(piece);
    const end = this.unknown === null ? this.#convertInput(rest) : 0;
    this.#kept = rest.subarray(end);
    return this.#output.finish();
  }

  /**
   * Converts the bytes around the cut between the kept ones and the piece, and returns the rest. Only these are joined:
   * a copy of each piece would cost as much as its conversion.
   */
  #convertCut(piece: Uint8Array): Uint8Array {
    const kept = this.#kept;
    if (kept.length === 0) return piece;
    if (piece.length <= JOINED_BYTES) return Buffer.concat([kept, piece]);
    const joined = Buffer.concat([kept, piece.subarray(0, JOINED_BYTES)]);
    const end = this.#convertInput(joined);
    return end >= kept.length
      ? piece.subarray(end - kept.length)
      : Buffer.concat([joined.subarray(end), piece.subarray(JOINED_BYTES)]);
  }

  /** Returns the index up to which the bytes are converted. */
  #convertInput(bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = view;
    this.#recordEnd = -1;
    this.#output.begin(bytes, view);
    this.#values.begin(bytes, view);
    const end = this.#convert(bytes);
    this.#output.end(end);
    return end;
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
      frame!.layout.turn = packRange(bytes, this.#recordEnd, at + 1);
    return this.#enter('record', frame!.layout, at);
  }

  /**
   * Converts members that are where they were in the record before, up to the first one that needs more care. Most
   * bytes of a result pass here.
   */
  #convertKnown(bytes: Uint8Array, start: number, frame: Frame): number {
    const { slots, turn } = frame.layout;
    const view = this.#view;
    const { length } = bytes;
    let { count } = frame;
    let at = start;
    for (;;) {
      if (turn !== null && at < length && bytes[at] === CLOSE_OBJECT && turn.isAt(view, at)) {
        at += turn.length;
        count = 0;
      }
      const slot = slots[count];
      if (slot === undefined || !slot.text.isAt(view, at)) break;
      const valueStart = at + slot.text.length;
      if (valueStart === length) break;
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

  /** The end of the value, which is converted; negative if it needs more care. Its first byte has arrived. */
  #convertShort(bytes: Uint8Array, start: number, treatment: Treatment): number {
    switch (bytes[start]) {
      case QUOTE:
        if (treatment === 'datetime') return this.#values.convertDatetime(start);
        return treatment === 'reference' ? DIFFERENT : findStringEnd(bytes, this.#view, start);
      case LOWER_F:
        return treatment === 'keep' ? findScalarEnd(bytes, start) : this.#values.convertFalse(start);
      case OPEN_ARRAY:
        if (treatment === 'many2one') return this.#values.convertPair(start);
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
    if (slot?.text.isAt(this.#view, start)) {
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
    const nameEnd = findStringEnd(bytes, this.#view, at);
    if (nameEnd === INCOMPLETE) return this.#waitFor(bytes, start);
    const colon = skipWhiteSpace(bytes, nameEnd, length);
    const valueStart = skipWhiteSpace(bytes, colon + 1, length);
    if (valueStart >= length) return this.#waitFor(bytes, start);
    if (bytes[colon] !== COLON || valueStart - start > KEPT_BYTES_MAX) return DIFFERENT;
    const found = this.#findSlot(bytes, { start: at, end: nameEnd }, frame);
    if (found === null) return INCOMPLETE;
    this.#slot = { ...found, text: packRange(bytes, start, valueStart) };
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
    if (first === LOWER_F) end = treatment === 'records' ? DIFFERENT : this.#values.convertFalse(at);
    else if (first === QUOTE && treatment === 'datetime') end = this.#values.convertDatetime(at);
    else if (first === QUOTE && treatment === 'reference') end = this.#values.convertReference(at);
    else if (first === OPEN_ARRAY && treatment === 'many2one') end = this.#values.convertPair(at);
    else if (first === OPEN_ARRAY && nested !== null && treatment === 'records')
      return this.#enter('list', nested, at);
    else if (first === OPEN_OBJECT && nested !== null) return this.#enter('record', nested, at);
    if (end === INCOMPLETE && bytes.length - at <= KEPT_BYTES_MAX) return INCOMPLETE;
    if (end < 0) return this.#skipValue(at);
    this.#state = 'next';
    return end;
  }
}

/** Null if the name is not UTF-8 or has a wrong escape. */
function readName(bytes: Uint8Array, range: { start: number; end: number }): string | null {
  try {
    return decodeString(bytes, range);
  } catch {
    return null;
  }
}

function packRange(bytes: Uint8Array, start: number, end: number): PackedText {
  return new PackedText(Uint8Array.from(bytes.subarray(start, end)));
}

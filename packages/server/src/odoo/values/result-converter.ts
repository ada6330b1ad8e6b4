/**
 * Converts the values of a result while its bytes pass, by the types of their fields (docs/values.md#reading). It keeps
 * at most one name or one short value. Bytes that are not what the type lets expect stay as they are, and so does all
 * that follows if the result is not JSON.
 *
 * Each member is read here the first time, unless a result before had it (known-layouts.ts). The plan of its layout
 * then lets the conversion memory convert it in the following records. It stops at the first member that differs from
 * it or needs more care.
 */
import { skipWhiteSpace } from '../../json/scan.ts';
import { decodeString } from '../../json/string.ts';
import { copyLent, type LentPiece, own } from '../../streams/lent-piece.ts';
import { type ConversionMemory, INPUT_BYTES, shareConversionMemory } from './conversion-memory.ts';
import type { FieldTypes } from './field-types.ts';
import { Output } from './output.ts';
import { findTreatment, type Layout, layOut, pairLayouts, type Slot } from './record-layout.ts';
import type { RecordShape, ResultForm } from './record-shape.ts';
import { ValueSkipper } from './skip-stream.ts';
import { KEPT_BYTES_MAX, ValueConverter } from './value-converter.ts';
import { DIFFERENT, findStringEnd, findTextEnd, INCOMPLETE } from './value-ends.ts';

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const LOWER_F = 0x66;

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
  /** The types that lack it. */
  types: FieldTypes;
}

export class ResultConverter {
  readonly #memory: ConversionMemory;
  readonly #output: Output;
  readonly #values: ValueConverter;
  readonly #skipper = new ValueSkipper();
  readonly #form: ResultForm;
  #root: Layout;
  /** False if a record has other members than the layout, or a field whose type is not known. */
  #isLayoutWhole = true;
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

  constructor(shape: RecordShape, form: ResultForm, memory = shareConversionMemory()) {
    this.#memory = memory;
    this.#output = new Output(memory);
    this.#values = new ValueConverter(this.#output);
    this.#form = form;
    this.#root = memory.layouts.take(shape);
  }

  /** Converts the next bytes of the result. Returns what is known of the output. */
  push(piece: Uint8Array): LentPiece {
    this.unknown = null;
    const kept = this.#kept;
    const start = kept.length === 0 ? this.#pass(piece) : 0;
    if (kept.length === 0 && start === piece.length) return own(piece);
    const length = kept.length + piece.length;
    if (length > INPUT_BYTES) return this.#convertLong(Buffer.concat([kept, piece]), start);
    this.#memory.input.set(kept);
    this.#memory.input.set(piece, kept.length);
    return this.#convertInput(length, start);
  }

  /** Returns the number of bytes that need no conversion: the rest of a long value, or all. */
  #pass(piece: Uint8Array): number {
    if (this.#state === 'rest') return piece.length;
    if (this.#state !== 'skipped') return 0;
    const end = this.#skipper.skip(piece, 0);
    if (this.#skipper.isDone) this.#state = 'next';
    return end;
  }

  /** Converts bytes that do not fit into the memory. Those before `start` stay as they are. */
  #convertLong(bytes: Uint8Array, start: number): LentPiece {
    const converted = [bytes.subarray(0, start)];
    let at = start;
    while (at < bytes.length && this.unknown === null) {
      const slice = bytes.subarray(at, at + INPUT_BYTES);
      this.#memory.input.set(slice);
      converted.push(copyLent(this.#convertInput(slice.length, 0)));
      at += slice.length - this.#kept.length;
      if (slice.length === this.#kept.length) break;
    }
    this.#kept = bytes.subarray(at);
    return own(Buffer.concat(converted));
  }

  /**
   * Converts the bytes in the memory from `start` on, and keeps those that need more bytes after them. Those before
   * `start` stay as they are.
   */
  #convertInput(length: number, start: number): LentPiece {
    const bytes = this.#memory.input.subarray(0, length);
    this.#recordEnd = -1;
    this.#output.begin();
    this.#values.begin(bytes);
    const end = this.#convert(bytes, start);
    this.#kept = end === length ? NOTHING : Buffer.from(bytes.subarray(end));
    return this.#output.finish(end);
  }

  /** Returns the bytes that were kept back. */
  end(): Uint8Array {
    const kept = this.#kept;
    this.#kept = NOTHING;
    if (this.#isLayoutWhole && this.#frames.length === 0) this.#memory.layouts.giveBack(this.#root);
    this.#isLayoutWhole = false;
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
  #convert(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let at = start;
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
        const known = frame.kind === 'record' ? this.#convertKnown(start, length, frame) : start;
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
      frame!.layout.plan.setTurn(bytes.slice(this.#recordEnd, at + 1));
    return this.#enter('record', frame!.layout, at);
  }

  /** Converts members that are where they were in the record before. Most bytes of a result pass here. */
  #convertKnown(start: number, end: number, frame: Frame): number {
    const { plan } = frame.layout;
    if (!this.#memory.hasCode || !plan.covers(frame.count)) return start;
    this.#output.replace(start, start);
    const range = { start, end, outputBytes: this.#output.length };
    const isInList = this.#frames.at(-2)?.kind === 'list';
    const at = this.#memory.convertMembers(plan, range, frame.count, isInList);
    this.#output.skip(at, this.#memory.outputBytes);
    frame.count = this.#memory.memberIndex;
    return at;
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
    const frame = this.#frames.pop();
    if (frame?.kind === 'record') {
      this.#recordEnd = at;
      if (frame.count !== frame.layout.slots.length) this.#isLayoutWhole = false;
    }
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
    const known = frame.kind === 'record' ? layout.slots[count] : undefined;
    if (known !== undefined && findTextEnd(bytes, start, known.text) > 0) {
      frame.count++;
      this.#slot = known;
      this.#state = 'value';
      return start + known.text.length;
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
    const slot = { ...found, text: bytes.slice(start, valueStart) };
    this.#slot = slot;
    if (frame.kind === 'record' && count < SLOTS_MAX) {
      layout.slots[count] = slot;
      layout.plan.setMember(count, slot);
    }
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
    this.unknown = { model, name, types };
    this.#isLayoutWhole = false;
    return null;
  }

  /** Whether the value that comes next is the list of the records of a page, which is not a field. */
  get #isRecordsOfPage(): boolean {
    return this.#frames.at(-1)?.kind === 'page';
  }

  #convertValue(bytes: Uint8Array, start: number): number {
    const { treatment, nested } = this.#slot!;
    const at = skipWhiteSpace(bytes, start, bytes.length);
    if (at === bytes.length) return this.#waitFor(bytes, start);
    if (treatment === 'keep') return this.#skipValue(at);
    const first = bytes[at];
    let end = DIFFERENT;
    if (first === LOWER_F) end = this.#isRecordsOfPage ? DIFFERENT : this.#values.convertFalse(at);
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

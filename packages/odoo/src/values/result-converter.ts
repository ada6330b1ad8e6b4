/**
 * Converts the values of a result while its bytes arrive, by the types of their fields (docs/values.md#reading). Each
 * byte is read as one character (Latin-1), so that no other byte changes. The converter keeps at most one name and one
 * short value. Values that do not match the type of their field stay as they are, and so does everything after a place
 * where the result is not JSON.
 */
import type { FieldTypes } from './field-types.ts';
import { READ_FORMS, type ReadForm, STRING } from './read-values.ts';
import type { RecordShape, ResultForm } from './record-shape.ts';
import { ValueSkipper } from './value-skipper.ts';

/**
 * Maximum length of a name or value that is kept. A longer name ends the conversion, and a longer value is not
 * converted.
 */
const KEPT_BYTES_MAX = 8 * 1024;
/** Maximum number of members of a record that are recognised by position, and of unknown fields that are asked for. */
const MEMBERS_MAX = 1000;
const INCOMPLETE = -1;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);

// Each pattern matches what comes before a value, or the end of the list or record.
const RESULT = /\s*(?=\S)/y;
const FIRST_ELEMENT = /\s*(?:(\])|(?=\S))/y;
const ELEMENT = /\s*(?:(\])|,\s*(?=\S))/y;
const FIRST_MEMBER = new RegExp(String.raw`\s*(?:(\})|(${STRING})\s*:\s*(?=\S))`, 'y');
const MEMBER = new RegExp(String.raw`\s*(?:(\})|,\s*(${STRING})\s*:\s*(?=\S))`, 'y');

/** A member of a record. */
interface Member {
  /** The text from the end of the previous value to this member's value. */
  head: string;
  /** Whether `false` is a value of the field. If not, it means that there is no value. */
  keepsFalse: boolean;
  form: ReadForm | null;
  /** The shape of the records in the value, if they are part of the result. */
  nested: RecordShape | null;
}

const KEPT = { keepsFalse: true, form: null, nested: null } as const;

interface Frame {
  kind: 'list' | 'record' | 'page';
  shape: RecordShape;
  /** The members of the records of this shape by their position, as the last record had them. */
  members: Member[];
  /** The number of elements or members so far. */
  count: number;
}

/** A field that the shape of its record does not have. */
export interface UnknownField {
  model: string;
  name: string;
  /** The fields of the model, which do not include the unknown field. */
  types: FieldTypes;
}

export class ResultConverter {
  readonly #shape: RecordShape;
  readonly #form: ResultForm;
  readonly #frames: Frame[] = [];
  readonly #members = new Map<RecordShape, Member[]>();
  readonly #asked = new Set<string>();
  readonly #skipper = new ValueSkipper();
  /** True: the rest of the result stays as it is. */
  #isPassing = false;
  #kept: Uint8Array = NOTHING;
  /** The converted output, and the index of the text up to which it is converted. */
  #output = '';
  #taken = 0;
  /**
   * Set if the converter has stopped at a field that the shape lacks. {@link learn} makes it go on. Null at the end of
   * any other {@link push}.
   */
  unknown: UnknownField | null = null;

  constructor(shape: RecordShape, form: ResultForm) {
    this.#shape = shape;
    this.#form = form;
  }

  /** Converts the next bytes of the result. Returns the part of the output that is certain. */
  push(piece: Uint8Array): Uint8Array {
    const bytes = Buffer.concat([this.#kept, piece]);
    const text = bytes.toString('latin1');
    this.unknown = null;
    this.#output = '';
    this.#taken = 0;
    const end = this.#convert(text);
    this.#kept = Buffer.from(bytes.subarray(end));
    if (this.#taken === 0) return bytes.subarray(0, end);
    return Buffer.from(this.#output + text.slice(this.#taken, end), 'latin1');
  }

  /** Returns the bytes that were kept back. */
  end(): Uint8Array {
    const kept = this.#kept;
    this.#kept = NOTHING;
    return kept;
  }

  /** Goes on with the present types of the shape. A field that they still lack keeps its bytes. */
  learn(): Uint8Array {
    for (const members of this.#members.values()) members.length = 0;
    return this.push(NOTHING);
  }

  /** Returns the index up to which the text is converted. */
  #convert(text: string): number {
    let at = 0;
    for (;;) {
      if (this.#isPassing) return text.length;
      if (!this.#skipper.isDone) {
        at = this.#skipper.skip(text, at);
        if (!this.#skipper.isDone) return at;
      }
      const next = this.#step(text, at);
      if (next !== INCOMPLETE) at = next;
      else if (this.unknown !== null || text.length - at <= 2 * KEPT_BYTES_MAX) return at;
      else this.#isPassing = true;
    }
  }

  /** Returns the index after the part that was read, or INCOMPLETE if the part is not complete, or no JSON. */
  #step(text: string, start: number): number {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return this.#readResult(text, start);
    return frame.kind === 'list'
      ? this.#readElement(text, start, frame)
      : this.#readMember(text, start, frame);
  }

  #readResult(text: string, start: number): number {
    const found = match(RESULT, text, start);
    if (found === null) return INCOMPLETE;
    const at = start + found[0].length;
    if (text[at] === '[') return this.#enter('list', this.#shape, at);
    if (text[at] === '{' && this.#form === 'page') return this.#enter('page', this.#shape, at);
    this.#isPassing = true;
    return at;
  }

  #enter(kind: Frame['kind'], shape: RecordShape, at: number): number {
    const members = this.#members.get(shape) ?? [];
    this.#members.set(shape, members);
    this.#frames.push({ kind, shape, members: kind === 'page' ? [] : members, count: 0 });
    return at + 1;
  }

  #leave(at: number): number {
    this.#frames.pop();
    this.#isPassing = this.#frames.length === 0;
    return at;
  }

  #readElement(text: string, start: number, frame: Frame): number {
    const found = match(frame.count === 0 ? FIRST_ELEMENT : ELEMENT, text, start);
    if (found === null) return INCOMPLETE;
    const at = start + found[0].length;
    if (found[1] !== undefined) return this.#leave(at);
    frame.count++;
    if (text[at] === '{') return this.#enter('record', frame.shape, at);
    this.#skipper.begin();
    return at;
  }

  /** Reads a member, up to the beginning of a nested value, or the end of the record. */
  #readMember(text: string, start: number, frame: Frame): number {
    let member = frame.members[frame.count];
    if (member === undefined || !isBefore(text, start, member.head)) {
      const found = match(frame.count === 0 ? FIRST_MEMBER : MEMBER, text, start);
      if (found === null) return INCOMPLETE;
      const [head, close, name] = found;
      if (close !== undefined) return this.#leave(start + head.length);
      if (head.length > KEPT_BYTES_MAX) {
        this.#isPassing = true;
        return start;
      }
      const described = this.#describe(name!, frame);
      if (described === null) return INCOMPLETE;
      // A copy: a part of the text would keep all of it in memory.
      member = { ...described, head: Buffer.from(head, 'latin1').toString('latin1') };
      if (frame.count < MEMBERS_MAX) frame.members[frame.count] = member;
    }
    const end = this.#convertValue(text, start + member.head.length, member);
    if (end !== INCOMPLETE) frame.count++;
    return end;
  }

  /** Null if the field is unknown and was not asked for. */
  #describe(quoted: string, { kind, shape }: Frame): Omit<Member, 'head'> | null {
    const name = readName(quoted);
    if (name === null) return KEPT;
    if (kind === 'page') return name === 'records' ? { ...KEPT, nested: shape } : KEPT;
    const { model, types } = shape;
    const type = types.get(name)?.type;
    if (type !== undefined)
      return {
        keepsFalse: type === 'boolean',
        form: READ_FORMS.get(type) ?? null,
        nested: shape.nested.get(name) ?? null,
      };
    const asked = `${model} ${name}`;
    if (this.#asked.has(asked) || this.#asked.size === MEMBERS_MAX) return KEPT;
    this.#asked.add(asked);
    this.unknown = { model, name, types };
    return null;
  }

  #convertValue(text: string, start: number, { keepsFalse, form, nested }: Member): number {
    const isFalse = !keepsFalse && text[start] === 'f';
    if (isFalse && text.startsWith('false', start)) return this.#replace(text, start, 'false'.length, 'null');
    const found = form === null ? null : match(form.pattern, text, start);
    if (found !== null && found[0].length <= KEPT_BYTES_MAX)
      return this.#replace(text, start, found[0].length, form!.print(found));
    if (nested !== null && text[start] === '{') return this.#enter('record', nested, start);
    if (nested !== null && text[start] === '[' && form === null) return this.#enter('list', nested, start);
    this.#skipper.begin();
    const end = this.#skipper.skip(text, start);
    const mayGoOn = !this.#skipper.isDone && text.length - start <= KEPT_BYTES_MAX;
    if (!mayGoOn || (form === null && !isFalse)) return end;
    this.#skipper.isDone = true;
    return INCOMPLETE;
  }

  #replace(text: string, start: number, length: number, replacement: string): number {
    this.#output += text.slice(this.#taken, start) + replacement;
    this.#taken = start + length;
    return this.#taken;
  }
}

/** Whether the head is at this index, with a value after it. */
function isBefore(text: string, start: number, head: string): boolean {
  return text.startsWith(head, start) && text.charCodeAt(start + head.length) > SPACE;
}

/** Matches the pattern at this index. */
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Null if the name has a wrong escape. */
function readName(quoted: string): string | null {
  try {
    return JSON.parse(Buffer.from(quoted, 'latin1').toString());
  } catch {
    return null;
  }
}

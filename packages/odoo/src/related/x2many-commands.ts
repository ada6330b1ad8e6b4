/**
 * Visits the x2many commands in the values of a call. It needs one pass over bytes that readDocument has already
 * checked, even for commands inside commands. Independent of the names of fields.
 */
import {
  type ByteRange,
  type JsonKind,
  type JsonSpan,
  readInteger,
  readKind,
  skipString,
  skipValue,
  skipWhiteSpace,
} from '@erp-proxy/json';

/** The names of Odoo's `Command`, by number. */
export const COMMANDS = ['create', 'update', 'delete', 'unlink', 'link', 'clear', 'set'] as const;
export const NEW = COMMANDS.indexOf('create');
export const CLEAR = COMMANDS.indexOf('clear');
const SET = COMMANDS.indexOf('set');

export interface CommandVisitor<Field> {
  /**
   * Returns the field if the commands under this name are of interest. `depth` is the number of objects around the
   * name: 1 for a member of the value itself, or of an element of an array. `within` is the field whose command has the
   * name directly among its values; null: no field of interest, or the name is deeper in its list (`depth` is then
   * {@link INSIDE}). `value` is the offset of the value.
   */
  findField(name: ByteRange, depth: number, within: Field | null, value: number): Field | null;
  /** `command` is an index of {@link COMMANDS}; null: not a command of Odoo. Returns true to end the search. */
  visit(field: Field, command: number | null): boolean;
}

const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;

const OTHER = 0;
const SCALAR = 1;
const NESTING = 2;
/** The kind of token that begins with this byte, outside strings. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if ('[]{}"'.includes(character)) return NESTING;
  return /[-0-9tfn]/.test(character) ? SCALAR : OTHER;
});

/** A list of commands that has not ended. */
interface OpenList<Field> {
  field: Field;
  /** Number of arrays and objects around its elements. */
  level: number;
  /** Whether the last opened element is a command, that is, an array. */
  isInCommand: boolean;
}

/** The depth of a name that is within a list of commands, but not directly among the values of a command. */
export const INSIDE = -1;

const NONE = -10;
/** Levels from a list of commands to the values of a command: the command, and the object in it. */
const VALUES_LEVELS = 2;
/**
 * Levels from a list of commands to the values of a command that are a list of pairs: the command, the list and the
 * pair.
 */
const PAIRED_LEVELS = 3;

/** Visits all commands within a value. True if the visitor ended the search. */
export function someCommand<Field>(
  bytes: Uint8Array,
  range: ByteRange,
  visitor: CommandVisitor<Field>,
): boolean {
  return search(bytes, range, visitor, []);
}

/** Visits all commands within a value that is itself the value of `field`. True if the visitor ended the search. */
export function someValueCommand<Field>(
  bytes: Uint8Array,
  value: JsonSpan,
  field: Field,
  visitor: CommandVisitor<Field>,
): boolean {
  if (value.kind !== 'array') return visitOther(visitor, field, value.kind);
  return search(bytes, value, visitor, [{ field, level: 1, isInCommand: false }]);
}

function search<Field>(
  bytes: Uint8Array,
  range: ByteRange,
  visitor: CommandVisitor<Field>,
  lists: OpenList<Field>[],
): boolean {
  const { end } = range;
  let list = lists.at(-1);
  let listLevel = list?.level ?? NONE;
  let level = 0;
  let objects = 0;
  /** Offset of the first element of the array that was opened last. */
  let pairStart = NONE;
  let at = range.start;
  while (at < end) {
    const byte = bytes[at]!;
    const kind = KINDS[byte];
    if (kind !== NESTING) {
      if (kind === OTHER || level !== listLevel) {
        at++;
        continue;
      }
      // An element of a list of commands that is not a command: an id, or a value that Odoo does not accept.
      const isNumber = readKind(bytes, at) === 'number';
      if (visitor.visit(list!.field, isNumber ? SET : null)) return true;
      at = skipValue(bytes, at);
    } else if (byte === QUOTE) {
      const nameEnd = skipString(bytes, at);
      const next = skipWhiteSpace(bytes, nameEnd, end);
      const valueStart = skipWhiteSpace(bytes, next + 1, end);
      const isInPair = at === pairStart && level !== listLevel && bytes[next] === COMMA;
      if (bytes[next] !== COLON && !(isInPair && isPairValue(bytes, valueStart, end))) {
        if (level === listLevel && visitor.visit(list!.field, null)) return true;
        at = nameEnd;
        continue;
      }
      const levels = bytes[next] === COLON ? VALUES_LEVELS : PAIRED_LEVELS;
      const within = level === listLevel + levels && list?.isInCommand ? list.field : null;
      const depth = list === undefined || within !== null ? objects : INSIDE;
      const field = visitor.findField({ start: at, end: nameEnd }, depth, within, valueStart);
      at = valueStart;
      if (field === null) continue;
      if (bytes[at] === OPEN_ARRAY) {
        list = { field, level: level + 1, isInCommand: false };
        lists.push(list);
        listLevel = list.level;
      } else if (visitOther(visitor, field, readKind(bytes, at))) return true;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (level === listLevel) {
        const command = byte === OPEN_ARRAY ? readCommand(bytes, at) : null;
        if (visitor.visit(list!.field, command)) return true;
        list!.isInCommand = byte === OPEN_ARRAY;
      }
      level++;
      if (byte === OPEN_OBJECT) objects++;
      at = skipWhiteSpace(bytes, at + 1, end);
      if (byte === OPEN_ARRAY) pairStart = at;
    } else {
      if (byte === CLOSE_ARRAY && level === listLevel) {
        lists.pop();
        list = lists.at(-1);
        listLevel = list?.level ?? NONE;
      }
      level--;
      if (byte === CLOSE_OBJECT) objects--;
      at++;
    }
  }
  return false;
}

/**
 * Python also converts `[["user_ids", [[5]]]]` into an object. After a name, a string or a number is more likely a
 * condition or another name, and contains no command.
 */
function isPairValue(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end) return false;
  const kind = readKind(bytes, start);
  return kind === 'array' || kind === 'object' || kind === 'null' || kind === 'false';
}

/**
 * Visits a value that is not a list: null and false clear the field, Odoo has no meaning for an object, and refuses
 * other values.
 */
function visitOther<Field>(visitor: CommandVisitor<Field>, field: Field, kind: JsonKind): boolean {
  if (kind === 'null' || kind === 'false') return visitor.visit(field, CLEAR);
  return kind === 'object' && visitor.visit(field, null);
}

/** Python treats `true` as 1. A value that is not a number counts as an unknown command. */
function readCommand(bytes: Uint8Array, array: number): number | null {
  const start = skipWhiteSpace(bytes, array + 1, bytes.length);
  const kind = readKind(bytes, start);
  if (kind !== 'number' || bytes[start] === CLOSE_ARRAY) return null;
  const code = readInteger(bytes, { kind, start, end: skipValue(bytes, start) });
  return typeof code === 'number' && COMMANDS[code] !== undefined ? code : null;
}

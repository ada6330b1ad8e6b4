/**
 * Converts the values of `create` and `write` into Odoo's form (docs/values.md#writing). All other bytes stay. The
 * caller passes the types of fields, and gets the fields whose types are missing.
 */
import { clipText } from '@erp-proxy/contract';
import {
  type ByteRange,
  decodeString,
  findDuplicate,
  findValue,
  type JsonMember,
  type JsonSpan,
  readElements,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import { readZonedTime } from '../times/zoned-time.ts';
import type { FieldType, FieldTypes } from './field-types.ts';
import { findExpectedForm, isPlainTime } from './value-forms.ts';

export type Parts = readonly (ByteRange | string)[];

/** A value that cannot be converted. */
export interface InvalidValue {
  /** Path below the values, such as `[0].line_ids.add`. */
  path: string;
  /** Says what the value must be. */
  expected: string;
}

export type WrittenValues =
  | { kind: 'converted'; parts: Parts }
  | { kind: 'unchanged' }
  | { kind: 'invalid'; value: InvalidValue }
  /** Fields whose types must be found first, by model. */
  | { kind: 'lacking'; fields: ReadonlyMap<string, ReadonlySet<string>> };

export interface KnownTypes {
  /** By model: the types of the fields that the server described. */
  types: ReadonlyMap<string, FieldTypes>;
  /** True if the server was asked for the field. It may not have described it. */
  isAsked(model: string, field: string): boolean;
}

/** `values` is one record or an array of them. Other values stay as they are. */
export function convertWrittenValues(
  bytes: Uint8Array,
  values: JsonSpan,
  model: string,
  known: KnownTypes,
): WrittenValues {
  const conversion = new Conversion(bytes, known);
  const parts =
    values.kind === 'array'
      ? conversion.convertElements(values, (row, path) => conversion.convertRow(row, model, path), '')
      : conversion.convertRow(values, model, '');
  if (conversion.invalid !== null) return { kind: 'invalid', value: conversion.invalid };
  if (conversion.lacking.size > 0) return { kind: 'lacking', fields: conversion.lacking };
  return parts === null ? { kind: 'unchanged' } : { kind: 'converted', parts };
}

/** Odoo's numbers of the commands. */
const COMMANDS: ReadonlyMap<string, number> = new Map([
  ['create', 0],
  ['update', 1],
  ['delete', 2],
  ['remove', 3],
  ['add', 4],
  ['clear', 5],
  ['set', 6],
]);
const COMMAND_FORMS =
  'a list of ids, a list of Odoo\'s commands, or an object of "set", "add", "remove", "create", "update", "delete" and "clear"';
/** `delete`, `remove` and `add`. */
const LINK_COMMANDS: ReadonlySet<number | bigint | null> = new Set([2, 3, 4]);
const MEMBERS_MAX = 10_000;
const ROW_EXPECTED = 'an object of values';

/** Each method returns null for a value that stays as it is. */
class Conversion {
  readonly #bytes: Uint8Array;
  readonly #known: KnownTypes;
  invalid: InvalidValue | null = null;
  readonly lacking = new Map<string, Set<string>>();

  constructor(bytes: Uint8Array, known: KnownTypes) {
    this.#bytes = bytes;
    this.#known = known;
  }

  convertElements(
    array: JsonSpan,
    convert: (element: JsonSpan, path: string) => Parts | null,
    path: string,
  ): Parts | null {
    const parts: (ByteRange | string)[] = [];
    let at = array.start;
    let index = 0;
    readElements(this.#bytes, array, (element) => {
      const converted = convert(element, `${path}[${index++}]`);
      if (converted === null) return this.invalid === null;
      parts.push({ start: at, end: element.start }, ...converted);
      at = element.end;
      return true;
    });
    if (parts.length === 0) return null;
    parts.push({ start: at, end: array.end });
    return parts;
  }

  convertRow(row: JsonSpan, model: string, path: string): Parts | null {
    if (row.kind !== 'object') return null;
    const parts: (ByteRange | string)[] = [];
    let at = row.start;
    for (const { name, value } of readMembers(this.#bytes, row, MEMBERS_MAX)) {
      const type = this.#findType(model, name);
      const converted = type === null ? null : this.#convertValue(value, type, joinPath(path, name));
      if (converted === null) continue;
      parts.push({ start: at, end: value.start }, ...converted);
      at = value.end;
    }
    if (parts.length === 0) return null;
    parts.push({ start: at, end: row.end });
    return parts;
  }

  #findType(model: string, name: string): FieldType | null {
    const type = this.#known.types.get(model)?.get(name);
    if (type !== undefined) return type;
    if (!this.#known.isAsked(model, name)) {
      const names = this.lacking.get(model) ?? new Set();
      this.lacking.set(model, names.add(name));
    }
    return null;
  }

  #convertValue(value: JsonSpan, { type, relation }: FieldType, path: string): Parts | null {
    if (value.kind === 'null') return ['false'];
    if (value.kind === 'false') return null;
    switch (type) {
      case 'many2one':
        return this.#convertLink(value, path);
      case 'reference':
        return value.kind === 'object'
          ? this.#convertReference(value, path)
          : this.#checkReference(value, path);
      case 'datetime':
        return this.#convertDatetime(value, path);
      case 'one2many':
      case 'many2many':
        if (value.kind === 'object') return this.#convertCommands(value, relation, path);
        return value.kind === 'array'
          ? this.#convertOwnCommands(value, relation, path)
          : this.#refuse(path, COMMAND_FORMS);
      default: {
        const expected = findExpectedForm(type, this.#bytes, value);
        return expected === null ? null : this.#refuse(path, expected);
      }
    }
  }

  /** Converts a link: an id, `{"id": 10}`, also with the name that a read returns, or `[10, "Deco Addict"]`. */
  #convertLink(value: JsonSpan, path: string): Parts | null {
    if (value.kind === 'array') return this.#convertPair(value, path);
    if (value.kind !== 'object') return this.#isId(value) ? null : this.#refuse(path, LINK_FORMS);
    const members = readMembers(this.#bytes, value, MEMBERS_MAX);
    const id = findValue(members, 'id');
    const areKnown = members.every(({ name }) => LINK_MEMBERS.has(name));
    if (id === undefined || !areKnown || findDuplicate(members) !== null)
      return this.#refuse(path, LINK_FORMS);
    if (id.kind === 'null' || id.kind === 'false') return ['false'];
    return this.#isId(id) ? [id] : this.#refuse(`${path}.id`, 'an id');
  }

  /** Converts a pair, as a read without normalized values returns it. Odoo would store no link. */
  #convertPair(value: JsonSpan, path: string): Parts | null {
    const [id, name, ...others] = this.#listFirst(value, 3);
    const isName = name !== undefined && NAME_KINDS.has(name.kind);
    const isPair = id !== undefined && this.#isId(id) && isName && others.length === 0;
    return isPair ? [id] : this.#refuse(path, LINK_FORMS);
  }

  /** The first elements of a list, at most `max`. */
  #listFirst(list: JsonSpan, max: number): JsonSpan[] {
    const elements: JsonSpan[] = [];
    readElements(this.#bytes, list, (element) => elements.push(element) < max);
    return elements;
  }

  /** Checks a reference such as `res.partner,3`, which stays as it is. */
  #checkReference(value: JsonSpan, path: string): null {
    const isShort = value.kind === 'string' && value.end - value.start <= REFERENCE_LENGTH_MAX;
    return isShort && REFERENCE.test(decodeString(this.#bytes, value))
      ? null
      : this.#refuse(path, REFERENCE_FORMS);
  }

  #convertReference(value: JsonSpan, path: string): Parts | null {
    const members = readMembers(this.#bytes, value, MEMBERS_MAX);
    const model = findValue(members, 'model');
    const id = findValue(members, 'id');
    if (members.length !== 2 || model?.kind !== 'string' || id === undefined || !this.#isId(id))
      return this.#refuse(path, REFERENCE_FORMS);
    return [JSON.stringify(`${decodeString(this.#bytes, model)},${readInteger(this.#bytes, id)}`)];
  }

  /**
   * Converts a time with a zone into UTC, without fractions of a second, which Odoo does not store. A time in Odoo's
   * own form stays.
   */
  #convertDatetime(value: JsonSpan, path: string): Parts | null {
    const isShort = value.kind === 'string' && value.end - value.start <= DATETIME_LENGTH_MAX;
    const text = isShort ? decodeString(this.#bytes, value) : '';
    const time = readZonedTime(text);
    if (typeof time === 'string') return [JSON.stringify(time)];
    return isPlainTime(text) ? null : this.#refuse(path, DATETIME_FORMS);
  }

  #convertCommands(value: JsonSpan, relation: string | null, path: string): Parts | null {
    const members = readMembers(this.#bytes, value, MEMBERS_MAX);
    if (members.some(({ name }) => !COMMANDS.has(name)) || findDuplicate(members) !== null)
      return this.#refuse(path, COMMAND_FORMS);
    const commands: (ByteRange | string)[] = [];
    for (const member of members) {
      const added = this.#convertCommand(member, relation, joinPath(path, member.name));
      if (added === null) return null;
      for (const command of added) commands.push(commands.length === 0 ? '' : ', ', ...command);
    }
    return ['[', ...commands, ']'];
  }

  /** The commands of one member; null if it is invalid. */
  #convertCommand({ name, value }: JsonMember, relation: string | null, path: string): Parts[] | null {
    const command = COMMANDS.get(name)!;
    if (name === 'clear') {
      if (value.kind === 'true') return [[`[${command}, 0, 0]`]];
      return value.kind === 'false' ? [] : this.#refuse(path, 'true');
    }
    if (value.kind !== 'array') return this.#refuse(path, 'a list');
    if (name === 'set') {
      const ids = this.#readIds(value, path);
      const list = ids?.flatMap((id, index) => (index === 0 ? [id] : [', ', id]));
      return list ? [[`[${command}, 0, [`, ...list, ']]']] : null;
    }
    if (name !== 'create' && name !== 'update')
      return this.#readIds(value, path)?.map((id) => [`[${command}, `, id, ', 0]']) ?? null;
    const commands: Parts[] = [];
    this.convertElements(
      value,
      (row, at) => {
        const built =
          name === 'create' ? this.#buildCreate(row, relation, at) : this.#buildUpdate(row, relation, at);
        if (built !== null) commands.push(built);
        return null;
      },
      path,
    );
    return this.invalid === null ? commands : null;
  }

  #buildCreate(row: JsonSpan, relation: string | null, path: string): Parts | null {
    if (row.kind !== 'object') return this.#refuse(path, ROW_EXPECTED);
    const values = (relation === null ? null : this.convertRow(row, relation, path)) ?? [row];
    return ['[0, 0, ', ...values, ']'];
  }

  /** Builds the command for `{"id": 4, …}`: the members other than `id` are the values. */
  #buildUpdate(row: JsonSpan, relation: string | null, path: string): Parts | null {
    if (row.kind !== 'object') return this.#refuse(path, ROW_EXPECTED);
    const members = readMembers(this.#bytes, row, MEMBERS_MAX);
    const ids = members.filter(({ name }) => name === 'id');
    const id = ids[0]?.value;
    if (id === undefined || ids.length > 1 || !this.#isId(id))
      return this.#refuse(path, 'an object of values with the "id" of the record');
    const values = members
      .filter(({ name }) => name !== 'id')
      .flatMap(({ name, nameStart, value }, index): Parts => {
        const type = relation === null ? null : this.#findType(relation, name);
        const converted = type === null ? null : this.#convertValue(value, type, joinPath(path, name));
        return [index === 0 ? '' : ', ', { start: nameStart, end: value.start }, ...(converted ?? [value])];
      });
    return ['[1, ', id, ', {', ...values, '}]'];
  }

  /** Odoo's own commands stay, except the values in them. So does the list of ids that a read returns. */
  #convertOwnCommands(list: JsonSpan, relation: string | null, path: string): Parts | null {
    const [first] = this.#listFirst(list, 1);
    if (first?.kind === 'number') {
      this.#readIds(list, path);
      return null;
    }
    return this.convertElements(
      list,
      (command, at) => {
        if (!this.#isCommand(command)) return this.#refuse(at, COMMAND_FORMS);
        if (relation === null) return null;
        return this.convertElements(command, (part, below) => this.convertRow(part, relation, below), at);
      },
      path,
    );
  }

  /** Odoo ignores what follows the parts that a command has. */
  #isCommand(command: JsonSpan): boolean {
    if (command.kind !== 'array') return false;
    const [number, id, content, ...others] = this.#listFirst(command, 4);
    const name = number === undefined ? null : readInteger(this.#bytes, number);
    if (others.length > 0) return false;
    switch (name) {
      case COMMANDS.get('create'):
        return id !== undefined && content?.kind === 'object';
      case COMMANDS.get('update'):
        return id !== undefined && this.#isId(id) && content?.kind === 'object';
      case COMMANDS.get('set'):
        return content?.kind === 'array' && this.#hasIds(content);
      case COMMANDS.get('clear'):
        return true;
      default:
        return LINK_COMMANDS.has(name) && id !== undefined && this.#isId(id);
    }
  }

  #hasIds(list: JsonSpan): boolean {
    let areIds = true;
    readElements(this.#bytes, list, (element) => {
      areIds = this.#isId(element);
      return areIds;
    });
    return areIds;
  }

  /** Reads a list of ids, or of objects with the member `id`. */
  #readIds(list: JsonSpan, path: string): JsonSpan[] | null {
    const ids: JsonSpan[] = [];
    readElements(this.#bytes, list, (element) => {
      const id =
        element.kind === 'object' ? findValue(readMembers(this.#bytes, element, MEMBERS_MAX), 'id') : element;
      if (id === undefined || !this.#isId(id)) this.#refuse(`${path}[${ids.length}]`, 'an id');
      else ids.push(id);
      return this.invalid === null;
    });
    return this.invalid === null ? ids : null;
  }

  /** Whether the value is an id. Odoo fails with `10.0` and `1e1`. */
  #isId(value: JsonSpan): boolean {
    const id = readInteger(this.#bytes, value);
    return id !== null && id > 0 && String(id).length === value.end - value.start;
  }

  #refuse(path: string, expected: string): null {
    this.invalid ??= { path, expected };
    return null;
  }
}

/** Kinds of values for a name in a pair. A record without a name has false in its place. */
const NAME_KINDS: ReadonlySet<JsonSpan['kind']> = new Set(['string', 'false', 'null']);
const LINK_MEMBERS: ReadonlySet<string> = new Set(['id', 'name', 'display_name']);
const LINK_FORMS = 'an id, an object with the member "id", or [10, "its name"] as a read returns it';
const REFERENCE_FORMS = 'an object of "model" and "id", or a text such as "res.partner,3"';
const DATETIME_FORMS =
  'a date and time that exist, with a zone ("2026-10-21T03:31:00+02:00") or in UTC as Odoo writes it ("2026-10-21 01:31:00")';
const DATETIME_LENGTH_MAX = 64;
const REFERENCE = /^[a-z_][\w.]*,[1-9]\d*$/i;
const REFERENCE_LENGTH_MAX = 200;
const NAME_LENGTH_MAX = 64;

function joinPath(path: string, name: string): string {
  const short = clipText(name, NAME_LENGTH_MAX);
  return path === '' ? short : `${path}.${short}`;
}

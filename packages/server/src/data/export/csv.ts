/**
 * Prints records as CSV (RFC 4180), from their JSON with normalized values. Pure. docs/export.md#csv describes the
 * cells.
 */
import { findValue, readMembers } from '../../json/members.ts';
import type { JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';

/** Programs for spreadsheets run a cell that begins so as a formula. */
const FORMULA_START = /^[=+\-@\t\r＝＋－＠]/;
/** Marks the rest of the cell as text in these programs. */
const TEXT_MARK = "'";
const SPECIAL = /[",\r\n]/;
const LINE_END = '\r\n';
/** Members of the objects that stand for related records. */
const RELATED_MEMBERS = 2;

/** The columns of an export: `id`, and its fields in their order. */
export function listColumns(fields: readonly string[]): readonly string[] {
  return ['id', ...fields.filter((field) => field !== 'id')];
}

export function printHeader(columns: readonly string[]): string {
  return columns.join() + LINE_END;
}

/** Prints a record. Throws a SyntaxError if its bytes are not JSON. */
export function printRow(bytes: Uint8Array, record: JsonSpan, columns: readonly string[]): string {
  const members = readMembers(bytes, record);
  // Odoo prints `id` first, then the fields in the order of the call.
  const cells = columns.map((column, index) => {
    const expected = members[index];
    const value = expected?.name === column ? expected.value : findValue(members, column);
    return value === undefined ? '' : printCell(bytes, value);
  });
  return cells.join() + LINE_END;
}

function printCell(bytes: Uint8Array, value: JsonSpan): string {
  switch (value.kind) {
    case 'null':
      return '';
    case 'string':
      return quoteText(decodeString(bytes, value));
    case 'object':
      return printObject(bytes, value);
    case 'array':
      return quote(readText(bytes, value));
    default:
      return readText(bytes, value);
  }
}

/** A related record is printed by its id, a reference with the model before it, and all else as JSON. */
function printObject(bytes: Uint8Array, value: JsonSpan): string {
  const members = readMembers(bytes, value, RELATED_MEMBERS + 1);
  const id = members.length === RELATED_MEMBERS ? findValue(members, 'id') : undefined;
  if (id?.kind === 'number') {
    const [name, model] = [findValue(members, 'name'), findValue(members, 'model')];
    if (name?.kind === 'string') return readText(bytes, id);
    if (model?.kind === 'string') return quoteText(`${decodeString(bytes, model)},${readText(bytes, id)}`);
  }
  return quote(readText(bytes, value));
}

/** An empty text is quoted, so that it differs from no value. */
function quoteText(text: string): string {
  return text === '' ? '""' : quote(FORMULA_START.test(text) ? TEXT_MARK + text : text);
}

function quote(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function readText(bytes: Uint8Array, { start, end }: JsonSpan): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

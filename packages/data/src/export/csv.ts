/**
 * Prints records as CSV (RFC 4180) from their JSON with normalized values. Pure. docs/export.md#csv describes the
 * cells.
 */
import {
  decodeString,
  decodeStringParts,
  findValue,
  type JsonMember,
  type JsonSpan,
  readMembers,
  viewAsBuffer,
} from '@erp-proxy/json';
import { listMembers } from '../long-values.ts';

export interface CsvForm {
  readonly delimiter: Delimiter;
  /** True to mark text that a spreadsheet program would run as a formula. */
  readonly escapesFormulas: boolean;
}

export const DELIMITERS = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof DELIMITERS)[number];

export const USUAL_FORM: CsvForm = { delimiter: ',', escapesFormulas: true };

/** A spreadsheet program runs a cell that begins with one of these as a formula. */
const FORMULA_START = /^[=+\-@\t\r＝＋－＠]/;
/** Marks the rest of the cell as text in a spreadsheet program. */
const TEXT_MARK = "'";
/** Text with one of these characters must be quoted, by delimiter. */
const SPECIAL: Readonly<Record<Delimiter, RegExp>> = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
  '|': /["|\r\n]/,
};
const LINE_END = '\r\n';
/** A longer value is printed in parts. Printing one part takes some milliseconds at most. */
const PART_BYTES = 32 * 1024;
/** Maximum members of a record beyond its columns. Odoo never sends as many. */
const OTHER_MEMBERS_MAX = 100;
/** A longer text is not the name of a model. */
const MODEL_BYTES_MAX = 200;
/** Number of members of an object that stands for a related record. */
const RELATED_MEMBERS = 2;

/** The columns of an export: `id`, then the fields in their order. */
export function listColumns(fields: readonly string[]): readonly string[] {
  return ['id', ...fields.filter((field) => field !== 'id')];
}

export function printHeader(columns: readonly string[], { delimiter }: CsvForm = USUAL_FORM): string {
  return columns.join(delimiter) + LINE_END;
}

/** Prints a record as a row. Throws a SyntaxError if its bytes are not JSON. */
export function printRow(
  bytes: Uint8Array,
  record: JsonSpan,
  columns: readonly string[],
  form: CsvForm = USUAL_FORM,
): string {
  const members = readMembers(bytes, record);
  const cells = columns.map((column, index) => {
    const value = findCell(members, column, index);
    return value === undefined ? '' : printCell(bytes, value, form);
  });
  return cells.join(form.delimiter) + LINE_END;
}

/**
 * Prints a long record in pieces, so that other calls can run between them. Long texts and nested values are quoted in
 * any case. Throws a SyntaxError if its bytes are not JSON.
 */
export async function* printLongRow(
  bytes: Uint8Array,
  record: JsonSpan,
  columns: readonly string[],
  form: CsvForm = USUAL_FORM,
): AsyncGenerator<Uint8Array, void, undefined> {
  const members = await listMembers(bytes, record, columns.length + OTHER_MEMBERS_MAX);
  let text = '';
  for (const [index, column] of columns.entries()) {
    if (index > 0) text += form.delimiter;
    const value = findCell(members, column, index);
    if (value === undefined) continue;
    const isLong = value.end - value.start > PART_BYTES;
    if (!isLong) text += printCell(bytes, value, form);
    if (isLong || text.length > PART_BYTES) {
      yield Buffer.from(text);
      text = '';
    }
    if (isLong) yield* printLongCell(bytes, value, form);
  }
  yield Buffer.from(text + LINE_END);
}

/** Looks at `index` first: Odoo prints `id`, then the fields in the order of the call. */
function findCell(members: readonly JsonMember[], column: string, index: number): JsonSpan | undefined {
  const expected = members[index];
  return expected?.name === column ? expected.value : findValue(members, column);
}

function printCell(bytes: Uint8Array, value: JsonSpan, form: CsvForm): string {
  switch (value.kind) {
    case 'null':
      return '';
    case 'string':
      return quoteText(decodeString(bytes, value), form);
    case 'object':
      return (
        printRelated(bytes, readMembers(bytes, value, RELATED_MEMBERS + 1), form) ??
        quote(readText(bytes, value), form)
      );
    case 'array':
      return quote(readText(bytes, value), form);
    default:
      return readText(bytes, value);
  }
}

async function* printLongCell(
  bytes: Uint8Array,
  value: JsonSpan,
  form: CsvForm,
): AsyncGenerator<Uint8Array, void, undefined> {
  const related =
    value.kind === 'object'
      ? printRelated(bytes, await listMembers(bytes, value, RELATED_MEMBERS + 1), form)
      : null;
  if (related !== null) {
    yield Buffer.from(related);
    return;
  }
  const isText = value.kind === 'string';
  let start = '"';
  for (const part of isText ? decodeStringParts(bytes, value, PART_BYTES) : divide(bytes, value)) {
    const begun = isText && start !== '' ? markText(part, form) : part;
    yield Buffer.from(start + begun.replaceAll('"', '""'), isText ? 'utf8' : 'latin1');
    start = '';
  }
  yield Buffer.from('"');
}

/** Prints the bytes of a value in parts, as one character for each byte. */
function* divide(bytes: Uint8Array, { start, end }: JsonSpan): Generator<string, void, undefined> {
  for (let at = start; at < end; at += PART_BYTES)
    yield viewAsBuffer(bytes).toString('latin1', at, Math.min(end, at + PART_BYTES));
}

/** Prints a related record by its id, and a reference with its model before the id. Null for another object. */
function printRelated(bytes: Uint8Array, members: readonly JsonMember[], form: CsvForm): string | null {
  const id = members.length === RELATED_MEMBERS ? findValue(members, 'id') : undefined;
  if (id?.kind !== 'number') return null;
  const [name, model] = [findValue(members, 'name'), findValue(members, 'model')];
  if (name?.kind === 'string') return readText(bytes, id);
  if (model?.kind !== 'string' || model.end - model.start > MODEL_BYTES_MAX) return null;
  return quoteText(`${decodeString(bytes, model)},${readText(bytes, id)}`, form);
}

/** Quotes an empty text, so that it differs from no value. */
function quoteText(text: string, form: CsvForm): string {
  return text === '' ? '""' : quote(markText(text, form), form);
}

function markText(text: string, { escapesFormulas }: CsvForm): string {
  return escapesFormulas && FORMULA_START.test(text) ? TEXT_MARK + text : text;
}

function quote(text: string, { delimiter }: CsvForm): string {
  return SPECIAL[delimiter].test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function readText(bytes: Uint8Array, { start, end }: JsonSpan): string {
  return viewAsBuffer(bytes).toString('utf8', start, end);
}

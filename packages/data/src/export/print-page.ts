/** Prints the records of a page in the format of the export, slice by slice. */

import type { JsonSpan } from '@erp-proxy/json';
import { type CsvForm, listColumns, printHeader, printLongRow, printRow, USUAL_FORM } from './csv.ts';
import type { ExportFormat } from './export-request.ts';
import type { Page } from './split-page.ts';

export interface Printer {
  contentType: string;
  /** The bytes before the records; null if there are none. */
  head: Uint8Array | null;
  /**
   * Prints the records from `first` on, until the slice is full. Printing, or reading the pieces, throws a SyntaxError
   * if a record is not JSON.
   */
  print(page: Page, first: number): Slice;
}

export interface Slice {
  /** The pieces to send, in their order. They may be views of the page, or printed on demand. */
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Index of the first record after this slice. */
  next: number;
}

/** Short enough that printing a slice as CSV takes some milliseconds at most. */
const SLICE_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** `hasMark`: a byte order mark precedes CSV. */
export function createPrinter(
  format: ExportFormat,
  fields: readonly string[],
  form: CsvForm = USUAL_FORM,
  hasMark = false,
): Printer {
  return format === 'csv'
    ? createCsvPrinter(listColumns(fields), form, hasMark ? BYTE_ORDER_MARK : '')
    : NDJSON;
}

/** Tells spreadsheet programs that the text is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

const NDJSON: Printer = { contentType: 'application/x-ndjson', head: null, print: copyRecords };

/** Copies each record unchanged onto a line of its own. */
function copyRecords({ bytes, bounds }: Page, first: number): Slice {
  const next = findSliceEnd(bounds, first);
  const [start, end] = [bounds[2 * first]!, bounds[2 * next - 1]!];
  if (end - start > SLICE_BYTES) return { pieces: divideRecord(bytes.subarray(start, end)), next };
  let length = 0;
  for (let index = first; index < next; index++) length += bounds[2 * index + 1]! - bounds[2 * index]! + 1;
  const lines = Buffer.allocUnsafe(length);
  let at = 0;
  for (let index = first; index < next; index++) {
    const record = bytes.subarray(bounds[2 * index], bounds[2 * index + 1]);
    lines.set(record, at);
    at += record.length;
    lines[at++] = LINE_FEED;
  }
  return { pieces: [lines], next };
}

/** Divides a long record without copying it: for a caller that reads slowly, original and copy would stay in memory. */
function divideRecord(record: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < record.length; at += SLICE_BYTES) pieces.push(record.subarray(at, at + SLICE_BYTES));
  return [...pieces, LINE_END];
}

const LINE_END = Uint8Array.of(LINE_FEED);

function createCsvPrinter(columns: readonly string[], form: CsvForm, mark: string): Printer {
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: Buffer.from(mark + printHeader(columns, form)),
    print({ bytes, bounds }, first) {
      const next = findSliceEnd(bounds, first);
      const spanOf = (index: number): JsonSpan => ({
        kind: 'object',
        start: bounds[2 * index]!,
        end: bounds[2 * index + 1]!,
      });
      const { start, end } = spanOf(first);
      if (end - start > SLICE_BYTES)
        return { pieces: printLongRow(bytes, spanOf(first), columns, form), next };
      let rows = '';
      for (let index = first; index < next; index++) rows += printRow(bytes, spanOf(index), columns, form);
      return { pieces: [Buffer.from(rows)], next };
    },
  };
}

/** The end of a slice, which has at least one record, however long. */
function findSliceEnd(bounds: readonly number[], first: number): number {
  const start = bounds[2 * first]!;
  let next = first + 1;
  while (2 * next < bounds.length && bounds[2 * next + 1]! - start <= SLICE_BYTES) next++;
  return next;
}

/**
 * Finds the records in the bytes of a page, and checks that their ids rise. Assumes nothing about the bytes, because a
 * long answer of Odoo was not parsed. Works in slices: a page of megabytes must not keep other callers waiting.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { findValue, readInteger, skipWhiteSpace } from '@erp-proxy/json';
import { findEnd, listMembers } from '../long-values.ts';
import { replaceLineBreaks } from '../replace-line-breaks.ts';

export interface Page {
  /** The result of the call. Line breaks between tokens are replaced by spaces. */
  readonly bytes: Uint8Array;
  /** Start and end of each record, as two consecutive numbers. */
  readonly bounds: readonly number[];
  /** The id of the last record; null if there are no records. */
  readonly lastId: number | null;
}

/** Why the bytes are not a valid page. */
export type PageProblem =
  | 'is not a list of records'
  | 'has a record without an id'
  | 'has records that are not in the order of their ids'
  | 'has more records than were asked for';

const SLICE_BYTES = 64 * 1024;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
/** The bytes with which Odoo begins a record. */
const ID_START = Buffer.from('{"id": ');
const NINE = 0x39;
const ZERO = 0x30;
/** Numbers of up to this many digits are exact. */
const EXACT_DIGITS = 15;

/** Changes the bytes in place. All ids must be above `after`, and there may be at most `countMax` records. */
export async function splitPage(
  bytes: Uint8Array,
  after: number | null,
  countMax: number,
): Promise<Page | PageProblem> {
  // Joining the pieces of the answer has just taken time.
  if (bytes.length > SLICE_BYTES) await yieldToEventLoop();
  await replaceLineBreaks(bytes);
  const bounds: number[] = [];
  let lastId = after;
  let yieldAt = SLICE_BYTES;
  let at = skipWhiteSpace(bytes, 0, bytes.length);
  if (bytes[at] !== OPEN_ARRAY) return 'is not a list of records';
  at = skipWhiteSpace(bytes, at + 1, bytes.length);
  while (bytes[at] !== CLOSE_ARRAY || bounds.length > 0) {
    const found = bytes[at] === OPEN_OBJECT ? findEnd(bytes, at) : at;
    const end = typeof found === 'number' ? found : await found;
    if (end === at || bytes[end - 1] !== CLOSE_OBJECT) return 'is not a list of records';
    const id = readFirstId(bytes, at) ?? (await findId(bytes, at, end));
    if (id === null) return 'has a record without an id';
    if (lastId !== null && id <= lastId) return 'has records that are not in the order of their ids';
    if (bounds.length === 2 * countMax) return 'has more records than were asked for';
    lastId = id;
    bounds.push(at, end);
    if (end >= yieldAt) {
      await yieldToEventLoop();
      yieldAt = end + SLICE_BYTES;
    }
    at = skipWhiteSpace(bytes, end, bytes.length);
    if (bytes[at] === CLOSE_ARRAY) break;
    if (bytes[at] !== COMMA) return 'is not a list of records';
    at = skipWhiteSpace(bytes, at + 1, bytes.length);
  }
  if (skipWhiteSpace(bytes, at + 1, bytes.length) !== bytes.length) return 'is not a list of records';
  return { bytes, bounds, lastId: bounds.length === 0 ? null : lastId };
}

/** The id at the place where Odoo prints it; null if it is elsewhere. */
function readFirstId(bytes: Uint8Array, start: number): number | null {
  for (let index = 0; index < ID_START.length; index++)
    if (bytes[start + index] !== ID_START[index]) return null;
  let at = start + ID_START.length;
  let id = 0;
  for (let digits = 0; digits < EXACT_DIGITS; digits++, at++) {
    const byte = bytes[at];
    if (byte === undefined || byte < ZERO || byte > NINE)
      return digits > 0 && (byte === COMMA || byte === CLOSE_OBJECT) ? id : null;
    id = id * 10 + (byte - ZERO);
  }
  return null;
}

/** Finds the id of a record; null if it has no id that is an integer below 2^53. */
async function findId(bytes: Uint8Array, start: number, end: number): Promise<number | null> {
  try {
    const value = findValue(await listMembers(bytes, { kind: 'object', start, end }), 'id');
    const id = value === undefined ? null : readInteger(bytes, value);
    return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
  } catch {
    // The name of a member is not UTF-8, or has a wrong escape.
    return null;
  }
}

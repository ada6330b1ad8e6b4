/** Finds the records of an answer of Odoo as bytes. Works in slices, so that other callers do not wait. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { findValue, type JsonMember, readInteger, skipWhiteSpace } from '@erp-proxy/json';
import { findEnd, listMembers } from '../long-values.ts';

export interface ReadRow {
  readonly id: number;
  /** Seconds since 1970 of `write_date`; null if it is empty. */
  readonly second: number | null;
  /** JSON text of the record as Odoo sent it. */
  readonly bytes: Uint8Array;
  /** The members of the record, as spans of `bytes`. */
  readonly members: readonly JsonMember[];
}

/** The length of some hundred short records. */
const SLICE_BYTES = 32 * 1024;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
/** Matches `2026-10-21 01:31:00`, and `2026-10-21T01:31:00Z` of normalized values. */
const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)Z?$/;

/** Null if the bytes are not a list of records with an id and a `write_date`. */
export async function readRows(bytes: Uint8Array): Promise<ReadRow[] | null> {
  const rows: ReadRow[] = [];
  const keep = (row: ReadRow | null) => row !== null && rows.push(row) > 0;
  return (await visitElements(bytes, (start, end) => {
    const row = readRow(bytes, start, end);
    return row instanceof Promise ? row.then(keep) : keep(row);
  }))
    ? rows
    : null;
}

/** Null if the bytes are not a list of at most `countMax` ids, the number that was asked for. */
export async function readIds(bytes: Uint8Array, countMax: number): Promise<number[] | null> {
  const ids: number[] = [];
  return (await visitElements(bytes, (start, end) => {
    const id = readInteger(bytes, { kind: 'number', start, end });
    if (typeof id !== 'number' || ids.length === countMax) return false;
    ids.push(id);
    return true;
  }))
    ? ids
    : null;
}

/**
 * Returns false if the bytes are not an array, or if `visit` returns false. Checks the syntax, because a long answer
 * was not parsed before.
 */
async function visitElements(
  bytes: Uint8Array,
  visit: (start: number, end: number) => boolean | Promise<boolean>,
): Promise<boolean> {
  let at = skipWhiteSpace(bytes, 0, bytes.length);
  if (bytes[at] !== OPEN_ARRAY) return false;
  at = skipWhiteSpace(bytes, at + 1, bytes.length);
  if (bytes[at] === CLOSE_ARRAY) return isEnd(bytes, at + 1);
  for (let yieldAt = SLICE_BYTES; ; ) {
    const found = at < bytes.length ? findEnd(bytes, at) : at;
    const end = typeof found === 'number' ? found : await found;
    if (end === at || end > bytes.length) return false;
    const isVisited = visit(at, end);
    if (!(typeof isVisited === 'boolean' ? isVisited : await isVisited)) return false;
    at = skipWhiteSpace(bytes, end, bytes.length);
    if (bytes[at] === CLOSE_ARRAY) return isEnd(bytes, at + 1);
    if (bytes[at] !== COMMA) return false;
    at = skipWhiteSpace(bytes, at + 1, bytes.length);
    if (at < yieldAt) continue;
    await yieldToEventLoop();
    yieldAt = at + SLICE_BYTES;
  }
}

function isEnd(bytes: Uint8Array, at: number): boolean {
  return skipWhiteSpace(bytes, at, bytes.length) === bytes.length;
}

/** Null if the value is no record. Returns a promise only for a long record. */
function readRow(all: Uint8Array, start: number, end: number): ReadRow | null | Promise<ReadRow | null> {
  if (all[start] !== OPEN_OBJECT || all[end - 1] !== CLOSE_OBJECT) return null;
  const bytes = all.subarray(start, end);
  try {
    const members = listMembers(bytes, { kind: 'object', start: 0, end: bytes.length });
    if (!(members instanceof Promise)) return toRow(bytes, members);
    return members.then((found) => toRow(bytes, found)).catch(() => null);
  } catch {
    // The name of a member is not UTF-8, or has a wrong escape.
    return null;
  }
}

function toRow(bytes: Uint8Array, members: readonly JsonMember[]): ReadRow | null {
  const idSpan = findValue(members, 'id');
  const id = idSpan === undefined ? null : readInteger(bytes, idSpan);
  const second = readTime(bytes, members);
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || second === undefined) return null;
  return { id, second, bytes, members };
}

/** Null if `write_date` is empty; undefined if it is missing or no time. */
function readTime(bytes: Uint8Array, members: readonly JsonMember[]): number | null | undefined {
  const span = findValue(members, 'write_date');
  if (span === undefined) return undefined;
  if (span.kind === 'false' || span.kind === 'null') return null;
  if (span.kind !== 'string') return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + span.start + 1, span.end - span.start - 2);
  const [, date, time] = TIME.exec(text.toString()) ?? [];
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time}Z`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

/** The bytes of the record without the member. */
export function dropMember({ bytes, members }: ReadRow, name: string): Uint8Array {
  const at = members.findIndex((member) => member.name === name);
  const [before, member, after] = [members[at - 1], members[at], members[at + 1]];
  if (member === undefined) return bytes;
  // A comma goes with the member: the one after it, or, for the last member, the one before it.
  const [start, end] = after
    ? [member.nameStart, after.nameStart]
    : [before?.value.end ?? member.nameStart, member.value.end];
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

/** Lists the members of objects and the elements of arrays, in bytes that readDocument has checked. */
import { skipWhiteSpace } from './scan.ts';
import { readKind, skipString, skipValue, skipValueInSlices } from './skip.ts';
import type { JsonMember, JsonSpan } from './span.ts';
import { decodeName } from './string.ts';

const QUOTE = 0x22;

/**
 * Lists members in the order of the text, with duplicates. Reads at most `countMax` members, because each takes about
 * 150 bytes of memory. For an object from a caller of the proxy, pass the accepted maximum plus one.
 */
export function readMembers(bytes: Uint8Array, object: JsonSpan, countMax = Infinity): JsonMember[] {
  const members: JsonMember[] = [];
  let at = skipWhiteSpace(bytes, object.start + 1, object.end);
  while (at < object.end && bytes[at] === QUOTE && members.length < countMax) {
    const nameStart = at;
    const nameEnd = skipString(bytes, at);
    const start = skipWhiteSpace(bytes, skipWhiteSpace(bytes, nameEnd, object.end) + 1, object.end);
    const end = skipValue(bytes, start);
    members.push({
      name: decodeName(bytes, { start: nameStart, end: nameEnd }),
      nameStart,
      value: { kind: readKind(bytes, start), start, end },
    });
    at = skipWhiteSpace(bytes, skipWhiteSpace(bytes, end, object.end) + 1, object.end);
  }
  return members;
}

/** Longer names are not decoded: no field and no argument of Odoo has one. */
const NAME_BYTES_MAX = 1024;

/**
 * Like readMembers, in slices of about `sliceBytes`, so that other work can run between them. A name of more than 1 KiB
 * is replaced by an empty one.
 */
export function* readMembersInSlices(
  bytes: Uint8Array,
  object: JsonSpan,
  countMax: number,
  sliceBytes: number,
): Generator<undefined, JsonMember[], undefined> {
  const members: JsonMember[] = [];
  let slice = bytes.subarray(0, object.start + sliceBytes);
  let at = skipWhiteSpace(bytes, object.start + 1, object.end);
  while (at < object.end && bytes[at] === QUOTE && members.length < countMax) {
    const nameStart = at;
    let nameEnd = skipString(slice, at);
    if (nameEnd >= slice.length) nameEnd = yield* skipValueInSlices(bytes, at, sliceBytes);
    const start = skipWhiteSpace(bytes, skipWhiteSpace(bytes, nameEnd, object.end) + 1, object.end);
    let end = skipValue(slice, start);
    if (end >= slice.length) end = yield* skipValueInSlices(bytes, start, sliceBytes);
    members.push({
      name: nameEnd - nameStart > NAME_BYTES_MAX ? '' : decodeName(bytes, { start: nameStart, end: nameEnd }),
      nameStart,
      value: { kind: readKind(bytes, start), start, end },
    });
    at = skipWhiteSpace(bytes, skipWhiteSpace(bytes, end, object.end) + 1, object.end);
    if (at < slice.length) continue;
    yield;
    slice = bytes.subarray(0, at + sliceBytes);
  }
  return members;
}

/** The value of the member with this name; undefined if there is none. */
export function findValue(members: readonly JsonMember[], name: string): JsonSpan | undefined {
  for (const member of members) if (member.name === name) return member.value;
  return undefined;
}

/** Up to this number of members, comparing all pairs of names is faster than building a set. */
const FEW_MEMBERS = 8;

/** The first member that repeats a name. RFC 8259 section 4 does not define which of the two counts. */
export function findDuplicate(members: readonly JsonMember[]): JsonMember | null {
  if (members.length <= FEW_MEMBERS)
    return members.find(({ name, value }) => findValue(members, name) !== value) ?? null;
  const seen = new Set<string>();
  for (const member of members) {
    if (seen.has(member.name)) return member;
    seen.add(member.name);
  }
  return null;
}

const COLON = 0x3a;
const COMMA = 0x2c;
/** `"":1,` */
const MEMBER_BYTES_MIN = 5;
/** Minimum length of a value and its separator. */
const VALUE_BYTES_MIN = 2;

/** Limits for all objects and lists of a document together. */
export interface CountLimits {
  /** Maximum members of all objects. */
  membersMax: number;
  /** Maximum values of all objects and lists. Counted as the commas between them, and one more. */
  valuesMax: number;
}

/**
 * The limit that the document exceeds; null if it exceeds none. Counts members and values without decoding them.
 * `bytes` must be valid JSON, and is read at most once.
 */
export function findExcess(
  bytes: Uint8Array,
  { membersMax, valuesMax }: CountLimits,
): 'members' | 'values' | null {
  const { length } = bytes;
  if (length <= Math.min(membersMax * MEMBER_BYTES_MIN, valuesMax * VALUE_BYTES_MIN)) return null;
  let members = 0;
  let separators = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at) - 1;
    else if (byte === COLON) {
      if (++members > membersMax) return 'members';
    } else if (byte === COMMA && ++separators >= valuesMax) return 'values';
  }
  return null;
}

/**
 * Calls `visit` with each element of an array, until it returns false. Allocates no list, so that a million ids can be
 * counted or cut cheaply.
 */
export function readElements(
  bytes: Uint8Array,
  array: JsonSpan,
  visit: (element: JsonSpan) => boolean | undefined,
): void {
  const last = array.end - 1;
  let at = skipWhiteSpace(bytes, array.start + 1, last);
  while (at < last) {
    const end = skipValue(bytes, at);
    if (visit({ kind: readKind(bytes, at), start: at, end }) === false) return;
    at = skipWhiteSpace(bytes, skipWhiteSpace(bytes, end, last) + 1, last);
  }
}

/** True if a value is `[]`, which PHP prints for an empty object, in bytes that readDocument has checked. */
export function isEmptyArray(bytes: Uint8Array, value: JsonSpan): boolean {
  if (value.kind !== 'array') return false;
  let isEmpty = true;
  readElements(bytes, value, () => {
    isEmpty = false;
    return false;
  });
  return isEmpty;
}

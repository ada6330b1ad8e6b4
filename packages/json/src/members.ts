/** Lists the members of an object in bytes that readDocument has checked. */
import { decodeName } from './name.ts';
import { skipWhiteSpace } from './scan.ts';
import { readKind, skipString, skipValue, skipValueInSlices } from './skip.ts';
import type { JsonMember, JsonSpan } from './span.ts';

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

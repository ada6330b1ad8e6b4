/**
 * Cuts and joins ranges of JSON bytes. The kept ranges are unchanged, white space included. The caller must choose the
 * parts so that the result is JSON.
 */

import type { ByteRange, JsonMember, JsonSpan } from './span.ts';
import { viewAsBuffer } from './string.ts';

/** Returns the object without the named members, as parts for joinParts. Copies nothing. */
export function removeMembers(
  object: JsonSpan,
  members: readonly JsonMember[],
  names: ReadonlySet<string>,
): ByteRange[] {
  const head = { start: object.start, end: members[0]?.nameStart ?? object.end };
  const parts: ByteRange[] = [head];
  let previous: JsonMember | undefined;
  let keepsOne = false;
  for (const member of members) {
    if (!names.has(member.name)) {
      // A kept member's range includes the comma before it, except for the first kept member.
      const start = keepsOne && previous ? previous.value.end : member.nameStart;
      addRange(parts, start, member.value.end);
      keepsOne = true;
    }
    previous = member;
  }
  if (previous) addRange(parts, previous.value.end, object.end);
  return parts;
}

/** Joins the parts into one buffer: ranges of `bytes`, and texts as UTF-8. */
export function joinParts(bytes: Uint8Array, parts: readonly (ByteRange | string)[]): Buffer {
  const source = viewAsBuffer(bytes);
  let length = 0;
  for (const part of parts) {
    length += typeof part === 'string' ? Buffer.byteLength(part) : part.end - part.start;
  }
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const part of parts) {
    at += typeof part === 'string' ? joined.write(part, at) : source.copy(joined, at, part.start, part.end);
  }
  return joined;
}

function addRange(parts: ByteRange[], start: number, end: number): void {
  const last = parts.at(-1);
  if (last?.end === start) last.end = end;
  else parts.push({ start, end });
}

/**
 * Sets members of an object. Returns parts for joinParts. An existing member gets the new value; otherwise a member is
 * appended. `object`: null stands for `{}`.
 */
export function setMembers(
  object: JsonSpan | null,
  members: readonly JsonMember[],
  values: ReadonlyMap<string, readonly (ByteRange | string)[]>,
): (ByteRange | string)[] {
  const parts: (ByteRange | string)[] = [];
  const added = new Map(values);
  if (object === null) parts.push('{');
  else {
    let at = object.start;
    for (const { name, value } of members) {
      const next = values.get(name);
      if (next === undefined) continue;
      parts.push({ start: at, end: value.start }, ...next);
      at = value.end;
      added.delete(name);
    }
    parts.push({ start: at, end: object.end - 1 });
  }
  let separator = members.length === 0 ? '' : ',';
  for (const [name, value] of added) {
    parts.push(`${separator}${JSON.stringify(name)}:`, ...value);
    separator = ',';
  }
  parts.push('}');
  return parts;
}

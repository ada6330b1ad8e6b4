/**
 * Cuts and joins ranges of JSON bytes. What it keeps stays as it was written, white space included; that the
 * result is JSON again is up to whoever chooses the parts.
 */
import { viewAsBuffer } from './buffer.ts';
import type { ByteRange, JsonMember, JsonSpan } from './span.ts';

/** What is left of an object without the members of these names, as parts for joinParts; nothing is copied. */
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
      // The comma in front goes with the member, except for the first one kept.
      const start = keepsOne && previous ? previous.value.end : member.nameStart;
      addRange(parts, start, member.value.end);
      keepsOne = true;
    }
    previous = member;
  }
  if (previous) addRange(parts, previous.value.end, object.end);
  return parts;
}

/** One buffer of the parts in their order: ranges as they stand in `bytes`, texts as UTF-8. */
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

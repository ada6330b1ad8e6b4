/** Sets members of an object in JSON bytes. All other bytes are unchanged. */
import type { ByteRange, JsonMember, JsonSpan } from './span.ts';

/**
 * Returns parts for joinParts. An existing member gets the new value; otherwise a member is appended. `object`: null
 * stands for `{}`.
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

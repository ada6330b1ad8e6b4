/** Finds the path of a byte in a value, such as `[1].street`, in bytes that readDocument has checked. */
import { clipText } from '@erp-proxy/contract';
import { readElements } from './members.ts';
import { skipWhiteSpace } from './scan.ts';
import { readKind, skipString, skipValue } from './skip.ts';
import type { JsonSpan } from './span.ts';
import { decodeName } from './string.ts';

/** Maximum levels of a path, because each level is read again. */
const LEVELS_MAX = 16;
const NAME_LENGTH_MAX = 64;

/** `path`: the path of the value itself. A byte within a member's name gets the path of the object. */
export function locate(bytes: Uint8Array, value: JsonSpan, at: number, path: string): string {
  let [inner, innerPath] = [value, path];
  for (let level = 0; level < LEVELS_MAX; level++) {
    const found = inner.kind === 'array' ? findElement(bytes, inner, at) : findMember(bytes, inner, at);
    if (found === null) break;
    inner = found.value;
    innerPath += found.step;
  }
  return innerPath;
}

interface Step {
  step: string;
  value: JsonSpan;
}

function findElement(bytes: Uint8Array, array: JsonSpan, at: number): Step | null {
  let index = 0;
  let found: Step | null = null;
  readElements(bytes, array, (value) => {
    if (at < value.end) found = at < value.start ? null : { step: `[${index}]`, value };
    index++;
    return at >= value.end;
  });
  return found;
}

function findMember(bytes: Uint8Array, object: JsonSpan, at: number): Step | null {
  if (object.kind !== 'object') return null;
  let next = skipWhiteSpace(bytes, object.start + 1, object.end);
  while (next < at) {
    const name = { start: next, end: skipString(bytes, next) };
    const start = skipWhiteSpace(bytes, skipWhiteSpace(bytes, name.end, object.end) + 1, object.end);
    const end = skipValue(bytes, start);
    if (at < start) return null;
    if (at < end) {
      const step = `.${clipText(decodeName(bytes, name), NAME_LENGTH_MAX)}`;
      return { step, value: { kind: readKind(bytes, start), start, end } };
    }
    next = skipWhiteSpace(bytes, skipWhiteSpace(bytes, end, object.end) + 1, object.end);
  }
  return null;
}

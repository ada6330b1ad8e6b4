/** Visits the elements of an array in bytes that readDocument has checked. */
import { skipWhiteSpace } from './scan.ts';
import { readKind, skipValue } from './skip.ts';
import type { JsonSpan } from './span.ts';

/**
 * Calls `visit` with each element, until it returns false. Allocates no list, so that a million ids can be counted or
 * cut cheaply.
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

/** True if a value is `[]`, which PHP prints for an empty object, in bytes that readDocument has checked. */
import { readElements } from './elements.ts';
import type { JsonSpan } from './span.ts';

export function isEmptyArray(bytes: Uint8Array, value: JsonSpan): boolean {
  if (value.kind !== 'array') return false;
  let isEmpty = true;
  readElements(bytes, value, () => {
    isEmpty = false;
    return false;
  });
  return isEmpty;
}

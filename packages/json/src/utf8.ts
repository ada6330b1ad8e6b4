/** Finds the first byte that is not UTF-8, for error messages. isUtf8 is faster, but does not give the position. */
import { isUtf8 } from 'node:buffer';

/**
 * Step sizes in bytes. One of four consecutive sizes ends at the last byte of a character, so a large step succeeds
 * while the bytes are valid. Then steps of single characters lead to the invalid byte.
 */
const STEPS = [512, 511, 510, 509, 4, 3, 2, 1];

/** `bytes` must contain an invalid byte. Returns the first index at which no valid character begins. */
export function findInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  for (;;) {
    const step = STEPS.find((size) => isUtf8(bytes.subarray(at, at + size)));
    if (step === undefined) return at;
    at += step;
  }
}

/** Finds where bytes stop being UTF-8, for the message of a refusal only: that they do, isUtf8 tells faster. */
import { isUtf8 } from 'node:buffer';

/**
 * Of four sizes in a row one ends on a character's last byte, so a large step succeeds as long as the bytes are good;
 * where none does, single characters lead up to the fault.
 */
const STEPS = [512, 511, 510, 509, 4, 3, 2, 1];

/** `bytes` must be wrong somewhere. Returns the first index at which no character begins. */
export function findInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  for (;;) {
    const step = STEPS.find((size) => isUtf8(bytes.subarray(at, at + size)));
    if (step === undefined) return at;
    at += step;
  }
}

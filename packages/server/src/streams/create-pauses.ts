/** Pauses in long work, in which the event loop runs other work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Returns a function that is told the length of what was handled. It returns a pause to await whenever `maxLength` was
 * handled since the last one.
 */
export function createPauses(maxLength: number): (length: number) => Promise<void> | undefined {
  let handled = 0;
  return (length) => {
    handled += length;
    if (handled < maxLength) return undefined;
    handled = 0;
    return nextTurn();
  };
}

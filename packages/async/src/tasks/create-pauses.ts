/** Pauses in long work, in which the event loop runs other work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Returns a function that is told how much was handled, e.g. characters or rows. It returns a pause to await whenever
 * `sliceSize` was handled since the last one.
 */
export function createPauses(sliceSize: number): (size: number) => Promise<void> | undefined {
  let handled = 0;
  return (size) => {
    handled += size;
    if (handled < sliceSize) return undefined;
    handled = 0;
    return nextTurn();
  };
}

/**
 * Runs functions that use sockets at the end of a turn of the event loop, those of the same kind one after the other.
 * What is sent together wakes its receiver only once, and what a kind uses stays in the caches of the processor.
 * Nothing is read later for it: what arrives in return is read in the next turn at the earliest.
 */

export type SocketUse = 'send a request' | 'connect' | 'close' | 'send an answer';

/** In this order: upstreams work while clients get their answers. */
const waiting = new Map<SocketUse, (() => void)[]>([
  ['send a request', []],
  ['connect', []],
  ['close', []],
  ['send an answer', []],
]);
let isScheduled = false;

/** A function that is added while the others run, runs at the end of the next turn. */
export function atTurnEnd(use: SocketUse, run: () => void): void {
  if (!isScheduled) setImmediate(runAll);
  isScheduled = true;
  waiting.get(use)!.push(run);
}

function runAll(): void {
  isScheduled = false;
  const kinds = [...waiting.values()].map((runs) => runs.splice(0));
  for (const runs of kinds) for (const run of runs) runOne(run);
}

/** An error is that of a callback of its own: it is uncaught, and prevents no other function. */
function runOne(run: () => void): void {
  try {
    run();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}

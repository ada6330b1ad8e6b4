/**
 * Runs functions that use sockets at the end of a turn of the event loop. Functions of the same kind run one after the
 * other: data that is sent together wakes its receiver only once, and the code of a kind stays in the caches of the
 * processor. No read is delayed: what arrives in return is read in the next turn at the earliest.
 */
import { nameOwner } from './owner.ts';

export type SocketUse = 'send a request' | 'connect' | 'close' | 'send an answer';

interface Waiting {
  runs: (() => void)[];
  /** The owner of each function, at the same index. A list of pairs would need one more object for each function. */
  owners: (string | null)[];
}

/** In this order: servers work while clients get their answers. */
const waiting = new Map<SocketUse, Waiting>([
  ['send a request', { runs: [], owners: [] }],
  ['connect', { runs: [], owners: [] }],
  ['close', { runs: [], owners: [] }],
  ['send an answer', { runs: [], owners: [] }],
]);
let isScheduled = false;

/**
 * A function that is added while the others run, runs at the end of the next turn. `owner`: name of the call that it
 * serves.
 */
export function atTurnEnd(use: SocketUse, owner: string | null, run: () => void): void {
  if (!isScheduled) setImmediate(runAll);
  isScheduled = true;
  const { runs, owners } = waiting.get(use)!;
  runs.push(run);
  owners.push(owner);
}

function runAll(): void {
  isScheduled = false;
  const kinds = [...waiting.values()].map(({ runs, owners }) => ({
    runs: runs.splice(0),
    owners: owners.splice(0),
  }));
  for (const { runs, owners } of kinds)
    for (let index = 0; index < runs.length; index++) runOne(runs[index]!, owners[index] ?? null);
}

/** An error counts as thrown by a callback of its own: it is uncaught, and all other functions still run. */
function runOne(run: () => void, owner: string | null): void {
  try {
    run();
  } catch (error) {
    setImmediate(() => {
      throw nameOwner(error, owner);
    });
  }
}

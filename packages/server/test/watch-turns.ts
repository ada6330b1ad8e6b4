/** Watches the turns of the event loop, to see whether other work gets its turn meanwhile. */

/**
 * Runs the work. Calls the function in each turn of the event loop until the work has ended, and once more afterwards.
 */
export async function watchTurns<Result>(work: () => Promise<Result>, onTurn: () => void): Promise<Result> {
  let isOver = false;
  const tick = () => {
    if (isOver) return;
    onTurn();
    setImmediate(tick);
  };
  setImmediate(tick);
  const result = await work();
  isOver = true;
  onTurn();
  return result;
}

/** Runs the work, and returns the number of turns that it took. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  await watchTurns(work, () => {
    turns++;
  });
  return turns;
}

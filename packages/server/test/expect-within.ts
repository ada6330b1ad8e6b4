/** Checks a bound on real time on a machine that may be busy. */
import { expect } from 'vitest';

const RUNS_MAX = 10;

/**
 * Passes if the shortest of several runs takes less time than the limit, without its preparation. Other load can delay
 * a run but not shorten it.
 */
export async function expectWithin<Stage>(
  limitMs: number,
  run: (stage: Stage) => unknown,
  prepare: () => Promise<Stage> | undefined = () => undefined,
): Promise<void> {
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < RUNS_MAX && shortestMs >= limitMs; count++) {
    const stage = (await prepare()) as Stage;
    const startMs = performance.now();
    await run(stage);
    shortestMs = Math.min(shortestMs, performance.now() - startMs);
  }
  expect(shortestMs).toBeLessThan(limitMs);
}

/**
 * Measures for how long work keeps the event loop, by processor time of this thread, which other programs do not
 * lengthen. Tests that compare it with the limit are in `*.blocking.test.ts`.
 */
import { readThreadCpuMs } from './thread-cpu.ts';

/** Nothing may keep the event loop for longer at once: the calls of others wait meanwhile. */
export const BLOCKED_MS_MAX = 20;

/**
 * The longest time for which the work lets no other work run: the median of three tries, as the first one also compiles
 * code, and any of them may collect garbage of earlier work. Each try is prepared anew, which is not measured.
 */
export async function measureBlocking(work: () => Promise<unknown>): Promise<number>;
export async function measureBlocking<Prepared>(
  work: (prepared: Prepared) => Promise<unknown>,
  prepare: () => Prepared | Promise<Prepared>,
): Promise<number>;
export async function measureBlocking<Prepared>(
  work: (prepared?: Prepared) => Promise<unknown>,
  prepare?: () => Prepared | Promise<Prepared>,
): Promise<number> {
  return await takeMedian(async () => {
    const prepared = await prepare?.();
    return await measureBlockingOnce(() => work(prepared));
  });
}

/**
 * The median of three measurements. If two are on the same side of the limit, the median is there too: then the third
 * is not taken, and the one nearer to the limit is returned.
 */
export async function takeMedian(measure: () => Promise<number>, limit = BLOCKED_MS_MAX): Promise<number> {
  const [first, second] = [await measure(), await measure()];
  const [shorter, longer] = [Math.min(first, second), Math.max(first, second)];
  if (longer < limit) return longer;
  if (shorter >= limit) return shorter;
  return Math.min(Math.max(await measure(), shorter), longer);
}

/**
 * As `measureBlocking`, for work that a process can do once.
 *
 * @public Programs that tests start import it.
 */
export async function measureBlockingOnce(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = readThreadCpuMs();
  let isOver = false;
  const tick = () => {
    const nowMs = readThreadCpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isOver = true;
  // Work that has let nothing run until now.
  tick();
  return longestMs;
}

/**
 * Measures for how long work blocks the event loop, in processor time of this thread, which other programs do not
 * lengthen. Tests that compare the time with the limit are in `*.blocking.test.ts`.
 */
import { readThreadCpuMs } from './thread-cpu.ts';

/** Maximum time for which work may block the event loop at once, because the calls of others wait meanwhile. */
export const BLOCKED_MS_MAX = 20;

/** Processor time of `readReference` on the machines that the limit is meant for, while nothing else runs. */
const REFERENCE_MS = 1.4;
const REFERENCE_TEXT = JSON.stringify(
  Array.from({ length: 5000 }, (_, id) => ({ id, name: `Record ${id}`, tags: [id, id + 1], note: null })),
);

/** Does work of the usual kinds: a parser, objects, and a loop over bytes. */
function readReference(): number {
  let sum = 0;
  for (const { id, name } of JSON.parse(REFERENCE_TEXT) as { id: number; name: string }[])
    sum += id + name.length;
  for (const byte of Buffer.from(REFERENCE_TEXT)) if (byte === 0x22) sum++;
  return sum;
}

/**
 * The factor by which the processor is slower than usual now; at least 1. Programs on the same core slow down its
 * memory and its clock, which lengthens the processor time of all programs.
 */
function measureSlowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const startMs = readThreadCpuMs();
    readReference();
    return readThreadCpuMs() - startMs;
  });
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}

/**
 * The longest time for which the work lets no other work run: the median of three tries, because the first one also
 * compiles code, and any of them may collect garbage of earlier work. The preparation of each try is not measured.
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
 * The median of three measurements, each converted to a processor of the usual speed. If the first two are on the same
 * side of the limit, so is the median: then the third is not taken, and the one nearer to the limit is returned.
 */
export async function takeMedian(measureNow: () => Promise<number>, limit = BLOCKED_MS_MAX): Promise<number> {
  const measure = async () => {
    const before = measureSlowness();
    const blockedMs = await measureNow();
    return blockedMs / Math.max(before, measureSlowness());
  };
  const [first, second] = [await measure(), await measure()];
  const [shorter, longer] = [Math.min(first, second), Math.max(first, second)];
  if (longer < limit) return longer;
  if (shorter >= limit) return shorter;
  return Math.min(Math.max(await measure(), shorter), longer);
}

/**
 * Like `measureBlocking`, for work that a process can do only once.
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
  // Ends the last interval, in which the work has let nothing else run.
  tick();
  return longestMs;
}

/** Measures for how long work keeps the event loop, by processor time, which other programs do not lengthen. */

/** Runs the work, and returns the longest processor time of this thread for which no other work could run. */
export async function measureBlocking(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = readCpuMs();
  let isOver = false;
  const tick = () => {
    const nowMs = readCpuMs();
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

function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

// Loaded into the tested program: measures the longest time for which its event loop was busy without a break, as the
// processor time of its thread between two runs of a timer. Unlike wall-clock time, processor time does not grow when
// other programs use the processor. On SIGUSR2, writes the time in milliseconds to standard error, and starts again.
import { isMainThread } from 'node:worker_threads';
import { readThreadCpuMs } from '../thread-cpu.ts';

if (isMainThread) {
  let longestMs = 0;
  let lastMs = readThreadCpuMs();
  setInterval(() => {
    const nowMs = readThreadCpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(`longest gap ${longestMs.toFixed(1)} ms\n`);
    longestMs = 0;
  });
}

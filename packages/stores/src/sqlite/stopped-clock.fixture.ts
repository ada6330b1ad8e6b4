/** Runs the SQLite thread with intervals that run only when a test advances their clock. */
import { type MessagePort, workerData } from 'node:worker_threads';

interface Interval {
  run: () => void;
  everyMs: number;
  nextMs: number;
}

const intervals = new Set<Interval>();
let nowMs = 0;
Object.assign(globalThis, {
  setInterval: (run: () => void, everyMs: number): Interval => {
    const interval = { run, everyMs, nextMs: nowMs + everyMs };
    intervals.add(interval);
    return interval;
  },
  clearInterval: (interval: Interval) => intervals.delete(interval),
});

const { clock } = workerData as { clock: MessagePort };
clock.on('message', (advancedMs: number) => {
  nowMs += advancedMs;
  for (const interval of intervals) {
    for (; interval.nextMs <= nowMs; interval.nextMs += interval.everyMs) interval.run();
  }
});

await import('./service.ts');

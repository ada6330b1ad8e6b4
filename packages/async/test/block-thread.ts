import { monotonicMs } from '../../server/test/time.ts';

/** For tests: a process that is busy, without processor time. A change of the system's clock does not end it early. */
export function blockThread(ms: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const endMs = monotonicMs() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = endMs - monotonicMs()) Atomics.wait(cell, 0, 0, leftMs);
}

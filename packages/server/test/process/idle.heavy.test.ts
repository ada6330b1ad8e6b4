/** Tests the real program at rest. Counts wake-ups of its threads, because a busy machine does not add any. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measureMs, pause } from '../time.ts';
import { makeFolder, startProgram } from './program.ts';

const WAKE_UPS_PER_SECOND_MAX = 12;
const WINDOW_MS = 2000;
const WINDOWS_MAX = 8;

test.runIf(process.platform === 'linux')('an idle process wakes up only a few times a second', async () => {
  const flags = ['--http.port=0', '--store.url=sqlite:store.db'];
  const program = startProgram(['serve', ...flags], { folder: makeFolder() });
  await program.waitFor(/listening/i);
  // Work of the start continues in the background for some seconds, so several windows are measured.
  let fewest = Number.POSITIVE_INFINITY;
  for (let window = 0; window < WINDOWS_MAX && fewest > WAKE_UPS_PER_SECOND_MAX; window++) {
    const before = countWakeUps(program.pid);
    const tookMs = await measureMs(() => pause(WINDOW_MS));
    fewest = Math.min(fewest, ((countWakeUps(program.pid) - before) / tookMs) * 1000);
  }
  expect(fewest).toBeLessThanOrEqual(WAKE_UPS_PER_SECOND_MAX);
});

function countWakeUps(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const counts = threads.map((thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
    return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

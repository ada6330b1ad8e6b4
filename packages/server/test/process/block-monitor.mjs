// Loaded into the tested program. On SIGUSR2 it writes to standard error for how long the main thread let nothing else
// run at most since the last time.
import { isMainThread } from 'node:worker_threads';
import { watchBlocks } from '../time.ts';

if (isMainThread) {
  const blocks = watchBlocks();
  process.on('SIGUSR2', () =>
    process.stderr.write(`longest block ${blocks.readLongestMs().toFixed(1)} ms\n`),
  );
}

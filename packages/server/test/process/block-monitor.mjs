// Loaded into the tested program. On SIGUSR2, writes to standard error the longest time for which the main thread was
// blocked since the last signal.
import { isMainThread } from 'node:worker_threads';
import { watchBlocks } from '../time.ts';

if (isMainThread) {
  const blocks = watchBlocks();
  process.on('SIGUSR2', () =>
    process.stderr.write(`longest block ${blocks.readLongestMs().toFixed(1)} ms\n`),
  );
}

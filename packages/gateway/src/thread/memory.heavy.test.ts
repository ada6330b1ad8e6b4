import { SharedCollector } from '@erp-proxy/async/shared-bytes';
import { expect, test } from 'vitest';
import { passTurns } from '../../../server/test/time.ts';
import { runInThread } from './run-in-thread.ts';

const MIB = 1024 ** 2;
const BODIES = 80;
const SIGNAL = new AbortController().signal;

test('the memory of large bodies is released in both threads', async () => {
  const text = Buffer.from(`{"params":["${'x'.repeat(16 * MIB)}"]}`);
  const parse = async () => {
    const collector = new SharedCollector(text.length);
    collector.add(text);
    await runInThread('parseBody', [collector.join()], text.length, SIGNAL);
  };
  await parse();
  const before = process.memoryUsage.rss();
  let peak = 0;
  for (let count = 0; count < BODIES; count++) {
    await parse();
    await passTurns();
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  // All of them would take 1280 MiB.
  expect((peak - before) / MIB).toBeLessThan(400);
});

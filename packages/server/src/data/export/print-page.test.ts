import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPrinter } from './print-page.ts';
import { splitPage } from './split-page.ts';

/** A page of records with values of these lengths. */
async function readPage(lengths: readonly number[]) {
  const records = lengths.map((length, index) => `{"id": ${index + 1}, "a": "${'x'.repeat(length)}"}`);
  const page = await splitPage(Buffer.from(`[${records.join(', ')}]`), null, records.length);
  if (typeof page === 'string') throw new Error(page);
  return { records, page };
}

test('each record is a line, however long it is', async () => {
  const { records, page } = await readPage([3, 200_000, 0, 65_536, 70_000, 5]);
  const { print } = createPrinter('ndjson', ['a']);
  const lines: Uint8Array[] = [];
  for (let first = 0; first < records.length; ) {
    const { pieces, next } = print(page, first);
    expect(next).toBeGreaterThan(first);
    lines.push(...pieces);
    first = next;
  }
  expect(Buffer.concat(lines).toString()).toBe(records.map((record) => `${record}\n`).join(''));
});

test('a long record is sent from the memory of its page, in pieces', async () => {
  const { page } = await readPage([1_000_000]);
  const pieces = [...createPrinter('ndjson', ['a']).print(page, 0).pieces];
  expect(pieces.slice(0, -1).every(({ buffer }) => buffer === page.bytes.buffer)).toBe(true);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
});

const MIB = 1024 * 1024;
const COSTLY: [name: string, value: string][] = [
  ['quotes', `"${'\\"'.repeat(2 * MIB)}"`],
  ['quotes and other characters', `"${'\\"é'.repeat(MIB)}"`],
  ['plain text', `"${'x'.repeat(4 * MIB)}"`],
  ['escapes', `"${'\\ud83d\\ude00'.repeat(MIB / 3)}"`],
  ['a list of texts', `[${'"a", '.repeat((4 * MIB) / 5)}1]`],
  ['a reference to a long model', `{"model": "${'\\"'.repeat(2 * MIB)}", "id": 1}`],
  ['line breaks', `"x"${' \r\n'.repeat(MIB)}`],
  [
    'many cells',
    `"x", ${Array.from({ length: 200 }, (_, index) => `"f${index}": "${'\\"'.repeat(10_000)}"`).join(', ')}`,
  ],
  ['many members', `"x", ${Array.from({ length: 200_000 }, (_, index) => `"m${index}": "x"`).join(', ')}`],
];

test.each(COSTLY)(
  'a record of 4 MiB of %s takes 20 ms of processor time at once at most',
  async (_name, value) => {
    const { print } = createPrinter('csv', ['a', ...Array.from({ length: 200 }, (_, index) => `f${index}`)]);
    let bestMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 6 && bestMs >= 20; run++) {
      const bytes = Buffer.from(`[{"id": 1, "a": ${value}}]`);
      const page = await measureLongest(() => splitPage(bytes, null, 1));
      if (typeof page.result === 'string') throw new Error(page.result);
      let longestMs = page.longestMs;
      let startedMs = readCpuMs();
      for (const _ of print(page.result, 0).pieces) {
        longestMs = Math.max(longestMs, readCpuMs() - startedMs);
        await yieldToEventLoop();
        startedMs = readCpuMs();
      }
      bestMs = Math.min(bestMs, longestMs);
    }
    expect(bestMs).toBeLessThan(20);
  },
);

/** The longest time between two turns of the event loop, as processor time of this thread. */
async function measureLongest<Result>(run: () => Promise<Result>) {
  let longestMs = 0;
  let isDone = false;
  let startedMs = readCpuMs();
  const watch = () => {
    const nowMs = readCpuMs();
    longestMs = Math.max(longestMs, nowMs - startedMs);
    startedMs = nowMs;
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  const result = await run();
  isDone = true;
  watch();
  return { result, longestMs };
}

function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

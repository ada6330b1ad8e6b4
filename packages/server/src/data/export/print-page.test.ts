import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { measureBlocking } from '../../../test/measure-blocking.ts';
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
    for await (const piece of pieces) lines.push(piece);
    first = next;
  }
  expect(Buffer.concat(lines).toString()).toBe(records.map((record) => `${record}\n`).join(''));
});

test('a long record is sent from the memory of its page, in pieces', async () => {
  const { page } = await readPage([1_000_000]);
  const pieces = await Array.fromAsync(createPrinter('ndjson', ['a']).print(page, 0).pieces);
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
      const longestMs = await measureBlocking(async () => {
        const page = await splitPage(bytes, null, 1);
        if (typeof page === 'string') throw new Error(page);
        for await (const _ of print(page, 0).pieces) await yieldToEventLoop();
      });
      bestMs = Math.min(bestMs, longestMs);
    }
    expect(bestMs).toBeLessThan(20);
  },
);

import { expect, test } from 'vitest';
import { createPrinter } from './print-page.ts';
import { splitPage } from './split-page.ts';

/** Reads a page of records whose values have these lengths. */
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

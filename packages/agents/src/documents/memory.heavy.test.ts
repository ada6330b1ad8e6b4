import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { MOMENT_MS, pause } from '../../../server/test/time.ts';
import { makePdf } from './pdf.fixture.ts';
import { readDocument } from './read-document.ts';

test('a PDF whose small stream unpacks to more than the thread may have', async () => {
  // 600 MB of spaces, which take some 2 KB when compressed twice.
  const packed = deflateSync(deflateSync(Buffer.alloc(600 * 1024 * 1024, ' ')), { level: 9 });
  const stream = `<</Length ${packed.length}/Filter[/FlateDecode/FlateDecode]>>\nstream\n${packed.toString('latin1')}\nendstream`;
  const file = makePdf('x')
    .toString('latin1')
    .replace(/<<\/Length[\s\S]*?endstream/, () => stream);
  const before = process.memoryUsage.rss();
  let peak = before;
  let isOver = false;
  const reading = readDocument(Buffer.from(file, 'latin1')).finally(() => {
    isOver = true;
  });
  for (; !isOver; await pause(MOMENT_MS)) peak = Math.max(peak, process.memoryUsage.rss());
  expect(await reading).toBeNull();
  expect((peak - before) / 1024 / 1024).toBeLessThan(768);
});

test('a document is read while its memory is watched', async () => {
  expect(await readDocument(makePdf('Total 121.00'))).toBe('Total 121.00');
});

import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectLines } from './lines.ts';

test('writes lines that follow each other closely in one write, in order', async () => {
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  lines.write('a\n');
  await nextTurn();
  lines.write('b\n');
  await expect.poll(() => writes).toEqual(['a\nb\n']);
  lines.write('c\n');
  await expect.poll(() => writes).toEqual(['a\nb\n', 'c\n']);
  const long = 'd'.repeat(64 * 1024);
  lines.write(`${long}\n`);
  expect(writes.at(-1)).toBe(`${long}\n`);
});

test('drops lines beyond a bound while the receiver does not read, and continues once it reads', async () => {
  const stalled = new PassThrough();
  const lines = collectLines(stalled);
  for (let count = 0; count < 40; count++) {
    lines.write(`${'x'.repeat(1024 ** 2)}\n`);
    await nextTurn();
  }
  expect(stalled.writableLength).toBeLessThan(20 * 1024 ** 2);
  stalled.resume();
  await expect.poll(() => stalled.writableLength).toBe(0);
  let last = '';
  stalled.on('data', (bytes) => {
    last = String(bytes);
  });
  lines.write('after\n');
  await expect.poll(() => last).toBe('after\n');
});

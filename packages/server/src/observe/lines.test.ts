import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../test/close-after-test.ts';
import { collectLines } from './lines.ts';

const BUFFERED_MS = 100;

test('writes lines that follow each other closely in one write, in order', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  lines.add(() => 'a\n');
  await nextTurn();
  vi.advanceTimersByTime(BUFFERED_MS - 1);
  lines.add(() => 'b\n');
  expect(writes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(writes).toEqual(['a\nb\n']);
  lines.add(() => 'c\n');
  vi.advanceTimersByTime(BUFFERED_MS);
  expect(writes).toEqual(['a\nb\n', 'c\n']);
  const long = `${'d'.repeat(8 * 1024)}\n`;
  for (let count = 0; count < 16; count++) lines.add(() => long);
  expect(writes.slice(2)).toEqual([long.repeat(8), long.repeat(8)]);
});

test.each(['process.exit(3)', 'throw new Error()', 'Promise.reject(new Error())', ''])(
  'a line is written although the process ends at once: %s',
  (end) => {
    const module = JSON.stringify(new URL('./lines.ts', import.meta.url).href);
    const script = `
      const { collectLines } = await import(${module});
      collectLines(process.stdout).add(() => 'last line\\n');
      ${end}
    `;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('last line\n');
  },
);

test('prints a line once, when it writes it', async () => {
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  let value = 'old';
  let printed = 0;
  lines.add(() => `${value} ${++printed}\n`);
  value = 'new';
  expect(printed).toBe(0);
  await expect.poll(() => writes).toEqual(['new 1\n']);
});

test('a line that cannot be printed loses no other', async () => {
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  const failing = Array.from({ length: 16 }, (_, count) => () => {
    if (count === 3) throw new Error('not printed');
    return `${count}\n`;
  });
  expect(() => failing.forEach(lines.add)).toThrow('not printed');
  lines.add(() => 'last\n');
  await expect.poll(() => writes.join('')).toMatch(/^0\n1\n2\n4\n.*15\nlast\n$/s);
});

test('drops lines beyond a bound while the receiver does not read, and continues once it reads', async () => {
  const stalled = new PassThrough();
  const lines = collectLines(stalled);
  for (let count = 0; count < 40; count++) {
    lines.add(() => `${'x'.repeat(1024 ** 2)}\n`);
    await nextTurn();
  }
  expect(stalled.writableLength).toBeLessThan(20 * 1024 ** 2);
  stalled.resume();
  await expect.poll(() => stalled.writableLength).toBe(0);
  let last = '';
  stalled.on('data', (bytes) => {
    last = String(bytes);
  });
  lines.add(() => 'after\n');
  await expect.poll(() => last).toBe('after\n');
});

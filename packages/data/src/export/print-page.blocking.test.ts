import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import { createPrinter } from './print-page.ts';
import { splitPage } from './split-page.ts';

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

test.each(COSTLY)('a record of 4 MiB of %s does not keep the event loop', async (_name, value) => {
  const { print } = createPrinter('csv', ['a', ...Array.from({ length: 200 }, (_, index) => `f${index}`)]);
  const convert = async (bytes: Uint8Array) => {
    const page = await splitPage(bytes, null, 1);
    if (typeof page === 'string') throw new Error(page);
    for await (const _ of print(page, 0).pieces) await yieldToEventLoop();
  };
  // Made anew for each run, because `splitPage` changes the bytes.
  const makeBytes = () => Buffer.from(`[{"id": 1, "a": ${value}}]`);
  expect(await measureBlocking(convert, makeBytes)).toBeLessThan(BLOCKED_MS_MAX);
});

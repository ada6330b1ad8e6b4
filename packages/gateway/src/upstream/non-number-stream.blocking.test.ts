import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import { ReplacedStream } from './non-number-stream.ts';

test.each([
  ['NaN', 'records'],
  ['Infinity', 'records'],
  ['NaN', 'lists'],
  ['"\\\\"', 'lists'],
] as const)('a piece full of %s keeps the event loop free, in %s', async (value, places) => {
  const piece = Buffer.from(`{"a": ${value}},`.repeat(20_000)).subarray(0, 256 * 1024);
  const prepare = () => {
    const pieces = [piece];
    return new ReplacedStream({ next: () => pieces.shift() ?? null, cancel: () => {} }, places, () => {});
  };
  const readAll = async (stream: ReplacedStream) => {
    while ((await stream.next()) !== null);
  };
  expect(await measureBlocking(readAll, prepare)).toBeLessThan(BLOCKED_MS_MAX);
});

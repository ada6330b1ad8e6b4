import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../test/measure-blocking.ts';
import { ReplacedStream } from './handle-non-numbers.ts';

test.each(['NaN', 'Infinity'])('a piece full of %s keeps the event loop free', async (value) => {
  const piece = Buffer.from(`{"a": ${value}},`.repeat(20_000)).subarray(0, 256 * 1024);
  const prepare = () => {
    const pieces = [piece];
    return new ReplacedStream({ next: () => pieces.shift() ?? null, cancel: () => {} }, () => {});
  };
  const readAll = async (stream: ReplacedStream) => {
    while ((await stream.next()) !== null);
  };
  expect(await measureBlocking(readAll, prepare)).toBeLessThan(BLOCKED_MS_MAX);
});

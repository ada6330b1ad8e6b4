/** The memory of tasks while garbage is collected, and tasks that cannot be sent. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { runInThread } from './run-in-thread.ts';

const ALWAYS = new AbortController().signal;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a result may be a view of bytes that were copied for the thread', async () => {
  for (let round = 0; round < 3; round++) {
    const spaces = ' '.repeat(4 * 1024 ** 2);
    const bytes = Buffer.from(`[${spaces}${round}${spaces}]`);
    const result = runInThread('unwrapOne', [bytes], bytes.length, ALWAYS);
    // In another turn, so that nothing on the stack refers to the copy.
    setImmediate(collectGarbage);
    expect(String(await result)).toBe(String(round));
  }
});

test('a task that cannot be sent is rejected alone', async () => {
  const spaces = Buffer.from(`[${' '.repeat(4 * 1024 ** 2)}1]`);
  const first = runInThread('unwrapOne', [spaces], spaces.length, ALWAYS);
  const unsendable = runInThread('parseValue', [(() => {}) as never], 1, ALWAYS);
  const last = runInThread('unwrapOne', [Buffer.from('[2]')], 3, ALWAYS);
  await expect(unsendable).rejects.toThrow('could not be cloned');
  expect(String(await first)).toBe('1');
  expect(String(await last)).toBe('2');
});

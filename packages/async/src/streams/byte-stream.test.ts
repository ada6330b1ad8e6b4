import { expect, test } from 'vitest';
import { ScriptedStream } from '../../test/scripted-stream.ts';
import { ByteStreamError, readStream } from './byte-stream.ts';

test('reads all bytes of a stream', async () => {
  expect(await readStream(new ScriptedStream('one ', 'two', null))).toEqual(Buffer.from('one two'));
  expect(await readStream(new ScriptedStream(null))).toHaveLength(0);
});

test('cancels a stream with more bytes than the maximum', async () => {
  const [exact, longer] = [new ScriptedStream('1234', null), new ScriptedStream('1234', '5', null)];
  expect(await readStream(exact, 4)).toEqual(Buffer.from('1234'));
  expect(exact.isCancelled).toBe(false);
  expect(await readStream(longer, 4)).toBeNull();
  expect(longer.isCancelled).toBe(true);
});

test('rejects if the stream breaks off', async () => {
  const stream = new ScriptedStream('one');
  stream.give(new ByteStreamError('broken_off', 'the upstream died'));
  await expect(readStream(stream, 100)).rejects.toThrow('the upstream died');
});

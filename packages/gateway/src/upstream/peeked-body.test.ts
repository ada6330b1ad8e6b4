import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { shareInSlices } from '@erp-proxy/async/shared-bytes';
import { expect, test } from 'vitest';
import { blockThread } from '../../../async/test/block-thread.ts';
import { ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { MOMENT_MS } from '../../../server/test/time.ts';
import { countTurns } from '../../../server/test/watch-turns.ts';
import { PeekedBody } from './peeked-body.ts';

test('reads bytes that arrived while the process was busy, although the time has passed', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [writer] = (await once(server, 'connection')) as [Socket];
  writer.write('{"id":');
  const body = new PeekedBody({
    next: async () => (await once(reader, 'data'))[0],
    cancel() {},
  });
  const reading = body.readMoreWithin(1, 100);
  blockThread(MOMENT_MS);
  await reading;
  expect(Buffer.from(body.bytes).toString()).toBe('{"id":');
  reader.destroy();
  server.close();
});

test('reads what has arrived without waiting, and loses nothing of the rest', async () => {
  const whole = new PeekedBody(new ScriptedStream('{', '}', null));
  expect(whole.readArrived(2)).toBe(true);
  expect(String(whole.bytes)).toBe('{}');

  const source = new ScriptedStream('{', '"a"');
  const partial = new PeekedBody(source);
  expect(partial.readArrived(100)).toBe(false);
  source.give(Buffer.from(':1}'));
  source.give(null);
  expect(await partial.readWhole(100)).toBe(true);
  expect(String(partial.bytes)).toBe('{"a":1}');
});

test('reads no more of what has arrived than a bit beyond the limit', () => {
  const source = new ScriptedStream('12', '34', '5', null);
  const body = new PeekedBody(source);
  expect(body.readArrived(3)).toBe(false);
  expect(String(body.bytes)).toBe('1234');
  expect(source.readCount).toBe(2);
});

test('reports a body that fails after the bytes that have arrived at the next read', async () => {
  const source = new ScriptedStream('{');
  const body = new PeekedBody(source);
  expect(body.readArrived(100)).toBe(false);
  source.give(new Error('broken off'));
  // Node ends the process after a rejection that nobody handles.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(body.readMore()).rejects.toThrow('broken off');
});

test('a whole body is read and shared in parts, between which other calls have their turns', async () => {
  const pieces = Array.from({ length: 32 }, (_, index) => Buffer.alloc(64 * 1024, index));
  const body = new PeekedBody(new ScriptedStream(...pieces, null));
  expect(await countTurns(() => body.readWhole(4 * 1024 ** 2))).toBeGreaterThanOrEqual(6);
  expect(body.isWhole).toBe(true);
  let shared: Uint8Array = Buffer.alloc(0);
  const share = async () => {
    shared = await body.share();
  };
  expect(await countTurns(share)).toBeGreaterThanOrEqual(6);
  expect(shared.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(Buffer.concat(pieces).equals(shared)).toBe(true);
  // A thread gets it as it is.
  expect(await shareInSlices([shared])).toBe(shared);
});

test('a short body is not shared', async () => {
  const body = new PeekedBody(new ScriptedStream('{', '}', null));
  await body.readWhole(100);
  expect(String(await body.share())).toBe('{}');
  expect((await body.share()).buffer).toBeInstanceOf(ArrayBuffer);
});

import { expect, test } from 'vitest';
import { PeekedBody } from './peeked-body.ts';

test('reads what has arrived while the process was busy, although the time is over', async () => {
  const pieces = [Buffer.from('{"id":'), Buffer.from('1}'), null];
  const body = new PeekedBody({
    // As a socket gives it: in the turn of the event loop in which it is read.
    next: () => new Promise((resolve) => setImmediate(resolve, pieces.shift())),
    cancel() {},
  });
  const reading = body.readMoreWithin(1, 100);
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
  await reading;
  expect(Buffer.from(body.bytes).toString()).toBe('{"id":');
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
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
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
  await reading;
  expect(Buffer.from(body.bytes).toString()).toBe('{"id":');
  reader.destroy();
  server.close();
});

/** The answer at the door, on real connections. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { OWN_DIALECT } from '../execute/dialect.ts';
import type { Hear } from './door.ts';
import { prepareRefusal, refuseAtDoor } from './refuse-at-door.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A server that refuses everything, and a connection to it. */
async function start() {
  const refusal = prepareRefusal(OWN_DIALECT);
  const hearings: Hear[] = [];
  const server = createServer((request, response) => {
    hearings.push(refuseAtDoor(request, response, refusal));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  open.push(
    () => socket.destroy(),
    () => server.close(),
  );
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  const countAnswers = () => text.split('HTTP/1.1 503 ').length - 1;
  return { hearings, socket, countAnswers, read: () => text };
}

const REQUEST = 'POST / HTTP/1.1\r\nhost: x\r\norigin: https://app.example\r\ncontent-length: 2\r\n\r\n{}';

it('leaves the connection open, and reads nothing of it until the caller is to be heard', async () => {
  const { hearings, socket, countAnswers } = await start();
  socket.write(REQUEST);
  await expect.poll(countAnswers).toBe(1);
  socket.write(REQUEST);
  await sleep(100);
  expect(hearings).toHaveLength(1);
  hearings[0]?.();
  await expect.poll(countAnswers).toBe(2);
});

it('hears a caller at once whose turn comes before the answer has left', async () => {
  const { hearings, socket, countAnswers } = await start();
  for (const count of [1, 2, 3]) {
    socket.write(REQUEST);
    await expect.poll(countAnswers).toBe(count);
    hearings.at(-1)?.();
    hearings.at(-1)?.();
  }
});

it('answers each of the requests that a caller sends without waiting, and loses none', async () => {
  const { hearings, socket, countAnswers } = await start();
  socket.write(REQUEST.repeat(3));
  await expect.poll(countAnswers).toBeGreaterThan(0);
  await expect
    .poll(() => {
      for (const hear of hearings) hear();
      return countAnswers();
    })
    .toBe(3);
});

it('says all that an answer to a call says, also to pages of other origins', async () => {
  const { socket, countAnswers, read } = await start();
  socket.write(REQUEST);
  await expect.poll(countAnswers).toBe(1);
  const [head = '', body = ''] = read().split('\r\n\r\n');
  for (const line of [
    'content-type: application/json',
    'cache-control: no-store',
    'retry-after: 1',
    'access-control-allow-origin: https://app.example',
    `content-length: ${body.length}`,
  ])
    expect(head.split('\r\n')).toContain(line);
  expect(head).toMatch(/\r\nx-request-id: [\w-]{36}\r\n/);
  expect(JSON.parse(body)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -32013,
      message: expect.stringContaining('Send the call again in 1 s; nothing of it was sent.'),
      data: { type: 'overloaded', retryable: true, outcome: 'not_sent' },
    },
  });
});

it('closes the connection where a long body is still to come, after its answer has left whole', async () => {
  const { socket, countAnswers, read } = await start();
  const length = 1024 * 1024;
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
  await expect.poll(countAnswers).toBe(1);
  socket.write('x'.repeat(length));
  await once(socket, 'end');
  expect(read()).toMatch(/\r\nconnection: close\r\n/i);
  expect(read()).toMatch(/"outcome":"not_sent"}}}$/);
});

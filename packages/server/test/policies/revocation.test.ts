/** Tests a key that is revoked or gets another policy during a request: its next call is checked again. */
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerTrue } from '../scripted-upstream.ts';

let pair: Pair;
let onCall: () => unknown = () => {};
beforeEach(async () => {
  onCall = () => {};
  pair = await startPair(async (...exchange) => {
    await onCall();
    return answerTrue(...exchange);
  });
});
afterEach(() => pair.close());

const print = (id: number) =>
  printCall('', { id: String(id), action: '"unlink"', erp_instance: printInstance(pair.upstream.url) });

test('a slow body does not run for a key that was revoked meanwhile', async () => {
  const { key, record } = await pair.proxy.app.keys.create({ name: 'slow' });
  const body = print(1);
  const { hostname, port } = new URL(pair.proxy.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  // The key has been checked once the request is in flight.
  await expect
    .poll(async () => (await pair.proxy.app.store.keys.findById(record.id))?.lastUsedAt)
    .not.toBeNull();
  await pair.proxy.app.keys.revoke(record.id);
  socket.write(body.slice(10));
  const [answer] = await new Promise<[Buffer]>((resolve) =>
    socket.once('data', (...data) => resolve(data as [Buffer])),
  );
  socket.destroy();
  expect(answer.toString()).toContain('HTTP/1.1 401');
  expect(pair.upstream.requests).toHaveLength(0);
});

test('a batch ends for a key that is revoked during it', async () => {
  const { key, record } = await pair.proxy.app.keys.create({
    name: 'batch',
    policy: { origins: [pair.upstream.url], models: { 'res.partner': ['unlink'] }, concurrency: 1 },
  });
  onCall = () => pair.proxy.app.keys.revoke(record.id);
  const { json } = await pair.proxy.call(`[${print(1)},${print(2)},${print(3)}]`, { 'x-proxy-api': key });
  expect(json).toMatchObject([
    { id: 1, result: true },
    { id: 2, error: { code: -32000, data: { type: 'unauthorized' } } },
    { id: 3, error: { code: -32000 } },
  ]);
  expect(pair.upstream.requests).toHaveLength(1);
});

test('a narrower policy applies to the rest of a batch', async () => {
  const policy = { origins: [pair.upstream.url], models: { 'res.partner': ['*'] }, concurrency: 1 };
  const { key, record } = await pair.proxy.app.keys.create({ name: 'batch', policy });
  onCall = () =>
    pair.proxy.app.keys.update(record.id, 1, { policy: { ...policy, models: { 'res.partner': ['read'] } } });
  const { json } = await pair.proxy.call(`[${print(1)},${print(2)}]`, { 'x-proxy-api': key });
  expect(json).toMatchObject([{ result: true }, { error: { data: { type: 'policy_denied' } } }]);
});

/** Where a connection may lead. `packages/egress/src/dispatcher.test.ts` sends requests to servers of all kinds. */
import { expect, test } from 'vitest';
import { type RawServer, startRawServer } from '../../../egress/test/raw-server.ts';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { ENDLESS_MS } from '../../../server/test/time.ts';
import { Connection } from './connection.ts';
import type { Guard } from './destination.ts';
import { Dialer } from './dialer.ts';
import type { WireAnswer, WireFailure } from './messages.ts';
import { buildRequest } from './request-bytes.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';

async function serve(): Promise<RawServer> {
  return closeAfterTest(await startRawServer((socket) => socket.end(ANSWER)));
}

async function send(server: RawServer, guard: Guard): Promise<WireAnswer | WireFailure> {
  const dialer = closeAfterTest(
    new Dialer({ connectTimeoutMs: ENDLESS_MS, firstByteTimeoutMs: null, nowMs: () => 0 }),
  );
  const target = { secure: false, host: 'erp.test', port: server.port, isLiteral: false };
  const connection = new Connection({
    dialer,
    guard,
    target,
    secureContext: () => {
      throw new Error('not used');
    },
    session: null,
    onFree: () => {},
    onGone: () => {},
  });
  const request = buildRequest({ method: 'GET', path: '/', headers: {}, body: null }, 'erp.test');
  return connection.send(request, { signal: new AbortController().signal });
}

test('the guard is asked for each address before any is dialled, and one refusal refuses all', async () => {
  const server = await serve();
  const asked: string[] = [];
  const check = (address: string) => {
    asked.push(address);
    return address === '127.0.0.2' ? { detail: 'not this one' } : null;
  };
  const outcome = await send(server, { findAddresses: () => ['127.0.0.1', '127.0.0.2'], check });
  expect(outcome).toEqual({ ok: false, reason: 'denied', sent: false, detail: 'not this one' });
  expect(asked).toEqual(['127.0.0.1', '127.0.0.2']);
  expect(server.connections).toBe(0);
});

test('the guard is asked again for the address that was reached, before a byte is sent', async () => {
  const server = await serve();
  let asked = 0;
  const check = () => (++asked > 2 ? { detail: 'not any more' } : null);
  const outcome = await send(server, { findAddresses: () => ['127.0.0.1', '127.0.0.2'], check });
  expect(outcome).toEqual({ ok: false, reason: 'denied', sent: false, detail: 'not any more' });
  expect(server.requests).toEqual([]);
});

test('only addresses of the guard are dialled, whatever the name of the server is', async () => {
  const server = await serve();
  const outcome = await send(server, { findAddresses: async () => ['127.0.0.1'], check: () => null });
  expect(outcome).toMatchObject({ ok: true, status: 200 });
});

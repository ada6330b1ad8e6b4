import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { ENDLESS_MS } from '../../server/test/time.ts';
import { createEgressDispatcher, fetchWhole } from './dispatcher.ts';
import { parseEgressPolicy } from './policy.ts';

async function fetchFrom(answer: RequestListener, bytesMax = 1_000, timeoutMs = ENDLESS_MS) {
  const server = createServer(answer);
  closeAfterTest({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const egress = closeAfterTest(
    createEgressDispatcher({
      allow: parseEgressPolicy([origin]).policy,
      connectTimeoutMs: ENDLESS_MS,
      firstByteTimeoutMs: ENDLESS_MS,
    }),
  );
  return fetchWhole(
    egress,
    { method: 'GET', origin, path: '/', headers: {}, body: null },
    { signal: AbortSignal.timeout(timeoutMs), bytesMax },
  );
}

test('reads a whole answer', async () => {
  const answer = await fetchFrom((_, response) =>
    response.writeHead(404, { etag: 'x' }).end('a'.repeat(1_000)),
  );
  expect(answer).toMatchObject({ ok: true, status: 404, headers: { etag: 'x' } });
  expect('body' in answer && answer.body.toString()).toBe('a'.repeat(1_000));
});

test('stops reading an answer that is too large, whether it states its length or not', async () => {
  const write: RequestListener = (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(10_000)));
    };
    response.on('drain', more);
    more();
  };
  expect(await fetchFrom(write)).toMatchObject({ ok: false, reason: 'bad_response' });
  expect(await fetchFrom((_, response) => response.end(Buffer.alloc(1_001)))).toMatchObject({ ok: false });
});

test('reports an answer that broke off', async () => {
  const answer = await fetchFrom((_, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half', () => response.destroy());
  });
  expect(answer).toMatchObject({ ok: false, reason: 'reset', sent: true });
});

test('ends with its signal, also in the middle of an answer', async () => {
  const silent = await fetchFrom(() => {}, 1_000, 100);
  expect(silent).toMatchObject({ ok: false, reason: 'aborted' });
  const half = await fetchFrom((_, response) => void response.write('half'), 1_000, 200);
  expect(half).toMatchObject({ ok: false, reason: 'aborted' });
});

/** Sends requests to servers that answer correctly, incorrectly, late or not at all. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteStreamError } from '@erp-proxy/async/streams';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readText } from '../../async/test/scripted-stream.ts';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { recordTimers } from '../../server/test/own-timers.ts';
import { countCases } from '../../server/test/random-cases.ts';
import { ENDLESS_MS, expectToStay, MOMENT_MS, passTurns, pause, runLater } from '../../server/test/time.ts';
import { type RawServer, startRawServer } from '../test/raw-server.ts';
import {
  OTHER_TEST_CERTIFICATE,
  OTHER_TEST_KEY,
  TEST_CERTIFICATE,
  TEST_KEY,
} from '../test/test-certificate.ts';
import {
  createEgressDispatcher,
  createGuard,
  type EgressDispatcher,
  type EgressOptions,
} from './dispatcher.ts';
import type { EgressAnswer, EgressFailure, EgressRequest, EgressTrust } from './messages.ts';
import { checkAddress, checkOrigin, parseEgressPolicy } from './policy.ts';

async function serve(...given: Parameters<typeof startRawServer>): Promise<RawServer> {
  return closeAfterTest(await startRawServer(...given));
}

function makeDispatcher(options: Partial<EgressOptions> = {}): EgressDispatcher {
  return closeAfterTest(
    createEgressDispatcher({
      allow: parseEgressPolicy(['127.0.0.0/8']).policy,
      connectTimeoutMs: ENDLESS_MS,
      firstByteTimeoutMs: null,
      ...options,
    }),
  );
}

/** Sends a POST of `{}` by default. */
function send(
  dispatcher: EgressDispatcher,
  origin: string,
  more: Partial<EgressRequest> & { signal?: AbortSignal } = {},
): Promise<EgressAnswer | EgressFailure> {
  const { signal = new AbortController().signal, ...request } = more;
  const whole: EgressRequest = {
    method: 'POST',
    origin,
    path: '/',
    headers: {},
    body: Buffer.from('{}'),
    ...request,
  };
  return dispatcher.send(whole, { signal });
}

async function sendWell(...given: Parameters<typeof send>): Promise<EgressAnswer> {
  const answer = await send(...given);
  if (!answer.ok) throw new Error(`${answer.reason}: ${answer.detail}`);
  return answer;
}

/** From now on no timer ends in this test, such as those that close unused connections. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
}

/** Like `expect.poll`, which would move the fake clock. */
async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await passTurns();
}

/** Waits until the server has no connections. Call `stopTimers` before, so that none closes them. */
function waitUntilClosed(server: RawServer): Promise<void> {
  return waitUntil(() => server.sockets.size === 0);
}

/** Returns a function for the largest number of bytes that a socket was given in one turn of the event loop. */
function watchWrites(): () => number {
  let watched: Socket | undefined;
  let longest = 0;
  let before = 0;
  const measure = () => {
    const written = watched?.bytesWritten ?? 0;
    longest = Math.max(longest, written - before);
    before = written;
    turn = setImmediate(measure);
  };
  let turn = setImmediate(measure);
  const onConnect = (message: unknown) => {
    watched = (message as { socket: Socket }).socket;
  };
  subscribe('net.client.socket', onConnect);
  closeAfterTest({
    close() {
      unsubscribe('net.client.socket', onConnect);
      clearImmediate(turn);
    },
  });
  return () => longest;
}

const KEEPING = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const CLOSING = 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello';

describe('a request', () => {
  test('is not sent if the question whether it is still wanted fails', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const body = Buffer.from('{}');
    const request = { method: 'POST', origin: server.origin, path: '/', headers: {}, body } as const;
    const isStillWanted = () => Promise.reject(new Error('the call has ended'));
    const { signal } = new AbortController();
    const answer = await makeDispatcher().send(request, { signal, isStillWanted });
    expect(answer).toMatchObject({ ok: false, reason: 'withdrawn' });
    expect(server.requests).toEqual([]);
  });

  test('is sent whole, with host, content-length and as few headers as possible', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const body = Buffer.from('{"a":"é"}');
    await sendWell(makeDispatcher(), server.origin, { path: '/jsonrpc?x=1', headers: { 'x-a': 'b' }, body });
    expect(server.requests[0]).toBe(
      `POST /jsonrpc?x=1 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\nx-a: b\r\n` +
        `content-length: 10\r\n\r\n${body.toString('latin1')}`,
    );
  });

  test('is written in slices, with turns of the event loop in between, however fast the server reads', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const longestBytes = watchWrites();
    const body = Buffer.alloc(8 * 1024 ** 2, 'x');
    await sendWell(makeDispatcher(), server.origin, { body });
    expect(server.requests[0]).toHaveLength(server.requests[0]!.indexOf('\r\n\r\n') + 4 + body.length);
    expect(longestBytes()).toBeGreaterThan(100_000);
    expect(longestBytes()).toBeLessThan(600_000);
  });

  test('that is a GET has no content-length', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    await sendWell(makeDispatcher(), server.origin, { method: 'GET', body: null });
    expect(server.requests[0]).not.toMatch(/content-length/i);
  });

  test.each([
    { headers: { 'x-a': 'b\r\nx-c: d' } },
    { headers: { 'x\r\na': 'b' } },
    { headers: { host: 'other.example' } },
    { headers: { 'transfer-encoding': 'chunked' } },
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: 'http://127.0.0.1/' },
  ])('that a server could read as more than one request is not sent: %j', async (more) => {
    const server = await serve((socket) => socket.end(CLOSING));
    await expect(send(makeDispatcher(), server.origin, more)).rejects.toThrow(/./);
    expect(server.requests).toEqual([]);
  });
});

describe('an answer', () => {
  test('has status, headers in lower case, length and body', async () => {
    const server = await serve((socket) =>
      socket.end(
        'HTTP/1.1 404 No\r\nX-A: b\r\nSet-Cookie: c=d\r\nSet-Cookie: e=f\r\nContent-Length: 5\r\n\r\nhello',
      ),
    );
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(answer).toMatchObject({
      status: 404,
      headers: { 'x-a': 'b', 'set-cookie': ['c=d', 'e=f'] },
      bodyLength: 5,
    });
    expect(await readText(answer.body)).toBe('hello');
    expect(answer.body.next()).toBeNull();
  });

  test('in chunks is joined, and has no known length', async () => {
    const server = await serve((socket) =>
      socket.end(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: x\r\n\r\n',
      ),
    );
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(answer.bodyLength).toBeNull();
    expect(await readText(answer.body)).toBe('hello');
  });

  test('is delivered before its body is complete', async () => {
    const server = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe'));
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(Buffer.from((await answer.body.next())!).toString()).toBe('he');
    const rest = answer.body.next();
    for (const socket of server.sockets) socket.write('llo');
    expect(Buffer.from((await rest)!).toString()).toBe('llo');
    expect(await answer.body.next()).toBeNull();
  });

  test('can follow an interim answer', async () => {
    const server = await serve((socket) =>
      socket.end(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${KEEPING}`),
    );
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(answer.status).toBe(200);
    expect(await readText(answer.body)).toBe('hello');
  });

  test('that redirects is passed on, not followed', async () => {
    const elsewhere = await serve((socket) => socket.end(CLOSING));
    const server = await serve((socket) =>
      socket.end(`HTTP/1.1 307 Go\r\nLocation: ${elsewhere.origin}/\r\nContent-Length: 0\r\n\r\n`),
    );
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(answer.status).toBe(307);
    expect(await readText(answer.body)).toBe('');
    expect(elsewhere.connections).toBe(0);
  });

  test('without a length ends with its connection', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'));
    expect(await readText((await sendWell(makeDispatcher(), server.origin)).body)).toBe('hello');
  });

  test.each([
    ['a protocol that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two framings', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'],
    ['a length that is not a number', 'HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length : 5\r\n\r\nhello'],
    ['an upgrade', 'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'],
    ['a huge head', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'an encoding that was not requested',
      'HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 5\r\n\r\nhello',
    ],
  ])('with %s is a bad response', async (_what, bytes) => {
    const server = await serve((socket) => socket.end(bytes));
    expect(await send(makeDispatcher(), server.origin)).toMatchObject({
      ok: false,
      reason: 'bad_response',
      sent: true,
    });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('compressed with %s is decompressed', async (coding, pack) => {
    const packed = pack(Buffer.from('hello'.repeat(1_000)));
    const server = await serve((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${packed.length}\r\n\r\n`,
      );
      socket.write(packed);
    });
    const answer = await sendWell(makeDispatcher(), server.origin);
    expect(answer.bodyLength).toBeNull();
    expect(await readText(answer.body)).toBe('hello'.repeat(1_000));
  });
});

describe('a truncated body never looks complete', () => {
  const CASES: [string, string][] = [
    ['content-length, kept', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello'],
    ['content-length, closing', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello'],
    ['content-length, HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello'],
    ['no byte of it', 'HTTP/1.0 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\n'],
    ['chunks, kept', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    [
      'chunks, closing',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n',
    ],
    [
      'within a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nff\r\nhello',
    ],
    [
      'within the last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n',
    ],
  ];

  test.each(CASES)('by the end of the connection: %s', async (_what, bytes) => {
    const server = await serve((socket) => socket.end(bytes));
    const answer = await sendWell(makeDispatcher(), server.origin);
    await expect(readText(answer.body)).rejects.toThrow(ByteStreamError);
    await expect(readText(answer.body)).rejects.toThrow(ByteStreamError);
  });

  test.each([
    ...CASES,
    ['no framing', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello'],
    ['no framing, HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nhello'],
  ])('by a reset: %s', async (_what, bytes) => {
    const server = await serve((socket) => socket.write(bytes));
    const answer = await sendWell(makeDispatcher(), server.origin);
    for (const socket of server.sockets) socket.resetAndDestroy();
    await expect(readText(answer.body)).rejects.toMatchObject({
      name: 'ByteStreamError',
      reason: 'broken_off',
    });
  });

  test('and bytes after the content-length are dropped', async () => {
    const server = await serve((socket) => socket.end(`${CLOSING} and more`));
    expect(await readText((await sendWell(makeDispatcher(), server.origin)).body)).toBe('hello');
  });
});

describe('a server that fails before its answer', () => {
  test('has received nothing if it refuses the connection', async () => {
    const server = await startRawServer(() => {});
    await server.close();
    expect(await send(makeDispatcher(), server.origin)).toMatchObject({ reason: 'refused', sent: false });
  });

  test.each(['end', 'resetAndDestroy'] as const)('with %s may have received the request', async (how) => {
    const server = await serve((socket) => void socket[how]());
    expect(await send(makeDispatcher(), server.origin)).toMatchObject({ reason: 'reset', sent: true });
  });

  test.each(['http', 'https'])(
    'while it receives a large request has not received it: %s',
    async (scheme) => {
      const tls = scheme === 'https' ? { tls: { key: TEST_KEY, cert: TEST_CERTIFICATE } } : {};
      const server = await serve(() => {}, tls);
      const certificates = [TEST_CERTIFICATE];
      const dispatcher = makeDispatcher({ certificates, resolve: async () => ['127.0.0.1'] });
      const body = Buffer.alloc(32 * 1024 * 1024, 'x');
      const sending = send(dispatcher, `${scheme}://erp.test:${server.port}`, { body });
      const resetInTheMiddle = () => {
        const [socket] = server.sockets;
        if (socket !== undefined && socket.bytesRead > 1024 * 1024) socket.resetAndDestroy();
        else setImmediate(resetInTheMiddle);
      };
      resetInTheMiddle();
      expect(await sending).toMatchObject({ ok: false, reason: 'reset', sent: false });
    },
  );

  test('by closing within its head may have received the request', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'));
    expect(await send(makeDispatcher(), server.origin)).toMatchObject({ ok: false, sent: true });
  });

  test('has the time limit for the first byte, after which its connection is closed', async () => {
    const server = await serve(() => {});
    expect(await send(makeDispatcher({ firstByteTimeoutMs: 50 }), server.origin)).toMatchObject({
      reason: 'first_byte_timeout',
      sent: true,
    });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  test('can take longer than that for the following bytes', async () => {
    const firstByteTimeoutMs = ENDLESS_MS;
    stopTimers();
    const server = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe'));
    const answer = await sendWell(makeDispatcher({ firstByteTimeoutMs }), server.origin);
    await vi.advanceTimersByTimeAsync(2 * firstByteTimeoutMs);
    for (const socket of server.sockets) socket.write('llo');
    expect(await readText(answer.body)).toBe('hello');
  });

  describe('has the time limit for the first byte from the last byte of the request on', () => {
    const firstByteTimeoutMs = 60_000;

    /** Sends a large request to a server that reads it only after ten times the limit, on a fake clock. */
    async function sendToSlowReader() {
      stopTimers();
      const timesMs = recordTimers();
      const server = await serve(() => {}, { isPaused: true });
      let settled: EgressAnswer | EgressFailure | null = null;
      const outcome = send(makeDispatcher({ firstByteTimeoutMs }), server.origin, {
        // The buffers of the kernel cannot hold it.
        body: Buffer.alloc(32 * 1024 * 1024, 'x'),
      }).then((result) => {
        settled = result;
        return result;
      });
      await waitUntil(() => server.sockets.size === 1);
      const [socket] = [...server.sockets] as [Socket];
      socket.once('data', () => socket.pause()).resume();
      await waitUntil(() => socket.bytesRead > 0);
      await vi.advanceTimersByTimeAsync(10 * firstByteTimeoutMs);
      expect(settled).toBeNull();

      socket.resume();
      // The whole request has arrived, and the time limit runs.
      await waitUntil(() => server.requests.length === 1);
      await waitUntil(() => timesMs.includes(firstByteTimeoutMs));
      await vi.advanceTimersByTimeAsync(firstByteTimeoutMs - 1);
      expect(settled).toBeNull();
      return { socket, outcome };
    }

    test('and receives an answer before it', async () => {
      const { socket, outcome } = await sendToSlowReader();
      socket.end(CLOSING);
      expect(await outcome).toMatchObject({ ok: true, status: 200 });
    });

    test('and fails after it', async () => {
      const { outcome } = await sendToSlowReader();
      await vi.advanceTimersByTimeAsync(1);
      expect(await outcome).toMatchObject({ ok: false, reason: 'first_byte_timeout', sent: true });
    });
  });
});

describe('connecting', () => {
  const connectTimeoutMs = 60_000;

  /** Sends a request, and expects that it fails at the end of the time limit, on a fake clock. */
  async function expectLate(
    origin: string,
    options: Partial<EgressOptions>,
    hasBegun: () => boolean,
  ): Promise<void> {
    stopTimers();
    const timesMs = recordTimers();
    let settled: EgressAnswer | EgressFailure | null = null;
    const outcome = send(makeDispatcher({ connectTimeoutMs, ...options }), origin).then((result) => {
      settled = result;
      return result;
    });
    await waitUntil(() => hasBegun() && timesMs.includes(connectTimeoutMs));
    await vi.advanceTimersByTimeAsync(connectTimeoutMs - 1);
    expect(settled).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject({ reason: 'connect_timeout', sent: false });
  }

  test('includes slow DNS in its time limit', async () => {
    let isAsked = false;
    const resolve = () => {
      isAsked = true;
      return new Promise<never>(() => {});
    };
    await expectLate('https://erp.test', { resolve }, () => isAsked);
  });

  test('includes a slow TLS handshake in its time limit', async () => {
    const server = await serve(() => {});
    await expectLate(`https://127.0.0.1:${server.port}`, {}, () => server.sockets.size === 1);
    await waitUntilClosed(server);
  });

  test('reports a name without an address', async () => {
    const failing = makeDispatcher({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await send(failing, 'https://erp.test')).toMatchObject({ reason: 'unresolved', sent: false });
    const empty = makeDispatcher({ resolve: async () => [] });
    expect(await send(empty, 'https://erp.test')).toMatchObject({ reason: 'unresolved', sent: false });
  });

  test('tries the other addresses of a name', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const dispatcher = makeDispatcher({ resolve: async () => ['127.0.0.77', '127.0.0.1'] });
    expect(await readText((await sendWell(dispatcher, `http://erp.test:${server.port}`)).body)).toBe('hello');
  });
});

describe('TLS', () => {
  const tls = { key: TEST_KEY, cert: TEST_CERTIFICATE };
  const resolve = async () => ['127.0.0.1'];

  test('with an untrusted certificate is refused before any byte of the request is sent', async () => {
    const server = await serve((socket) => socket.end(CLOSING), { tls });
    const dispatcher = makeDispatcher({ resolve });
    const outcome = await send(dispatcher, `https://erp.test:${server.port}`);
    expect(outcome).toMatchObject({ reason: 'tls', sent: false });
    expect(server.requests).toEqual([]);
  });

  test('with a certificate for another name or without the address is refused', async () => {
    const server = await serve((socket) => socket.end(CLOSING), { tls });
    const dispatcher = makeDispatcher({ resolve, certificates: [TEST_CERTIFICATE] });
    for (const origin of [`https://other.test:${server.port}`, server.origin]) {
      expect(await send(dispatcher, origin)).toMatchObject({ reason: 'tls', sent: false });
    }
    expect(server.requests).toEqual([]);
  });

  test('with a trusted certificate works by name, several times', async () => {
    const names: unknown[] = [];
    const server = await serve(
      (socket) => {
        names.push('servername' in socket ? socket.servername : null);
        socket.end(CLOSING);
      },
      { tls },
    );
    const dispatcher = makeDispatcher({ resolve, certificates: [TEST_CERTIFICATE] });
    for (let round = 0; round < 3; round++) {
      expect(await readText((await sendWell(dispatcher, `https://erp.test:${server.port}`)).body)).toBe(
        'hello',
      );
    }
    expect(names).toEqual(['erp.test', 'erp.test', 'erp.test']);
    expect(server.requests[0]).toContain(`host: erp.test:${server.port}\r\n`);
  });

  test('that ends within a body breaks it off', async () => {
    const server = await serve((socket) => socket.end(CLOSING.replace('5', '50')), { tls });
    const dispatcher = makeDispatcher({ resolve, certificates: [TEST_CERTIFICATE] });
    await expect(
      readText((await sendWell(dispatcher, `https://erp.test:${server.port}`)).body),
    ).rejects.toThrow(ByteStreamError);
  });

  test('that the server resets within the handshake is refused', async () => {
    const server = await serve(() => {});
    const outcome = send(makeDispatcher(), `https://127.0.0.1:${server.port}`);
    await expect.poll(() => server.sockets.size).toBe(1);
    for (const socket of server.sockets) socket.resetAndDestroy();
    expect(await outcome).toMatchObject({ reason: 'tls', sent: false });
  });

  test('to a server that does not use TLS is refused', async () => {
    const server = await serve(() => {});
    const outcome = send(makeDispatcher(), `https://127.0.0.1:${server.port}`);
    await expect.poll(() => server.sockets.size).toBe(1);
    for (const socket of server.sockets) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(await outcome).toMatchObject({ reason: 'tls', sent: false });
  });
});

describe('a trust', () => {
  const resolve = async () => ['127.0.0.1'];
  const tls = { key: TEST_KEY, cert: TEST_CERTIFICATE };
  const TRUSTED: EgressTrust = { id: 'own', certificates: TEST_CERTIFICATE, isAllowed: false };
  const ALLOWED: EgressTrust = { id: 'allowed', certificates: null, isAllowed: true };
  const nothing = parseEgressPolicy([]).policy;

  test('reaches a server by its certificate, which other requests do not trust', async () => {
    const server = await serve((socket) => socket.write(KEEPING), { tls });
    const dispatcher = makeDispatcher({ resolve });
    const origin = `https://erp.test:${server.port}`;
    for (let round = 0; round < 2; round++) {
      expect(await readText((await sendWell(dispatcher, origin, { trust: TRUSTED })).body)).toBe('hello');
      expect(await send(dispatcher, origin)).toMatchObject({ reason: 'tls', sent: false });
    }
    expect(server.requests).toHaveLength(2);
  });

  test('replaces the certificates that apply to all', async () => {
    const server = await serve((socket) => socket.write(KEEPING), { tls });
    const dispatcher = makeDispatcher({ resolve, certificates: [TEST_CERTIFICATE] });
    const origin = `https://erp.test:${server.port}`;
    expect(await readText((await sendWell(dispatcher, origin)).body)).toBe('hello');
    const trust = { id: 'other', certificates: OTHER_TEST_CERTIFICATE, isAllowed: false };
    expect(await send(dispatcher, origin, { trust })).toMatchObject({ reason: 'tls', sent: false });
  });

  test('accepts several certificates, anywhere in the text', async () => {
    const certificates = `the old one:\n${OTHER_TEST_CERTIFICATE}\nand the new one:\n${TEST_CERTIFICATE}\n`;
    const trust = { id: 'both', certificates, isAllowed: false };
    const dispatcher = makeDispatcher({ resolve });
    for (const pair of [tls, { key: OTHER_TEST_KEY, cert: OTHER_TEST_CERTIFICATE }]) {
      const server = await serve((socket) => socket.end(CLOSING), { tls: pair });
      const answer = await sendWell(dispatcher, `https://erp.test:${server.port}`, { trust });
      expect(await readText(answer.body)).toBe('hello');
    }
  });

  test('that is changed applies from the next request, whatever connections are open', async () => {
    const server = await serve((socket) => socket.write(KEEPING), { tls });
    const dispatcher = makeDispatcher({ resolve });
    const origin = `https://erp.test:${server.port}`;
    expect(await readText((await sendWell(dispatcher, origin, { trust: TRUSTED })).body)).toBe('hello');
    const changed = { ...TRUSTED, id: 'changed', certificates: OTHER_TEST_CERTIFICATE };
    expect(await send(dispatcher, origin, { trust: changed })).toMatchObject({ reason: 'tls', sent: false });
    expect(await readText((await sendWell(dispatcher, origin, { trust: TRUSTED })).body)).toBe('hello');
  });

  test('shares its connections only with the same trust', async () => {
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher();
    const trusts = [null, ALLOWED, { ...ALLOWED }, { ...ALLOWED, id: 'another' }, undefined];
    for (const trust of trusts) {
      const more = trust === undefined ? {} : { trust };
      expect(await readText((await sendWell(dispatcher, server.origin, more)).body)).toBe('hello');
    }
    expect(server.connections).toBe(3);
  });

  test('allows the address for its own requests, and not for others to the same origin', async () => {
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher({ allow: nothing });
    for (let round = 0; round < 2; round++) {
      expect(dispatcher.check(server.origin, ALLOWED)).toBeNull();
      expect(await readText((await sendWell(dispatcher, server.origin, { trust: ALLOWED })).body)).toBe(
        'hello',
      );
      expect(dispatcher.check(server.origin)).toMatchObject({ rule: 'address' });
      expect(dispatcher.check(server.origin, { ...ALLOWED, id: 'none', isAllowed: false })).not.toBeNull();
      expect(await send(dispatcher, server.origin)).toMatchObject({ reason: 'denied', sent: false });
    }
    expect(server.connections).toBe(1);
  });

  test('allows a name with a private address over plain http, and no name with a link-local address', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const origin = `http://erp.test:${server.port}`;
    const dispatcher = makeDispatcher({ allow: nothing, resolve });
    expect(await readText((await sendWell(dispatcher, origin, { trust: ALLOWED })).body)).toBe('hello');
    const misled = makeDispatcher({ allow: nothing, resolve: async () => ['169.254.169.254'] });
    expect(await send(misled, origin, { trust: ALLOWED })).toMatchObject({ reason: 'denied', sent: false });
  });

  test('with an unreadable certificate is a failure of TLS', async () => {
    const server = await serve((socket) => socket.end(CLOSING), { tls });
    const trust = {
      id: 'broken',
      certificates: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      isAllowed: false,
    };
    const outcome = await send(makeDispatcher({ resolve }), `https://erp.test:${server.port}`, { trust });
    expect(outcome).toMatchObject({ reason: 'tls', sent: false });
  });

  test('counts among the thousand pools of connections', async () => {
    // On a busy machine, the first ones would have been idle for too long before the last one is asked for.
    stopTimers();
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher();
    for (let n = 0; n < 1_010; n++) {
      const trust = { ...ALLOWED, id: String(n) };
      await readText((await sendWell(dispatcher, server.origin, { trust })).body);
    }
    await waitUntil(() => server.sockets.size <= 1_000);
    expect(server.sockets.size).toBeGreaterThan(900);
  });
});

describe('connections', () => {
  test('are kept if the server keeps them', async () => {
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher();
    for (let round = 0; round < 3; round++) {
      expect(await readText((await sendWell(dispatcher, server.origin)).body)).toBe('hello');
    }
    expect(server.connections).toBe(1);
  });

  test('with TLS are kept if an answer is read before Node reports that the request was written', async () => {
    const answers = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(new URL('../test/tls-server.fixture.ts', import.meta.url), {
      workerData: { answers, answer: KEEPING },
      execArgv: [],
    });
    closeAfterTest({ close: () => server.terminate() });
    const [port] = await once(server, 'message');
    const dispatcher = makeDispatcher({
      certificates: [TEST_CERTIFICATE],
      resolve: async () => ['127.0.0.1'],
    });
    const origin = `https://erp.test:${port}`;
    const request: EgressRequest = {
      method: 'POST',
      origin,
      path: '/',
      headers: {},
      body: Buffer.from('{}'),
    };
    for (let count = 0; count < 3; count++) {
      const answer = await dispatcher.send(request, {
        signal: new AbortController().signal,
        maySend() {
          // Blocks the event loop after the request is written, until the answer has arrived.
          process.nextTick(() => Atomics.wait(answers, 0, count));
          return true;
        },
      });
      if (!answer.ok) throw new Error(answer.detail);
      expect(await readText(answer.body)).toBe('hello');
      await passTurns(2);
    }
    server.postMessage('connections');
    expect(await once(server, 'message')).toEqual([1]);
  });

  test('are used for a minute, after which a name that has moved leads to its new address', async () => {
    const former = await serve((socket) => socket.write(KEEPING));
    const present = await serve((socket) => socket.write(KEEPING), { host: '127.0.0.2', port: former.port });
    let nowMs = 0;
    let address = '127.0.0.1';
    const dispatcher = makeDispatcher({ nowMs: () => nowMs, resolve: async () => [address] });
    const sendNow = async () => {
      const { body } = await sendWell(dispatcher, `http://erp.test:${former.port}`);
      expect(await readText(body)).toBe('hello');
    };
    await sendNow();
    address = '127.0.0.2';
    for (nowMs = 1000; nowMs < 60_000; nowMs += 1000) await sendNow();
    expect([former.connections, former.requests.length, present.connections]).toEqual([1, 60, 0]);
    await sendNow();
    await sendNow();
    expect([former.requests.length, present.connections, present.requests.length]).toEqual([60, 1, 2]);
    await expect.poll(() => former.sockets.size).toBe(0);
  });

  test('are never shared by concurrent calls', async () => {
    // The server answers once it has all requests.
    const server = await serve(() => {
      if (server.requests.length === 20) for (const socket of server.sockets) socket.write(KEEPING);
    });
    const dispatcher = makeDispatcher();
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendWell(dispatcher, server.origin)));
    expect(await Promise.all(answers.map(({ body }) => readText(body)))).toEqual(Array(20).fill('hello'));
    expect(server.connections).toBe(20);
  });

  test('that the server closed while idle are replaced', async () => {
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher();
    await readText((await sendWell(dispatcher, server.origin)).body);
    for (const socket of server.sockets) socket.end();
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(await readText((await sendWell(dispatcher, server.origin)).body)).toBe('hello');
    expect(server.connections).toBe(2);
  });

  test('that the server closes at the second request may have delivered it', async () => {
    const server = await serve(
      (socket, _request, index) => void (index === 0 ? socket.write(KEEPING) : socket.end()),
    );
    const dispatcher = makeDispatcher();
    await readText((await sendWell(dispatcher, server.origin)).body);
    expect(await send(dispatcher, server.origin)).toMatchObject({ reason: 'reset', sent: true });
  });

  test.each(['http', 'https'])(
    'are not used again if the answer came before the whole request was sent: %s',
    async (scheme) => {
      let connections = 0;
      const answer = (socket: Socket) => {
        connections++;
        socket.on('error', () => {});
        // Leaves the rest of the request unread, which then cannot be sent.
        socket.once('data', () => {
          socket.pause();
          socket.write(KEEPING);
        });
      };
      const listener =
        scheme === 'https'
          ? createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, answer)
          : createServer(answer);
      listener.listen(0, '127.0.0.1');
      await once(listener, 'listening');
      closeAfterTest({ close: () => void listener.close() });
      const origin = `${scheme}://erp.test:${(listener.address() as AddressInfo).port}`;
      const certificates = [TEST_CERTIFICATE];
      const dispatcher = makeDispatcher({ certificates, resolve: async () => ['127.0.0.1'] });
      const body = Buffer.alloc(32 * 1024 * 1024, 'x');
      expect(await readText((await sendWell(dispatcher, origin, { body })).body)).toBe('hello');
      await passTurns(3);
      expect(await readText((await sendWell(dispatcher, origin)).body)).toBe('hello');
      expect(connections).toBe(2);
    },
  );

  test('are not used again if the system has not taken the last bytes of the request', async () => {
    let watched: Socket | undefined;
    const onConnect = (message: unknown) => {
      watched = (message as { socket: Socket }).socket;
    };
    subscribe('net.client.socket', onConnect);
    closeAfterTest({ close: () => unsubscribe('net.client.socket', onConnect) });
    const server = await serve(() => {}, { isPaused: true });
    const dispatcher = makeDispatcher();
    let count = 0;
    // How much the system takes is not known, and each size has another last slice.
    for (let bytes = 1024 ** 2; bytes <= 16 * 1024 ** 2; bytes += 512 * 1024) {
      const sending = sendWell(dispatcher, server.origin, { body: Buffer.alloc(bytes, 'x') });
      await expect.poll(() => watched?.bytesWritten ?? 0).toBeGreaterThan(0);
      let before = -1;
      while (watched!.bytesWritten !== before) {
        before = watched!.bytesWritten;
        await pause();
      }
      const isLastSlice = watched!.bytesWritten > bytes && watched!.writableLength > 0;
      [...server.sockets].at(-1)!.write(KEEPING);
      expect(await readText((await sending).body)).toBe('hello');
      await passTurns(3);
      if (isLastSlice) {
        count++;
        expect(watched!.destroyed || watched!.closed).toBe(true);
      }
      for (const socket of server.sockets) socket.destroy();
      await expect.poll(() => server.sockets.size).toBe(0);
      await expect.poll(() => watched!.destroyed || watched!.closed).toBe(true);
      watched = undefined;
    }
    expect(count).toBeGreaterThan(0);
  });

  test('that carried bytes without a request are not used again', async () => {
    const server = await serve((socket) =>
      socket.write(`${KEEPING}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
    );
    const dispatcher = makeDispatcher();
    for (let round = 0; round < 3; round++) {
      expect(await readText((await sendWell(dispatcher, server.origin)).body)).toBe('hello');
    }
    expect(server.connections).toBe(3);
  });

  test.each([CLOSING, KEEPING.replace('\r\n', '\r\nConnection: close\r\n'), KEEPING.replace('1.1', '1.0')])(
    'are closed with the last byte of the body if the server does not keep them: %j',
    async (bytes) => {
      stopTimers();
      const server = await serve((socket) => socket.write(bytes));
      await readText((await sendWell(makeDispatcher(), server.origin)).body);
      await waitUntilClosed(server);
    },
  );

  test('to more than a thousand origins: the oldest are closed', async () => {
    // On a busy machine, the first ones would have been idle for too long before the last one is asked for.
    stopTimers();
    const server = await serve((socket) => socket.write(KEEPING));
    const dispatcher = makeDispatcher({ resolve: async () => ['127.0.0.1'] });
    for (let n = 0; n < 1_010; n++) {
      await readText((await sendWell(dispatcher, `http://host${n}.test:${server.port}`)).body);
    }
    await waitUntil(() => server.sockets.size <= 1_000);
    expect(server.sockets.size).toBeGreaterThan(900);
  });
});

describe('sockets of a server that closes its connections', () => {
  /** Counts the sockets that connect until the end of the test, and how often they do. */
  function countSockets(): { sockets: Set<Socket>; connects: () => number } {
    const sockets = new Set<Socket>();
    let connects = 0;
    const onConnect = (message: unknown) => {
      sockets.add((message as { socket: Socket }).socket);
      connects++;
    };
    subscribe('net.client.socket', onConnect);
    closeAfterTest({ close: () => unsubscribe('net.client.socket', onConnect) });
    return { sockets, connects: () => connects };
  }

  test.each([
    ['one address', ['127.0.0.1']],
    ['several addresses', ['127.0.0.1', '127.0.0.2']],
  ])('are used again, with %s', async (_what, addresses) => {
    const server = await serve((socket) => socket.end(CLOSING));
    const dispatcher = makeDispatcher({ resolve: async () => addresses });
    const { sockets, connects } = countSockets();
    for (let n = 0; n < 20; n++) {
      await readText((await sendWell(dispatcher, `http://erp.test:${server.port}`)).body);
      await waitUntil(() => server.sockets.size === 0);
      // The event `close` follows at the end of the turn.
      await passTurns(2);
    }
    expect(server.connections).toBe(20);
    expect(connects()).toBe(20);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test('are used again after a long answer that its reader takes at once', async () => {
    const body = 'x'.repeat(100_000);
    const whole = `HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const server = await serve((socket) => socket.end(whole));
    const dispatcher = makeDispatcher();
    const { sockets } = countSockets();
    for (let n = 0; n < 20; n++) {
      const { body: answer } = await sendWell(dispatcher, server.origin);
      expect((await readText(answer)).length).toBe(body.length);
      await waitUntil(() => server.sockets.size === 0);
      await passTurns(2);
    }
    // How the answer arrives depends on the machine: some sockets may be paused.
    expect(sockets.size).toBeLessThanOrEqual(10);
  });

  test('are not used again after an error or an end by the server', async () => {
    const server = await serve((socket, _request, index) => {
      if (index % 2 === 0) socket.resetAndDestroy();
      else socket.end('HTTP/1.0 200 OK\r\n\r\nhello');
    });
    const dispatcher = makeDispatcher();
    const { sockets } = countSockets();
    for (let n = 0; n < 6; n++) {
      const answer = await send(dispatcher, server.origin);
      if (answer.ok) expect(await readText(answer.body)).toBe('hello');
      await passTurns(2);
    }
    expect(sockets.size).toBe(6);
  });

  test('are not used again if the call is aborted while they connect', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const dispatcher = makeDispatcher({ resolve: async () => ['127.0.0.1', '127.0.0.2'] });
    const { sockets, connects } = countSockets();
    for (let n = 0; n < 6; n++) {
      const controller = new AbortController();
      const answer = send(dispatcher, `http://erp.test:${server.port}`, { signal: controller.signal });
      // It connects at the end of the turn, in which the addresses are found. The abort follows before the next turn.
      for (let step = 0; step < 100; step++) await Promise.resolve();
      expect(connects()).toBe(n);
      await new Promise(setImmediate);
      expect(connects()).toBe(n + 1);
      controller.abort();
      expect(await answer).toMatchObject({ ok: false, sent: false });
      await passTurns(2);
    }
    expect(sockets.size).toBe(6);
  });

  /** Usually longer than an answer takes to begin. */
  const ABORT_MS = 5;
  /** What a server does with a request, and what its caller does with the answer. */
  const fates = [
    'closes',
    'keeps',
    'ends',
    'resets',
    'resets in the body',
    'adds bytes',
    'is aborted while waiting',
    'is aborted in the body',
    'is read slowly',
  ] as const;

  test('never mix up answers, whatever servers and callers do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...fates), { minLength: 1, maxLength: 40 }), async (plan) => {
        const server = await startRawServer((socket, request) => {
          const text = request.slice(request.indexOf('\r\n\r\n') + 4);
          const head = (version: string, length: number) =>
            `HTTP/${version} 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
          const fate = plan[Number(text)];
          if (fate === 'closes') socket.end(head('1.0', text.length) + text);
          else if (fate === 'keeps') socket.write(head('1.1', text.length) + text);
          else if (fate === 'ends') socket.end(`HTTP/1.0 200 OK\r\n\r\n${text}`);
          else if (fate === 'resets') socket.resetAndDestroy();
          else if (fate === 'resets in the body')
            socket.write(head('1.0', 50) + text, () => socket.resetAndDestroy());
          else if (fate === 'adds bytes') socket.write(`${head('1.1', text.length) + text}evil`);
          else if (fate === 'is aborted in the body') socket.write(head('1.0', 50) + text);
          else if (fate === 'is read slowly')
            socket.end(head('1.0', 500_000 + text.length) + text + ' '.repeat(500_000));
        });
        const dispatcher = createEgressDispatcher({
          allow: parseEgressPolicy(['127.0.0.0/8']).policy,
          connectTimeoutMs: ENDLESS_MS,
          firstByteTimeoutMs: null,
        });
        /** The text of the answer; null if there is no whole answer. */
        const call = async (number: number): Promise<string | null> => {
          const controller = new AbortController();
          const isAborted = plan[number]?.startsWith('is aborted') === true;
          if (isAborted) runLater(ABORT_MS, () => controller.abort());
          const body = Buffer.from(String(number));
          const answer = await send(dispatcher, server.origin, { body, signal: controller.signal });
          if (!answer.ok) return null;
          if (plan[number] === 'is read slowly') await passTurns(5);
          return readText(answer.body).then(
            (text) => text.trim(),
            () => null,
          );
        };
        try {
          const numbers = plan.keys().toArray();
          const work = async () => {
            for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) {
              const isWhole = ['closes', 'keeps', 'ends', 'adds bytes', 'is read slowly'].includes(plan[n]!);
              expect(await call(n)).toBe(isWhole ? String(n) : null);
            }
          };
          await Promise.all([work(), work(), work()]);
          await dispatcher.close();
          await expect.poll(() => server.sockets.size).toBe(0);
        } finally {
          await dispatcher.close();
          await server.close();
        }
      }),
      { numRuns: countCases(40) },
    );
  });
});

test('few pieces of an answer in chunks of one byte wait for a slow reader', async () => {
  const server = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(100_000)}`);
  });
  const { body } = await sendWell(makeDispatcher(), server.origin);
  await pause(10 * MOMENT_MS);
  let waiting = 0;
  let piece = body.next();
  for (; !(piece instanceof Promise); piece = body.next()) waiting++;
  body.cancel();
  await expect(piece).rejects.toBeInstanceOf(ByteStreamError);
  // One read of the socket can exceed the bound. A list of 65,536 pieces would take seconds to process.
  expect(waiting).toBeLessThan(16_384);
});

describe('an abort', () => {
  /** Aborts the call once `stage` resolves. */
  async function abortAt(
    origin: string,
    stage: () => Promise<unknown>,
    options: Partial<EgressOptions> = {},
  ): Promise<EgressAnswer | EgressFailure> {
    const controller = new AbortController();
    const outcome = send(makeDispatcher(options), origin, { signal: controller.signal });
    await stage();
    controller.abort();
    return outcome;
  }

  test('before sending opens no connection', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const outcome = await send(makeDispatcher(), server.origin, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ reason: 'aborted', sent: false });
    expect(server.connections).toBe(0);
  });

  test('during DNS opens no connection', async () => {
    const server = await serve((socket) => socket.end(CLOSING));
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<string[]>();
    const outcome = await abortAt(`http://erp.test:${server.port}`, () => asked.promise, {
      resolve: () => {
        asked.resolve();
        return found.promise;
      },
    });
    expect(outcome).toMatchObject({ reason: 'aborted', sent: false });
    found.resolve(['127.0.0.1']);
    await expectToStay(() => server.connections > 0, false);
  });

  test('during the TLS handshake closes the connection at once', async () => {
    stopTimers();
    const server = await serve(() => {});
    const outcome = await abortAt(`https://127.0.0.1:${server.port}`, () =>
      waitUntil(() => server.sockets.size === 1),
    );
    expect(outcome).toMatchObject({ reason: 'aborted', sent: false });
    await waitUntilClosed(server);
  });

  test('while waiting for the answer closes the connection at once', async () => {
    stopTimers();
    const server = await serve(() => {});
    const outcome = await abortAt(server.origin, () => waitUntil(() => server.requests.length === 1));
    expect(outcome).toMatchObject({ reason: 'aborted', sent: true });
    await waitUntilClosed(server);
  });

  test.each([
    ['a plain body', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello'],
    ['a compressed body', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 50\r\n\r\n\x1f'],
  ])('within %s breaks it off and closes the connection at once', async (_what, bytes) => {
    stopTimers();
    const server = await serve((socket) => socket.write(bytes, 'latin1'));
    const controller = new AbortController();
    const { body } = await sendWell(makeDispatcher(), server.origin, { signal: controller.signal });
    const breaksOff = expect(readText(body)).rejects.toMatchObject({
      name: 'ByteStreamError',
      reason: 'aborted',
    });
    await pause();
    controller.abort();
    await breaksOff;
    await waitUntilClosed(server);
  });

  test('on a kept connection affects that call only', async () => {
    const server = await serve((socket, _request, index) => void (index === 1 || socket.write(KEEPING)));
    const dispatcher = makeDispatcher();
    await readText((await sendWell(dispatcher, server.origin)).body);
    const controller = new AbortController();
    const second = send(dispatcher, server.origin, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(2);
    controller.abort();
    expect(await second).toMatchObject({ reason: 'aborted' });
    expect(await readText((await sendWell(dispatcher, server.origin)).body)).toBe('hello');
  });

  test('after the last byte changes nothing', async () => {
    const server = await serve((socket) => socket.write(KEEPING));
    const controller = new AbortController();
    const { body } = await sendWell(makeDispatcher(), server.origin, { signal: controller.signal });
    await pause();
    controller.abort();
    expect(await readText(body)).toBe('hello');
  });

  test('is also the effect of cancel and close', async () => {
    stopTimers();
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello'),
    );
    const dispatcher = makeDispatcher();
    const first = await sendWell(dispatcher, server.origin);
    first.body.cancel();
    await waitUntilClosed(server);
    expect(() => first.body.next()).toThrow(ByteStreamError);
    const second = await sendWell(dispatcher, server.origin);
    await dispatcher.close();
    await expect(readText(second.body)).rejects.toThrow(ByteStreamError);
    await waitUntilClosed(server);
    expect(await send(dispatcher, server.origin)).toMatchObject({ reason: 'aborted', sent: false });
  });
});

test('bytes that wait for their reader are not changed by what arrives on any connection', async () => {
  const ends: (() => void)[] = [];
  const server = await serve((socket, _request, index) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n');
    socket.write(String(index).repeat(20_000));
    ends.push(() => socket.write(String(index + 5).repeat(20_000)));
  });
  const dispatcher = makeDispatcher();
  const answers: EgressAnswer[] = [];
  for (let index = 0; index < 5; index++) answers.push(await sendWell(dispatcher, server.origin));
  await pause();
  for (const end of ends) end();
  await pause(3 * MOMENT_MS);
  for (const [index, { body }] of answers.entries())
    expect(await readText(body)).toBe(String(index).repeat(20_000) + String(index + 5).repeat(20_000));
});

test('a reader that stalls stalls the server', async () => {
  const total = 64 * 1024 * 1024;
  const piece = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  const server = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
    const fill = () => {
      while (written < total) {
        written += piece.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.on('drain', fill);
    fill();
  });
  const { body } = await sendWell(makeDispatcher(), server.origin);
  let stalledAt: number;
  do {
    stalledAt = written;
    await pause(5 * MOMENT_MS);
  } while (written !== stalledAt);
  // The kernel buffers of both ends, and our 64 KiB.
  expect(stalledAt).toBeLessThan(16 * 1024 * 1024);
  let bytes = 0;
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) bytes += chunk.length;
  expect(bytes).toBe(total);
});

test('remembered answers are those of a new check, for any number of addresses', () => {
  const { policy } = parseEgressPolicy(['10.0.0.0/16']);
  const target = checkOrigin(policy, 'https://erp.internal');
  if ('rule' in target) throw new Error(target.detail);
  const guard = createGuard(policy, target, () => []);
  const addresses = Array.from({ length: 300 }, (_, index) => `10.${index % 3}.0.${index % 150}`);
  for (const address of [...addresses, ...addresses, 'not an address', '169.254.169.254'])
    expect(guard.check(address)).toEqual(checkAddress(policy, target, address));
});

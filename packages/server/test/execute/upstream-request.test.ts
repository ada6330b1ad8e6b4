/** docs/execute.md#the-request-to-odoo: how and when the request reaches Odoo. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import { expectToStay } from '../time.ts';
import { printCall, printExecuteKw, waitFor } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const readHead = (head: string) => {
  const [line, ...fields] = head.split('\r\n');
  const headers = fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
  });
  return { line, headers };
};

test('has the headers that Odoo needs, and none of the caller', async () => {
  await pair.proxy.post(printCall(pair.upstream.url), {
    cookie: 'session_id=abc',
    authorization: 'Bearer caller',
    'x-forwarded-for': '8.8.8.8',
    'x-openerp-session-id': 'abc',
    'x-odoo-database': 'other',
    'accept-language': 'fr',
    'user-agent': 'caller/1',
    referer: 'http://caller.example',
    'x-custom': 'caller',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'idempotency-key': 'k',
    'accept-encoding': 'gzip',
    'x-request-id': 'caller-id',
  });
  const { head, body } = pair.upstream.requests.at(-1)!;
  const { line, headers } = readHead(head);
  expect(line).toBe('POST /jsonrpc HTTP/1.1');
  expect(Object.fromEntries(headers)).toEqual({
    host: new URL(pair.upstream.url).host,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    connection: expect.stringMatching(/^(keep-alive|close)$/),
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-odoo-database': 'prod',
  });
  expect(headers.map(([name]) => name).length).toBe(new Set(headers.map(([name]) => name)).size);
  expect(body.toString()).toBe(printExecuteKw({}));
});

test('never contains the client key', async () => {
  await pair.proxy.post(printCall(pair.upstream.url));
  const { head, body } = pair.upstream.requests.at(-1)!;
  expect(head + body).not.toContain(pair.proxy.key);
});

test.each(['content-length', 'chunked'])(
  'does not begin before the caller has sent its last byte (%s)',
  async (framing) => {
    const before = pair.upstream.connections();
    const call = printCall(pair.upstream.url);
    const { port } = new URL(pair.proxy.url);
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    const isChunked = framing === 'chunked';
    socket.write(
      `POST /api/erp/execute HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${pair.proxy.key}\r\ncontent-type: application/json\r\n` +
        `${isChunked ? 'transfer-encoding: chunked' : `content-length: ${call.length}`}\r\n\r\n` +
        (isChunked ? `${(call.length - 1).toString(16)}\r\n` : ''),
    );
    socket.write(call.slice(0, -1) + (isChunked ? '\r\n' : ''));
    await expect.poll(() => readInFlight(pair.proxy.url)).toBe(1);
    await expectToStay(pair.upstream.connections, before);
    socket.write(isChunked ? `1\r\n${call.at(-1)}\r\n0\r\n\r\n` : (call.at(-1) as string));
    await waitFor(() => answer.includes('"result":true'));
    expect(pair.upstream.connections()).toBe(before + 1);
    // Whatever the framing of the caller's body, Odoo gets a length.
    expect(pair.upstream.requests.at(-1)?.head).not.toMatch(/transfer-encoding/i);
    socket.destroy();
  },
);

test('closes the connection after the last byte', async () => {
  await pair.proxy.post(printCall(pair.upstream.url));
  await waitFor(() => pair.upstream.sockets.size === 0);
});

/** Which requests are plain, and that Node's parser reads every plain request the same way. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createRandom } from '../../limits/database/seeded-random.fixture.ts';
import { readPlainRequest } from './plain-request.ts';

const HOST = 'host: proxy.example';

const print = (lines: string[], body = '', line = 'POST /api/erp/execute HTTP/1.1') =>
  Buffer.from([line, ...lines, '', body].join('\r\n'), 'latin1');

test('finds the end of a request, whether or not its body has arrived', () => {
  const head = print([HOST, 'content-length: 5']);
  for (const bytes of [
    head,
    print([HOST, 'content-length: 5'], 'ab'),
    print([HOST, 'content-length: 5'], 'abcdePOST'),
  ])
    expect(readPlainRequest(bytes)).toMatchObject({
      method: 'POST',
      path: '/api/erp/execute',
      bytes: head.length + 5,
      closes: false,
    });
  expect(readPlainRequest(print([HOST], '', 'GET /healthz HTTP/1.1'))).toMatchObject({
    method: 'GET',
    path: '/healthz',
    bytes: print([HOST], '', 'GET /healthz HTTP/1.1').length,
  });
});

test('reads the request id, the origin and whether to close the connection', () => {
  const plain = readPlainRequest(
    print(['Host: x', 'X-Request-Id:\t mine \t', 'ORIGIN: https://app.example', 'Connection: Close']),
  );
  expect(plain?.requestId).toBe('mine');
  expect(plain?.origin).toBe('https://app.example');
  expect(plain?.closes).toBe(true);
  const other = readPlainRequest(print([HOST, 'connection: keep-alive', 'x-origin: a', 'x-note: origin: b']));
  expect(other?.requestId).toBeUndefined();
  expect(other?.origin).toBeUndefined();
  expect(other?.closes).toBe(false);
});

test.each<[string, Buffer]>([
  ['an incomplete head', print([HOST]).subarray(0, -1)],
  ['a body in chunks', print([HOST, 'transfer-encoding: chunked'])],
  ['both framing headers', print([HOST, 'content-length: 5', 'Transfer-Encoding: chunked'])],
  ['two lengths', print([HOST, 'content-length: 5', 'content-length: 5'])],
  ['a list of lengths', print([HOST, 'content-length: 5, 5'])],
  ['a signed length', print([HOST, 'content-length: +5'])],
  ['a length with zeros before it', print([HOST, 'content-length: 05'])],
  ['a length in hexadecimal', print([HOST, 'content-length: 0x5'])],
  ['an empty length', print([HOST, 'content-length: '])],
  ['a length of ten digits', print([HOST, 'content-length: 1234567890'])],
  ['a length with a space before its colon', print([HOST, 'content-length : 5'])],
  ['a folded line', print([HOST, 'x-note: a', ' content-length: 5'])],
  ['a bare LF', print([HOST, 'x-note: a\ncontent-length: 5'])],
  ['a bare CR', print([HOST, 'x-note: a\rcontent-length: 5'])],
  ['a NUL', print([HOST, 'x-note: a\0b'])],
  ['a line without a colon', print([HOST, 'x-note'])],
  ['a line without a name', print([HOST, ': a'])],
  ['no host', print(['content-length: 5'])],
  ['two hosts', print([HOST, 'Host: other'])],
  ['a client that waits for 100', print([HOST, 'content-length: 5', 'expect: 100-continue'])],
  ['an upgrade', print([HOST, 'connection: upgrade', 'upgrade: websocket'])],
  ['an upgrade that connection does not name', print([HOST, 'upgrade: h2c'])],
  ['a proxy-connection', print([HOST, 'proxy-connection: close'])],
  ['several connection options', print([HOST, 'connection: keep-alive, te'])],
  ['HTTP/1.0', print([HOST], '', 'POST / HTTP/1.0')],
  ['HTTP/1.1 in lower case', print([HOST], '', 'POST / http/1.1')],
  ['two spaces in the request line', print([HOST], '', 'POST  / HTTP/1.1')],
  ['an empty line before it', Buffer.concat([Buffer.from('\r\n'), print([HOST])])],
  ['a head of more than 8 KiB', print([HOST, `x-note: ${'a'.repeat(8200)}`])],
  ['TLS', Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10])],
])('does not read %s', (_name, bytes) => {
  expect(readPlainRequest(bytes)).toBeNull();
});

test.each(['host', 'origin', 'x-request-id', 'connection'])(
  'reads a long %s about as fast as any other line',
  (name) => {
    const measure = (line: string) => {
      const bytes = print([
        ...(name === 'host' ? [] : [HOST]),
        line,
        ...(line.startsWith('x-note') ? [HOST] : []),
      ]);
      let bestMs = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 20; round++) {
        const beganMs = performance.now();
        const plain = readPlainRequest(bytes);
        void [plain?.origin, plain?.requestId];
        bestMs = Math.min(bestMs, performance.now() - beganMs);
      }
      return bestMs;
    };
    const padding = `a${' '.repeat(7500)}b`;
    expect(measure(`${name}: ${padding}`)).toBeLessThan(50 * measure(`x-note: ${padding}`));
  },
);

interface Read {
  method: string | undefined;
  path: string | undefined;
  requestId: string | undefined;
  origin: string | undefined;
  body: string;
}

test("agrees with Node's parser about each plain request", { timeout: 60_000 }, async () => {
  const seed = Date.now() % 1_000_000;
  process.stdout.write(`plain requests: seed ${seed}\n`);
  const random = createRandom(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  let read: Read[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const { method, url: path, headers } = request;
    const of = (name: string) => headers[name] as string | undefined;
    const entry: Read = { method, path, requestId: of('x-request-id'), origin: of('origin'), body: '' };
    read.push(entry);
    entry.body = await text(request);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** The requests that Node's parser reads from the bytes of a client that then ends its side. */
  const parse = async (bytes: Buffer) => {
    read = [];
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.end(bytes);
    await once(socket, 'close');
    return read;
  };
  const LINES = [
    'content-length: 3',
    'Content-Length:3',
    'content-length: 3 ',
    'content-length:\t3',
    'content-length: 03',
    'content-length: 3, 3',
    'content-length : 3',
    'content_length: 7',
    'transfer-encoding: chunked',
    'transfer-encoding: identity',
    'connection: keep-alive',
    'Connection: close',
    'connection: te',
    'expect: 100-continue',
    'x-request-id: a.b',
    'X-Request-ID:  c\t',
    'origin: https://a.example',
    'origin:',
    'x-note: content-length: 9',
    'x: \x80\xff',
    ' folded: 1',
    'x\ny: 1',
    'x: 1\ncontent-length: 9',
    'te: trailers',
    'host: two',
    'x-empty:',
  ];
  const STARTS = [
    'POST /api/erp/execute HTTP/1.1',
    'GET / HTTP/1.1',
    'HEAD /a?b=c HTTP/1.1',
    'POST http://x/y HTTP/1.1',
    'DELETE /x HTTP/1.1',
    'post / HTTP/1.1',
    'POST / HTTP/1.1 ',
  ];
  let plainCount = 0;
  for (let round = 0; round < 1500; round++) {
    const lines = ['host: x', ...Array.from({ length: Math.floor(random() * 5) }, () => pick(LINES))];
    const bytes = print(
      lines.toSorted(() => random() - 0.5),
      pick(['', 'abc', 'abc', 'abcGET / HTTP/1.1\r\nhost: x\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n']),
      pick(STARTS),
    );
    const plain = readPlainRequest(bytes);
    if (plain === null || plain.bytes > bytes.length) continue;
    // Node rejects other methods, or does not know them.
    if (!['POST', 'GET', 'HEAD', 'DELETE'].includes(plain.method)) continue;
    plainCount++;
    const [first, ...others] = await parse(bytes.subarray(0, plain.bytes));
    expect(others, `seed ${seed}, round ${round}`).toEqual([]);
    const headEnd = bytes.indexOf('\r\n\r\n') + 4;
    expect(first, `seed ${seed}, round ${round}: ${JSON.stringify(bytes.toString('latin1'))}`).toMatchObject({
      method: plain.method,
      path: plain.path,
      requestId: plain.requestId,
      origin: plain.origin,
      body: bytes.toString('latin1', headEnd, plain.bytes),
    });
  }
  server.close();
  expect(plainCount).toBeGreaterThan(100);
});

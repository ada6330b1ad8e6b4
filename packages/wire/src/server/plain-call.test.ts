/** Which requests are plain, and that Node's parser reads every plain request the same way. */
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { compareWithNode } from '../../test/compare-with-node.ts';
import { readPlainRequest } from './plain-call.ts';

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
      path: '/api/erp/execute',
      headBytes: head.length,
      bodyBytes: 5,
      closes: false,
    });
  expect(readPlainRequest(print([HOST]))).toMatchObject({ headBytes: print([HOST]).length, bodyBytes: 0 });
});

test('reads headers, and whether to close the connection', () => {
  const plain = readPlainRequest(
    print(['Host: x', 'X-Request-Id:\t mine \t', 'ORIGIN: https://app.example', 'Connection: Close']),
  );
  expect([...(plain?.headers ?? [])]).toEqual([
    ['host', 'x'],
    ['x-request-id', 'mine'],
    ['origin', 'https://app.example'],
    ['connection', 'Close'],
  ]);
  expect(plain?.closes).toBe(true);
  expect(readPlainRequest(print([HOST, 'connection: keep-alive']))?.closes).toBe(false);
});

test.each<[string, Buffer]>([
  ['an incomplete head', print([HOST]).subarray(0, -1)],
  ['a body in chunks', print([HOST, 'transfer-encoding: chunked'])],
  ['both framing headers', print([HOST, 'content-length: 5', 'Transfer-Encoding: chunked'])],
  ['another method', print([HOST], '', 'GET / HTTP/1.1')],
  ['a header that occurs twice', print([HOST, 'x-note: a', 'X-Note: b'])],
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

test('reads a long value about as fast as any other head of its length', async () => {
  const readOften = (line: string) => () => {
    const bytes = print([HOST, line]);
    for (let round = 0; round < 100; round++) readPlainRequest(bytes);
  };
  await expectCpuBelow(
    50,
    readOften(`origin: a${' '.repeat(7500)}b`),
    readOften(`origin: ${'a'.repeat(7500)}`),
  );
});

const CASES = countCases(1_000_000);

test(`Node's parser reads each plain request the same way, in ${CASES} cases`, () => {
  const seed = Date.now() % 1_000_000;
  process.stdout.write(`plain requests: seed ${seed}\n`);
  const random = createRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(values: readonly T[]) => values[below(values.length)] as T;
  let plainCount = 0;
  for (let round = 0; round < CASES; round++) {
    const lines = [HOST, 'content-length: 3', ...Array.from({ length: below(4) }, () => pick(LINES))];
    for (let count = below(3); count > 0; count--) lines.splice(below(lines.length), 1);
    const order = below(2) === 0 ? lines : lines.toReversed();
    const bytes = mutate(print(order, pick(BODIES), pick(REQUEST_LINES)), below, pick);
    const found = compareWithNode(bytes);
    if (found === 'not plain') continue;
    plainCount++;
    // `expect` for each round would take most of the time.
    if (found !== null) expect(found, `seed ${seed}, round ${round}`).toBeNull();
  }
  expect(plainCount).toBeGreaterThan(CASES / 20);
});

const LINES = [
  'content-length: 3',
  'Content-Length:5',
  'content-length: 0 ',
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
  'connection: Keep-Alive',
  'connection:',
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
  'trailer: x',
  'host: two',
  'x-empty:',
  'upgrade: h2c',
  'http2-settings: AAMAAABkAAQAAP__',
  'keep-alive: timeout=1',
  'proxy-connection: close',
  "!#$%&'*+-.^_`|~: token",
];
const REQUEST_LINES = [
  ...Array<string>(6).fill('POST /api/erp/execute HTTP/1.1'),
  'POST /a?b=c#d HTTP/1.1',
  'POST * HTTP/1.1',
  'POST a:1 HTTP/1.1',
  'POST http://x/y HTTP/1.1',
  'GET / HTTP/1.1',
  'post / HTTP/1.1',
  'POST / HTTP/1.1 ',
  'POST / HTTP/1.0',
];
const BODIES = ['', 'abc', 'abcGET / HTTP/1.1\r\nhost: x\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n'];
const ODD_BYTES = [0, 9, 10, 11, 12, 13, 32, 34, 44, 45, 58, 59, 127, 128, 255, 48, 57, 65, 99];

/** Changes, adds or removes a few bytes in half of the cases. */
function mutate(
  bytes: Buffer,
  below: (count: number) => number,
  pick: <T>(values: readonly T[]) => T,
): Buffer {
  let mutated = bytes;
  for (let count = below(2) === 0 ? 0 : 1 + below(2); count > 0; count--) {
    const at = below(mutated.length);
    const kept = below(3) === 0 ? at : at + 1;
    const added = below(4) === 0 ? [] : [below(3) === 0 ? below(256) : pick(ODD_BYTES)];
    mutated = Buffer.concat([mutated.subarray(0, at), Buffer.from(added), mutated.subarray(kept)]);
  }
  return mutated;
}

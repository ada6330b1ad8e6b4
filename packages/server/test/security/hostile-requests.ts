/** Generates hostile requests from a seed: calls with errors in body, head, encoding and framing. */

import { makeCall } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';

export interface HostileRequest {
  bytes: Buffer;
  /** True if the request is valid HTTP, so that it gets exactly one answer and the connection stays usable. */
  isFramed: boolean;
}

export interface Generator {
  next(): HostileRequest;
}

export function createGenerator(seed: number, options: { upstreamUrl: string; key: string }): Generator {
  const random = createRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const valid = Buffer.from(
    JSON.stringify(makeCall(options.upstreamUrl, { keyword: { fields: ['name'], limit: 3 } })),
  );
  // Most calls name an address that egress refuses, so they pass every step except the connection.
  const refused = Buffer.from(
    JSON.stringify(makeCall('http://127.9.9.9:9', { action: 'search_read', params: [[['name', '=', 'é']]] })),
  );

  const flipBytes = (body: Buffer) => {
    for (let times = 1 + below(4); times > 0; times--) body[below(body.length)] = below(256);
    return body;
  };
  const truncate = (body: Buffer) => body.subarray(0, below(body.length));
  const insert = (body: Buffer) => {
    const at = below(body.length);
    return Buffer.concat([body.subarray(0, at), pick(ODD_BYTES), body.subarray(at)]);
  };
  const doubleSlice = (body: Buffer) => {
    const at = below(body.length);
    const end = at + below(body.length - at);
    return Buffer.concat([body.subarray(0, end), body.subarray(at)]);
  };
  const replaceValue = (body: Buffer) => {
    const call = JSON.parse(body.toString());
    const name = pick([...Object.keys(call), 'jsonrpc', '__proto__', 'constructor', 'keywords']);
    const holder = name === 'erp_instance' && random() < 0.8 ? call.erp_instance : call;
    const member = holder === call ? name : pick(Object.keys(holder));
    const text = JSON.stringify({ ...holder, [member]: MARK });
    const changed = text.replace(JSON.stringify(MARK), () => pick(ODD_VALUES));
    return Buffer.from(
      holder === call
        ? changed
        : JSON.stringify({ ...call, erp_instance: MARK }).replace(JSON.stringify(MARK), () => changed),
    );
  };
  const doubleMember = (body: Buffer) =>
    Buffer.from(
      body
        .toString()
        .replace(
          /"(id|action|params|keyword|url|db|limit)":/,
          (name) => `${name}${pick(ODD_VALUES)},${name}`,
        ),
    );
  const makeBatch = (body: Buffer) =>
    Buffer.from(
      `[${Array.from({ length: below(6) }, () => (random() < 0.7 ? body : pick(ODD_VALUES))).join(',')}]`,
    );
  const makeNoise = () => Buffer.from(Array.from({ length: below(200) }, () => below(256)));
  const mutations = [
    flipBytes,
    flipBytes,
    truncate,
    insert,
    doubleSlice,
    replaceValue,
    replaceValue,
    doubleMember,
    makeBatch,
    makeNoise,
  ];

  const makeBody = () => {
    let body: Buffer = Buffer.from(random() < 0.04 ? valid : refused);
    if (random() < 0.05) return body;
    body = pick(mutations)(body);
    return random() < 0.1 && body.length > 0 ? flipBytes(body) : body;
  };

  const makeHeaders = (): string[] => {
    const headers = [`content-type: ${random() < 0.8 ? 'application/json' : pick(ODD_CONTENT_TYPES)}`];
    // Each request has its own client address, so that refused keys do not slow down the rest of the run.
    const address = `x-forwarded-for: 10.${below(256)}.${below(256)}.${below(256)}`;
    headers.push(
      random() < 0.95 ? `x-proxy-api: ${options.key}` : `x-proxy-api: ${pick(ODD_KEYS)}\r\n${address}`,
    );
    while (random() < 0.3)
      headers.push(random() < 0.5 ? pick(ODD_HEADERS) : `x-${below(1e9)}: ${makeHeaderNoise()}`);
    return headers.map((line) => (random() < 0.1 ? changeCase(line) : line));
  };
  const makeHeaderNoise = () =>
    String.fromCharCode(
      ...Array.from({ length: below(60) }, () => pick([9, 32 + below(95), 128 + below(128)])),
    );

  const chunk = (body: Buffer) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < body.length; ) {
      const size = 1 + below(80);
      const piece = body.subarray(at, at + size);
      const extension = random() < 0.2 ? ';name="value"' : '';
      pieces.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from('\r\n'));
      at += size;
    }
    pieces.push(Buffer.from(random() < 0.2 ? '0\r\nx-trailer: 1\r\n\r\n' : '0\r\n\r\n'));
    return Buffer.concat(pieces);
  };

  const makeFramed = (): HostileRequest => {
    const body = makeBody();
    const isChunked = random() < 0.1;
    const method = random() < 0.92 ? 'POST' : pick(METHODS);
    const path = random() < 0.95 ? '/api/erp/execute' : pick(ODD_PATHS);
    const headers = [
      'host: proxy',
      isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`,
      ...makeHeaders(),
    ];
    return {
      bytes: Buffer.concat([
        printHead(`${method} ${path} HTTP/1.1`, headers),
        isChunked ? chunk(body) : body,
      ]),
      isFramed: true,
    };
  };

  const makeUnframed = (): HostileRequest => {
    const body = makeBody();
    const { line, headers } = pick(BROKEN_HEADS);
    let bytes = Buffer.concat([
      printHead(line, [
        ...headers.map((text) => text.replace('LENGTH', String(body.length))),
        ...makeHeaders(),
      ]),
      body,
    ]);
    if (random() < 0.3) bytes = bytes.subarray(0, 1 + below(bytes.length));
    if (random() < 0.3) bytes[below(Math.min(bytes.length, 120))] = below(256);
    return { bytes, isFramed: false };
  };

  return { next: () => (random() < 0.96 ? makeFramed() : makeUnframed()) };
}

function printHead(line: string, headers: readonly string[]): Buffer {
  return Buffer.from(`${[line, ...headers].join('\r\n')}\r\n\r\n`, 'latin1');
}

function changeCase(line: string): string {
  const colon = line.indexOf(':');
  return line.slice(0, colon).toUpperCase() + line.slice(colon);
}

const MARK = '\u0001mark';
const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

const ODD_VALUES = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '-0',
  '1.0',
  '1.5',
  '1e400',
  '-1e-400',
  '9223372036854775808',
  '1'.repeat(400),
  '[]',
  '{}',
  '""',
  '"_private"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"__proto__"',
  '"a\\"b"',
  '[[1]]',
  '[null]',
  '{"limit":-1}',
  '{"limit":1e3}',
  '{"limit":2.0}',
  '{"limit":{"a":[1]}}',
  '{"context":{"tz":"Mars/Base"}}',
  '{"context":{"allowed_company_ids":["a"]}}',
  '{"context":[]}',
  '{"url":"file:///etc/passwd"}',
  '{"name":"none"}',
  '"http://127.0.0.1:1/%2e%2e"',
  '"http://[::1]"',
  '"http://0x7f.1"',
  '"call_method"',
  'NaN',
  '01',
  "'a'",
  deep('[', ']', 60),
  deep('[', ']', 3000),
  deep('{"a":', '}', 50),
  '"\u2028"',
  `"${'a'.repeat(300)}"`,
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
] as const;

const ODD_BYTES = [
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf5, 0x80]),
  Buffer.from([0]),
  Buffer.from('"'),
  Buffer.from('\\'),
  Buffer.from('{'),
  Buffer.from('}'),
  Buffer.from(','),
  Buffer.from('\\ud800'),
  Buffer.from('/**/'),
] as const;

const ODD_CONTENT_TYPES = [
  '',
  ';',
  'text/plain',
  'application/json; charset=utf-16',
  'application/json;charset="UTF-8"',
  'application/json; charset=utf-8; charset=latin1',
  'application/json;;',
  'application/jsonp',
  'APPLICATION/JSON',
  'application/json, text/html',
  'multipart/form-data; boundary=x',
  `a/${'b'.repeat(500)}`,
] as const;

const ODD_KEYS = [
  '',
  'ep_',
  `ep_${'a'.repeat(12)}_${'b'.repeat(39)}`,
  'ep_0000000000000_é',
  `Bearer ${'x'.repeat(4000)}`,
  "' or 1=1 --",
  'ep_000000000000_000000000000000000000000000000000000000',
] as const;

const ODD_HEADERS = [
  'content-encoding: gzip',
  'content-encoding: identity',
  'content-encoding: br, gzip',
  'x-request-timeout: -1',
  'x-request-timeout: 1e9',
  'x-request-timeout:99999999999999999999',
  'x-request-timeout: abc',
  'x-request-id: ok-1.2_3',
  'x-request-id: a b',
  `x-request-id: ${'r'.repeat(200)}`,
  'accept-encoding: gzip;q=2, *;q=0',
  'accept-encoding: zstd, br',
  'accept-encoding: ;;;,,,q=',
  'traceparent: 00-zz',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'idempotency-key: \xe9',
  'cookie: session_id=1',
  'te: trailers',
  'expect: 200-ok',
  'upgrade: h2c',
  'content-type: text/html',
  'accept: text/html',
  'connection: keep-alive, x-proxy-api',
  'if-none-match: *',
  'range: bytes=0-1',
  'x-http-method-override: DELETE',
  '__proto__: 1',
  'constructor: 1',
] as const;

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET', 'PROPFIND', 'TRACE', 'QUERY'] as const;

/** Unusual paths, without those whose answers are not JSON-RPC, such as health and metrics. */
const ODD_PATHS = [
  '/',
  '/api/erp/execute?x=1',
  '/api/erp/execute/',
  '//api/erp/execute',
  '/api/erp/execute%00',
  '/api/erp/%65xecute',
  '/%zz',
  '/%',
  '/../../etc/passwd',
  '/api/erp/../erp/execute',
  '*',
  'http://other/api/erp/execute',
  '/api/erp/version',
  `/${'a/'.repeat(500)}`,
  '/api/erp/execute#f',
  '/\xe9',
  '/api;v=1/erp/execute',
  '/constructor',
  '/__proto__',
] as const;

const POST = 'POST /api/erp/execute HTTP/1.1';
const BROKEN_HEADS: readonly { line: string; headers: readonly string[] }[] = [
  { line: POST, headers: ['host: a', 'content-length: LENGTH', 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', 'content-length: LENGTH', 'content-length: 0'] },
  { line: POST, headers: ['host: a', 'content-length: -1'] },
  { line: POST, headers: ['host: a', 'content-length: +LENGTH'] },
  { line: POST, headers: ['host: a', 'content-length: 0xff'] },
  { line: POST, headers: ['host: a', 'content-length: 99999999999999999999'] },
  { line: POST, headers: ['host: a', 'content-length: 1e3'] },
  { line: POST, headers: ['host: a', 'content-length: LENGTH, LENGTH'] },
  { line: POST, headers: ['host: a', 'content-length: LENGTH', 'transfer-encoding: chunked'] },
  { line: POST, headers: ['host: a', 'transfer-encoding: xchunked'] },
  { line: POST, headers: ['host: a', 'transfer-encoding: chunked, identity'] },
  { line: POST, headers: ['host: a', 'transfer-encoding: chunked', 'transfer-encoding: chunked'] },
  { line: POST, headers: ['host: a', 'transfer-encoding : chunked'] },
  { line: POST, headers: ['host: a', 'transfer-encoding:\x0bchunked'] },
  { line: POST, headers: ['host: a', 'expect: 100-continue', 'content-length: LENGTH'] },
  { line: POST, headers: ['content-length: LENGTH'] },
  { line: POST, headers: ['host: a', 'host: b', 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', ' folded: 1', 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', 'na me: 1', 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', 'x: \0', 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', `x: ${'a'.repeat(20_000)}`, 'content-length: LENGTH'] },
  { line: POST, headers: ['host: a', ...Array.from({ length: 3000 }, (_, index) => `h${index}:`)] },
  { line: 'POST /api/erp/execute HTTP/1.0', headers: ['content-length: LENGTH'] },
  { line: 'POST /api/erp/execute HTTP/2.0', headers: ['host: a', 'content-length: LENGTH'] },
  { line: 'POST /api/erp/execute HTTP/1.1 x', headers: ['host: a'] },
  { line: 'POST  /api/erp/execute', headers: ['host: a'] },
  { line: 'post /api/erp/execute HTTP/1.1', headers: ['host: a'] },
  { line: 'CONNECT 127.0.0.1:22 HTTP/1.1', headers: ['host: a'] },
  { line: 'PRI * HTTP/2.0', headers: [] },
  { line: '\x16\x03\x01\x02\x00\x01\x00', headers: [] },
  { line: '\r\n\r\n\r\nPOST /api/erp/execute HTTP/1.1', headers: ['host: a', 'content-length: LENGTH'] },
];

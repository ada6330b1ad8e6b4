/** HTTP 415: only `application/json` in UTF-8, without a content encoding, is accepted. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { expectError, printCall } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const unsupported = { status: 415, code: -32017, type: 'unsupported_media_type' } as const;

test.each([
  '',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json-rpc',
  'application/vnd.api+json',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset="latin1"',
  'application/json; foo=bar; charset=latin1',
  'application/json; foo="a;charset=utf-8',
  'application/json; foo',
  'application/json foo=bar',
  'application/json, text/plain',
  'json',
])('unsupported_media_type: %j', async (contentType) => {
  const answer = await pair.proxy.post(printCall(pair.upstream.url), { 'content-type': contentType });
  expectError(answer, { ...unsupported, says: /content-type: application\/json/ });
  expect(pair.upstream.connections()).toBe(0);
});

test.each([
  'application/json;',
  'Application/JSON ; charset = UTF-8',
  'application/json; charset="utf-8"; foo=bar',
  'application/json;foo=bar',
  'application/json; odata.metadata=minimal; profile="a; charset=latin1 \\" b"',
])('takes JSON in UTF-8 with any other parameters: %j', async (contentType) => {
  const { proxy, upstream } = closeAfterTest(await startPair());
  const answer = await proxy.post(printCall(upstream.url), { 'content-type': contentType });
  expect(answer.status).toBe(200);
});

test('unsupported_media_type: no content type', async () => {
  const answer = await send(`${pair.proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': pair.proxy.key },
    body: printCall(pair.upstream.url),
  });
  expectError(answer, { ...unsupported, says: /content-type: application\/json/ });
});

test.each(['gzip', 'br', 'deflate', 'zstd', 'x', 'identity, gzip'])(
  'unsupported_media_type: content-encoding %s',
  async (encoding) => {
    const answer = await pair.proxy.post(gzipSync(printCall(pair.upstream.url)), {
      'content-encoding': encoding,
    });
    expectError(answer, { ...unsupported, says: /content-encoding; send it as it is/ });
    expect(pair.upstream.connections()).toBe(0);
  },
);

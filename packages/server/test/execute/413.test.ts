/** HTTP 413: the body is larger than the proxy, or the server behind it, accepts. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo } from '../scripted-upstream.ts';
import { expectError, printCall } from './expectations.ts';

let pair: Pair;

test('payload_too_large: more than http.bodyBytesMax; one byte less is accepted', async () => {
  pair = closeAfterTest(await startPair(undefined, { settings: { 'http.bodyBytesMax': '2000' } }));
  const { proxy, upstream } = pair;
  const call = printCall(upstream.url);
  const pad = (bytes: number) => call + ' '.repeat(bytes - call.length);
  expect((await proxy.post(pad(2000))).status).toBe(200);
  const answer = await proxy.post(pad(2001));
  expectError(answer, {
    status: 413,
    code: -32016,
    type: 'payload_too_large',
    says: /larger than 2000 bytes; send less/,
  });
  expect(upstream.requests).toHaveLength(1);
});

test('payload_too_large: a chunked body that grows beyond the limit', async () => {
  pair = closeAfterTest(await startPair(undefined, { settings: { 'http.bodyBytesMax': '2000' } }));
  const answer = await pair.proxy.post(printCall(pair.upstream.url) + ' '.repeat(3000), {
    'transfer-encoding': 'chunked',
  });
  expectError(answer, {
    status: 413,
    code: -32016,
    type: 'payload_too_large',
    says: /larger than 2000 bytes/,
  });
  expect(pair.upstream.connections()).toBe(0);
});

test('payload_too_large: 413 from the server', async () => {
  pair = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, '<h1>413</h1>', '413 Request Entity Too Large')),
  );
  const answer = await pair.proxy.post(printCall(pair.upstream.url, { id: '"big"' }));
  expectError(answer, {
    status: 413,
    code: -32016,
    type: 'payload_too_large',
    id: 'big',
    says: /The server refuses a body of this size/,
  });
});

test('payload_too_large: 413 in the envelope of Odoo', async () => {
  const error = {
    code: 200,
    message: 'x',
    data: {
      name: 'werkzeug.exceptions.RequestEntityTooLarge',
      message: '413',
      arguments: [],
      context: {},
      debug: '',
    },
  };
  pair = closeAfterTest(
    await startPair((socket) => answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error }))),
  );
  const answer = await pair.proxy.post(printCall(pair.upstream.url));
  expectError(answer, { status: 413, code: -32016, type: 'payload_too_large', id: 1, says: /send less/ });
});

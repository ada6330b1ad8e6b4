/** Tests that answers are compressed as the caller requests, and decompress to the same bytes. */
import { describe, expect, test } from 'vitest';
import { answerLikeOdoo, makeCall, printResult, type Script } from '../scripted-upstream.ts';
import { unpack } from '../take-answer.ts';
import { writeAnswer } from './framing.ts';
import { OUR_HEAD, startPair } from './pair.ts';

const LONG = JSON.stringify(Array.from({ length: 3_000 }, (_, id) => ({ id, name: `Größe ${id}`, x: 1.5 })));
const SHORT = JSON.stringify('x'.repeat(3_000));
const answerWith =
  (result: string): Script =>
  (socket) =>
    answerLikeOdoo(socket, printResult(result));

const NEGOTIATION: [header: string, encoding: string | undefined][] = [
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['deflate', 'deflate'],
  ['compress, deflate', 'deflate'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.9, zstd;q=0.8', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['gzip ; q=0.5 , br ; q=0.6', 'br'],
  ['gzip;q=0', undefined],
  ['gzip;q=0.000', undefined],
  ['gzip;q=0, *', 'zstd'],
  ['zstd;q=0, *', 'br'],
  ['*', 'zstd'],
  ['*;q=0', undefined],
  ['*;q=0, gzip', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=nonsense', undefined],
  ['gzip;;q=1,,', 'gzip'],
  [',', undefined],
  ['\u00e9', undefined],
];

test.each([
  ['streamed', LONG],
  ['sent at once', SHORT],
])('every accept-encoding header is honoured: an answer %s', async (_, result) => {
  const { proxy, upstream } = await startPair(answerWith(result));
  for (const [accepted, encoding] of NEGOTIATION) {
    const { headers, body } = await proxy.post(makeCall(upstream.url), { 'accept-encoding': accepted });
    expect(headers['content-encoding'], accepted).toBe(encoding);
    expect(headers.vary, accepted).toBe('accept-encoding');
    expect(unpack(encoding, body).equals(Buffer.from(`${OUR_HEAD}${result}}`)), accepted).toBe(true);
    if (encoding !== undefined) expect(body.length).toBeLessThan(result.length / 2);
  }
});

describe.each(['gzip', 'br', 'zstd'])('%s', (encoding) => {
  const headers = { 'accept-encoding': encoding };

  test('is not used for a small answer', async () => {
    const { proxy, upstream } = await startPair(answerWith('[1]'));
    const answer = await proxy.post(makeCall(upstream.url), headers);
    expect(answer.headers).toMatchObject({ 'content-length': '37', vary: 'accept-encoding' });
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  test('compresses a fault of Odoo', async () => {
    const message = 'No. '.repeat(1_000);
    const error = {
      code: 200,
      message: 'Odoo Server Error',
      data: { name: 'odoo.exceptions.UserError', message, arguments: [message], context: {}, debug: '' },
    };
    const { proxy, upstream } = await startPair((socket) =>
      answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error })),
    );
    const answer = await proxy.post(makeCall(upstream.url), headers);
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(JSON.parse(unpack(encoding, answer.body).toString())).toMatchObject({
      error: { data: { type: 'user_error', message } },
    });
  });

  test('compresses a batch', async () => {
    const { proxy, upstream } = await startPair(answerWith(LONG));
    const call = makeCall(upstream.url);
    const answer = await proxy.post([call, call, call], headers);
    expect(answer.headers['content-encoding']).toBe(encoding);
    const one = `${OUR_HEAD}${LONG}}`;
    expect(unpack(encoding, answer.body).toString()).toBe(`[${one},${one},${one}]`);
  });

  test('compresses again an answer that the upstream compressed', async () => {
    const { gzipSync } = await import('node:zlib');
    const { proxy, upstream } = await startPair((socket) =>
      writeAnswer(socket, 'length', gzipSync(printResult(LONG)), 'Content-Encoding: gzip\r\n'),
    );
    const answer = await proxy.post(makeCall(upstream.url), headers);
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(unpack(encoding, answer.body).toString()).toBe(`${OUR_HEAD}${LONG}}`);
  });
});

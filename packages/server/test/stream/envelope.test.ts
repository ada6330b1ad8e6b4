/** Tests that envelopes of any form are recognised. Answers that must be read whole are read only up to a bound. */
import { describe, expect, test } from 'vitest';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';
import { type Framing, writeAnswer, writeForEver } from './framing.ts';
import { OUR_HEAD, startPair } from './pair.ts';

const LONG = JSON.stringify('x'.repeat(20_000));
const VERY_LONG = JSON.stringify(Array.from({ length: 300_000 }, (_, index) => index));

test.each<[string, string, string]>([
  ['no result', '{"jsonrpc": "2.0", "id": 1}', 'null'],
  ['no result, without spaces', '{"jsonrpc":"2.0","id":1}', 'null'],
  ['no result, and a new line', '{"jsonrpc": "2.0", "id": 1}\n', 'null'],
  ['no result, in another order', '{"id": 1, "jsonrpc": "2.0"}', 'null'],
  ['a result that is null', '{"jsonrpc": "2.0", "id": 1, "result": null}', 'null'],
  ['a new line at the end', '{"jsonrpc": "2.0", "id": 1, "result": [1.0]}\r\n', '[1.0]'],
  ['error null after the result', '{"jsonrpc": "2.0", "id": 1, "result": false, "error": null}', 'false'],
  ['error null before the result', '{"error": null, "jsonrpc": "2.0", "id": 1, "result": 0}', '0'],
  ['result first', '{"result": {"a": 1e2}, "id": 1, "jsonrpc": "2.0"}', '{"a": 1e2}'],
  ['result first, and long', `{"result": ${LONG}, "id": 1, "jsonrpc": "2.0"}`, LONG],
  ['result first, and very long', `{"result": ${VERY_LONG}, "id": 1, "jsonrpc": "2.0"}`, VERY_LONG],
  ['another id', '{"jsonrpc": "2.0", "id": "a", "result": 1}', '1'],
  ['an id that begins like ours', '{"jsonrpc": "2.0", "id": 12, "result": 1}', '1'],
  ['no id', '{"jsonrpc": "2.0", "result": 1}', '1'],
  ['100 KB of leading white space', `${' '.repeat(100_000)}{"jsonrpc": "2.0", "id": 1, "result": 1}`, '1'],
  ['white space between tokens', '\n{\t"jsonrpc" :\r\n"2.0" , "id": 1 , "result" : [ 1 ] }', '[ 1 ]'],
  [
    'result twice: the last one counts, as with JSON.parse',
    '{"jsonrpc":"2.0","id":1,"result":1,"result":2}',
    '2',
  ],
  [
    'text that looks like an error',
    '{"jsonrpc": "2.0", "id": 1, "result": "\\"error\\": {}"}',
    '"\\"error\\": {}"',
  ],
])('%s', async (_, body, result) => {
  const { proxy, upstream } = await startPair((socket, _request, index) =>
    writeAnswer(socket, (['length', 'chunked', 'close'] satisfies Framing[])[index] as Framing, body),
  );
  for (let framing = 0; framing < 3; framing++) {
    const answer = await proxy.post(makeCall(upstream.url));
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe(`${OUR_HEAD}${result}}`);
  }
});

test.each<[string, string]>([
  ['after a result', '{"jsonrpc": "2.0", "id": 1, "result": 1, "error": {"code": 200}}'],
  ['before a result', '{"jsonrpc": "2.0", "id": 1, "error": {"code": 200}, "result": 1}'],
  ['first', '{"error": {"code": 200, "message": "Odoo Server Error"}, "jsonrpc": "2.0", "id": 1}'],
  ['in a form that Odoo does not use', '{"jsonrpc": "2.0", "id": 1, "error": "broken"}'],
  ['that is false', '{"jsonrpc": "2.0", "id": 1, "error": false}'],
])('an error is never taken for a result: %s', async (_, body) => {
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, body));
  const { json } = await proxy.call(makeCall(upstream.url));
  expect(json).not.toHaveProperty('result');
  expect(json.error.data.type).toBe('upstream_error');
});

test.each<[string, string]>([
  ['an array', '[]'],
  ['a number', '1'],
  ['null', 'null'],
  ['an object of another program', '{"status": "ok"}'],
  ['HTML', '<!DOCTYPE html><title>Odoo</title>'],
  ['a byte order mark', '\ufeff{"jsonrpc": "2.0", "id": 1, "result": 1}'],
  ['two answers', `${printResult('1')}${printResult('2')}`],
  ['only white space', ' \n'],
])('an answer that is not from Odoo is refused: %s', async (_, body) => {
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, body));
  const { status, json } = await proxy.call(makeCall(upstream.url));
  expect(status).toBe(502);
  expect(json).toMatchObject({ id: 1, error: { code: -32005, data: { type: 'upstream_bad_response' } } });
});

test('a short answer that is not UTF-8 is refused', async () => {
  const body = Buffer.from(printResult('"\u00ff"'), 'latin1');
  const { proxy, upstream } = await startPair((socket) => answerLikeOdoo(socket, body));
  expect((await proxy.call(makeCall(upstream.url))).json.error.code).toBe(-32005);
});

describe('an answer with members in another order', () => {
  const settings = { 'upstream.answerBytesMax': '100000' };
  const print = (bytes: number) => {
    const rest = ', "jsonrpc": "2.0", "id": 1}';
    return `{"result": "${'x'.repeat(bytes - rest.length - 13)}"${rest}`;
  };

  test.each<Framing>(['length', 'chunked', 'close'])('is read whole up to the bound: %s', async (framing) => {
    const { proxy, upstream } = await startPair(
      (socket, _request, index) => writeAnswer(socket, framing, print(100_000 + index)),
      { settings },
    );
    expect((await proxy.call(makeCall(upstream.url))).json.result).toMatch(/^x{99959}$/);
    const { status, json } = await proxy.call(makeCall(upstream.url));
    expect(status).toBe(502);
    expect(json.error.data).toMatchObject({ type: 'upstream_bad_response', outcome: 'unknown' });
    await expect.poll(() => upstream.sockets.size).toBeLessThan(2);
  });

  test('is not read to its end if it is too large', async () => {
    const { proxy, upstream } = await startPair(
      async (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n{"result": "');
        await writeForEver(socket);
      },
      { settings },
    );
    expect((await proxy.call(makeCall(upstream.url))).json.error.code).toBe(-32005);
    await expect.poll(() => upstream.sockets.size).toBe(0);
  });
});

/**
 * docs/execute.md#members: `id` is a string of at most 256 characters or an integer, and is returned with the same
 * bytes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { expectError, printCall, printInstance } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const good = [
  '"1"',
  '1',
  '0',
  '-1',
  '-0',
  '9223372036854775808',
  '123456789012345678901234567890',
  '-9007199254740993',
  '""',
  '"é"',
  '"\\u00e9\\/\\n"',
  '"\\ud800"',
  '"\\u0000"',
  '"</script>"',
  `"${'a'.repeat(256)}"`,
  `"${'é'.repeat(256)}"`,
  `"${'😀'.repeat(256)}"`,
  `"${'\\u0061'.repeat(256)}"`,
  `"${'\\ud83d\\ude00'.repeat(256)}"`,
];

describe('is returned byte for byte', () => {
  test.each(good)('in a result: %s', async (id) => {
    const answer = await pair.proxy.post(printCall(pair.upstream.url, { id }));
    expect(answer.body.toString()).toBe(`{"jsonrpc":"2.0","id":${id},"result":true}`);
  });

  test.each(good)('in an error: %s', async (id) => {
    const answer = await pair.proxy.post(printCall(pair.upstream.url, { id, model_id: null }));
    expect(answer.body.toString().startsWith(`{"jsonrpc":"2.0","id":${id},"error":{`)).toBe(true);
  });

  test('in an error that is found after the body was parsed', async () => {
    const instance = printInstance('https://10.0.0.1');
    const answer = await pair.proxy.post(
      printCall(pair.upstream.url, { id: '"\\u0061"', erp_instance: instance }),
    );
    expect(answer.body.toString().startsWith('{"jsonrpc":"2.0","id":"\\u0061","error":{')).toBe(true);
  });
});

test.each([null, 'null'])('is null if it is omitted or null: %s', async (id) => {
  const answer = await pair.proxy.post(printCall(pair.upstream.url, { id }));
  expect(answer.body.toString()).toBe('{"jsonrpc":"2.0","id":null,"result":true}');
});

test.each([
  '1.5',
  '1e-1',
  '-0.5',
  'true',
  'false',
  '{}',
  '[]',
  '[1]',
  `"${'a'.repeat(257)}"`,
  `"${'😀'.repeat(257)}"`,
  `"${'\\u0061'.repeat(257)}"`,
  `"${'\\ud83d\\ude00'.repeat(257)}"`,
  `"${'a'.repeat(100_000)}"`,
  '1e400',
  '9'.repeat(300),
])('is refused, and null in the answer: %s', async (id) => {
  const before = pair.upstream.connections();
  const answer = await pair.proxy.post(printCall(pair.upstream.url, { id }));
  expectError(answer, {
    status: 400,
    code: -32600,
    type: 'invalid_request',
    path: 'id',
    says: /`id` (must be|may have)/,
  });
  expect(pair.upstream.connections()).toBe(before);
});

test('is logged as sent', async () => {
  await pair.proxy.post(printCall(pair.upstream.url, { id: '"order-17"' }));
  await expect.poll(() => pair.proxy.log.at(-1)).toMatchObject({ msg: 'call', id: '"order-17"' });
});

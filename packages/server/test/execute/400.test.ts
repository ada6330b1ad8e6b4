/** HTTP 400: the body is not JSON, is not a call, or violates a rule of the proxy. Nothing reaches Odoo. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { collectSent, type ExpectedError, expectError, printCall } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const expectRefused = async (body: string | Uint8Array, expected: Omit<ExpectedError, 'status'>) => {
  const sent = await collectSent(pair.upstream, async () => {
    expectError(await pair.proxy.post(body), { status: 400, ...expected });
  });
  expect(sent).toEqual([]);
};

test.each([
  ['nothing', ''],
  ['blanks', ' \n'],
  ['a cut object', '{"id":1'],
  ['two documents', '{}{}'],
  ['a trailing comma', '{"id":1,}'],
  ['single quotes', "{'id':1}"],
  ['a comment', '{"id":1}//x'],
  ['NaN', '{"id":NaN}'],
  ['a leading zero', '{"id":01}'],
  ['a raw line break in a text', '{"id":"\n"}'],
  ['a form', 'id=1&action=read'],
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['UTF-16', Buffer.from('{"id":1}', 'utf16le')],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['an overlong UTF-8 form', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
  ['a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
])('parse_error: %s', (_name, body) =>
  expectRefused(body, {
    code: -32700,
    type: 'parse_error',
    says: /^The body is not valid JSON at byte \d+: [^.]+\.$/,
  }),
);

test('parse_error says that the text is truncated', async () => {
  const { body } = await pair.proxy.post('{"id":1,');
  expect(JSON.parse(body.toString()).error.message).toBe(
    "The body is not valid JSON at byte 8: the text ends where a member's name in double quotes is expected.",
  );
});

test('parse_error shows nothing of the body', async () => {
  const { body } = await pair.proxy.post('{"api_key":"do-not-show"!');
  expect(body.toString()).not.toContain('do-not-show');
});

test('invalid_request: a member of the wrong type', () =>
  expectRefused(printCall(pair.upstream.url, { model_id: '7' }), {
    code: -32600,
    type: 'invalid_request',
    id: 1,
    path: 'model_id',
    says: /must be a string, not a number/,
  }));

test('invalid_request: deeper than Odoo can parse', async () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  await expectRefused(printCall(pair.upstream.url, { params: deep(512) }), {
    code: -32600,
    type: 'invalid_request',
    says: /more than 512 levels/,
  });
  expect((await pair.proxy.post(printCall(pair.upstream.url, { params: deep(511) }))).status).toBe(200);
  // The body is refused at this depth, without reading it to its end.
  await expectRefused('['.repeat(513), {
    code: -32600,
    type: 'invalid_request',
    says: /more than 512 levels/,
  });
});

test('invalid_params: a limit, a company or a time zone', async () => {
  for (const [keyword, path] of [
    ['{"limit":"3"}', 'keyword.limit'],
    ['{"context":{"allowed_company_ids":[null]}}', 'keyword.context.allowed_company_ids'],
    ['{"context":{"tz":"Europe/Nowhere"}}', 'keyword.context.tz'],
  ] as const) {
    await expectRefused(printCall(pair.upstream.url, { keyword }), {
      code: -32602,
      type: 'invalid_params',
      id: 1,
      path,
      says: /must be/,
    });
  }
});

test('action_invalid: a private name', () =>
  expectRefused(printCall(pair.upstream.url, { action: '"_write"' }), {
    code: -32001,
    type: 'action_invalid',
    id: 1,
    path: 'action',
    says: /public method/,
  }));

test('fn_name_missing: call_method without a name', () =>
  expectRefused(printCall(pair.upstream.url, { action: '"call_method"' }), {
    code: -32002,
    type: 'fn_name_missing',
    id: 1,
    path: 'fn_name',
    says: /needs `fn_name`/,
  }));

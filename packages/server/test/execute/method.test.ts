/**
 * docs/execute.md#members: `action`, `fn_name` and `model_id` determine what runs. A private or malformed name never
 * reaches Odoo.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { collectSent, expectError, printCall, printExecuteKw } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const post = (changes: Record<string, string | null>) =>
  pair.proxy.post(printCall(pair.upstream.url, changes));

describe('action', () => {
  test.each(['read', 'search_read', 'create', 'action_confirm', 'x_studio_do', 'A1', 'r\\u0065ad'])(
    'runs %s',
    async (action) => {
      const sent = await collectSent(pair.upstream, () => post({ action: `"${action}"` }));
      expect(sent).toEqual([printExecuteKw({ method: JSON.parse(`"${action}"`) })]);
    },
  );

  test.each([
    '_read',
    '__init__',
    '',
    ' read',
    'read ',
    'read\\n',
    '1read',
    'res.partner.read',
    'read()',
    'réad',
    're-ad',
    '\\u005fread',
    'read\\u0000',
  ])('refuses the name %j', async (action) => {
    const before = pair.upstream.connections();
    const answer = await post({ action: `"${action}"` });
    expectError(answer, {
      status: 400,
      code: -32001,
      type: 'action_invalid',
      id: 1,
      path: 'action',
      says: /public method/,
    });
    expect(pair.upstream.connections()).toBe(before);
  });

  test('refuses an endless name', async () => {
    const answer = await post({ action: `"${'a'.repeat(257)}"` });
    expectError(answer, {
      status: 400,
      code: -32600,
      type: 'invalid_request',
      id: 1,
      path: 'action',
      says: /256/,
    });
  });
});

describe('call_method', () => {
  test('runs fn_name', async () => {
    const sent = await collectSent(pair.upstream, () =>
      post({ action: '"call_method"', fn_name: '"action_\\u0063onfirm"' }),
    );
    expect(sent).toEqual([printExecuteKw({ method: 'action_confirm' })]);
  });

  test.each([null, 'null', '""'])('requires fn_name if it is %s', async (fnName) => {
    const answer = await post({ action: '"call_method"', fn_name: fnName });
    expectError(answer, {
      status: 400,
      code: -32002,
      type: 'fn_name_missing',
      id: 1,
      path: 'fn_name',
      says: /needs `fn_name`/,
    });
  });

  test.each(['_write', '\\u005fwrite', 'a b', '1a', 'a.b', ' '])('refuses fn_name %j', async (name) => {
    const answer = await post({ action: '"call_method"', fn_name: `"${name}"` });
    expectError(answer, {
      status: 400,
      code: -32001,
      type: 'action_invalid',
      id: 1,
      path: 'fn_name',
      says: /public method/,
    });
  });

  test.each(['1', 'true', '["write"]'])('refuses fn_name %s, which is not a string', async (fnName) => {
    const answer = await post({ action: '"call_method"', fn_name: fnName });
    expectError(answer, {
      status: 400,
      code: -32600,
      type: 'invalid_request',
      id: 1,
      path: 'fn_name',
      says: /must be a string/,
    });
  });
});

describe('fn_name with another action', () => {
  test.each(['null', '""'])('is accepted if it is %s', async (fnName) => {
    const sent = await collectSent(pair.upstream, () => post({ fn_name: fnName }));
    expect(sent).toEqual([printExecuteKw({})]);
  });

  test('is refused otherwise', async () => {
    const answer = await post({ fn_name: '"write"' });
    expectError(answer, {
      status: 400,
      code: -32600,
      type: 'invalid_request',
      id: 1,
      path: 'fn_name',
      says: /call_method/,
    });
  });
});

test.each(['res.partner', 'x_model', 'a', 'sale.order.line', '_unknown', 'A.b_1', 'r\\u0065s.partner'])(
  'accepts the model %s',
  async (model) => {
    const sent = await collectSent(pair.upstream, () => post({ model_id: `"${model}"` }));
    expect(sent).toEqual([printExecuteKw({ model: JSON.parse(`"${model}"`) })]);
  },
);

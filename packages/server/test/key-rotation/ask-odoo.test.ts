/** Tests the calls of key rotation to Odoo: the protocol, and how unusual answers are read. */

import { type KeyedRecord, readInput, toCodeMembers } from '@erp-proxy/control/instances';
import { createAskOdoo, type OdooAnswer, type Question } from '@erp-proxy/control/key-rotation';
import { createEgressDispatcher } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { answerLikeOdoo, printResult, type Script, startUpstream } from '../scripted-upstream.ts';
import { startHarness } from './rotation-harness.ts';

const KEY = '5a17b0c5ad0e3333333333333333333333333333';
const OTHER_KEY = '5a17b0c5ad0e4444444444444444444444444444';
const REVOKE: Question = { model: 'res.users.apikeys', method: 'revoke', keyword: { key: OTHER_KEY } };

const RECORD: KeyedRecord = {
  name: 'prod',
  ...toCodeMembers(
    readInput({
      name: 'prod',
      url: 'https://erp.example.com',
      db: 'prod',
      user_id: 2,
      api_key: KEY,
      allow_private: true,
      rotate_key: true,
    }),
  ),
  id: 'id',
  userId: 2,
  key: { expiresAt: null, isExpiryKnown: false, failure: null, pendingStep: null },
  createdAt: 0,
  updatedAt: 0,
  version: 1,
};

async function askUpstream(
  script: Script,
  changes: Partial<KeyedRecord> = {},
): Promise<{ answer: OdooAnswer; paths: string[] }> {
  const upstream = await startUpstream(script);
  // The policy allows no private address; only the instance does, for itself.
  const egress = createEgressDispatcher({
    allow: parseEgressPolicy([]).policy,
    connectTimeoutMs: 5000,
    firstByteTimeoutMs: null,
  });
  closeAfterTest(upstream);
  closeAfterTest(egress);
  const ask = createAskOdoo({ egress, timeoutMs: 10_000 });
  const answer = await ask({ ...RECORD, url: `${upstream.url}/erp/`, ...changes }, KEY, REVOKE);
  return { answer, paths: upstream.requests.map(({ head }) => head.split(' ')[1] ?? '') };
}

test('keys that Odoo repeats in a message are removed', async () => {
  const text = `${OTHER_KEY} is not ${KEY}`;
  const data = { name: 'odoo.exceptions.UserError', message: text, arguments: [text], context: {} };
  const error = { code: 0, message: text, data: { ...data, debug: text } };
  const { answer } = await askUpstream((socket) =>
    answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error })),
  );
  expect(answer).toMatchObject({ kind: 'refused', type: 'user_error' });
  for (const key of [KEY, OTHER_KEY]) expect(JSON.stringify(answer)).not.toContain(key);
});

test.each<[string, Script, RegExp]>([
  ['a page', (socket) => answerLikeOdoo(socket, '<html>'), /HTTP 200 that is no answer/],
  ['a gateway that fails', (socket) => answerLikeOdoo(socket, '', '502 Bad Gateway'), /HTTP 502/],
  ['a list', (socket) => answerLikeOdoo(socket, '[]'), /HTTP 200 that is no answer/],
  ['an endless answer', (socket) => answerLikeOdoo(socket, ' '.repeat(2 ** 21)), /larger than/],
  ['a cut answer', (socket) => void socket.end('HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{'), /./],
])('%s counts as no answer', async (_, script, message) => {
  const { answer, paths } = await askUpstream(script);
  expect(answer).toEqual({ kind: 'unanswered', message: expect.stringMatching(message) });
  expect(paths).toEqual(['/erp/jsonrpc']);
});

test('a server that does not answer is given up after the time limit of the instance', async () => {
  const { answer } = await askUpstream(() => {}, { timeoutMs: 50 });
  expect(answer.kind).toBe('unanswered');
});

test('json2 is used if /jsonrpc is missing, unless the instance requires JSON-RPC', async () => {
  const script: Script = (socket, { head }) =>
    head.includes('/jsonrpc')
      ? answerLikeOdoo(socket, '<html>', '404 Not Found')
      : answerLikeOdoo(socket, 'true');
  const json2 = '/erp/json/2/res.users.apikeys/revoke';
  expect(await askUpstream(script)).toEqual({
    answer: { kind: 'result', value: true },
    paths: ['/erp/jsonrpc', json2],
  });
  expect(await askUpstream(script, { protocol: 'json2' })).toMatchObject({ paths: [json2] });
  expect(await askUpstream(script, { protocol: 'jsonrpc' })).toEqual({
    answer: { kind: 'unanswered', message: expect.stringContaining('protocols') },
    paths: ['/erp/jsonrpc'],
  });
});

test('a method that returns nothing has the value null', async () => {
  const { answer } = await askUpstream((socket) => answerLikeOdoo(socket, '{"jsonrpc": "2.0", "id": 1}'));
  expect(answer).toEqual({ kind: 'result', value: null });
});

test('an address that neither the policy nor the instance allows is not reached', async () => {
  const { answer, paths } = await askUpstream((socket) => answerLikeOdoo(socket, printResult('true')), {
    allowPrivate: false,
  });
  expect(answer.kind).toBe('unanswered');
  expect(paths).toEqual([]);
});

test.each(['jsonrpc', 'json2'] as const)('a missing method has the same error over %s', async (protocol) => {
  const harness = await startHarness({ version: 19, protocol });
  closeAfterTest(harness);
  const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
  const answer = await harness.ask(record, apiKey, { ...REVOKE, method: 'nope' });
  expect(answer).toMatchObject({ kind: 'refused', type: 'method_not_found' });
});

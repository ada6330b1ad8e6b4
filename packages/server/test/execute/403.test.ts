/** HTTP 403: the address is not one that the operator allows. It reads the same whatever is there. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { answerTrue, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';
import { expectError, printCall, printInstance } from './expectations.ts';

let pair: Pair;
let unlisted: ScriptedUpstream;
beforeAll(async () => {
  pair = await startPair();
  unlisted = await startUpstream(answerTrue);
});
afterAll(async () => {
  await pair.close();
  await unlisted.close();
});

const postTo = (url: string) => pair.proxy.post(printCall('', { erp_instance: printInstance(url) }));

it.each([
  'https://127.0.0.1',
  'http://erp.example.com',
  'https://[::1]',
  'https://169.254.169.254',
  'https://localhost',
  'http://127.0.0.1:1',
])('egress_denied: %s', async (url) => {
  expectError(await postTo(url), {
    status: 403,
    code: -32011,
    type: 'egress_denied',
    id: 1,
    path: 'erp_instance.url',
    says: /The operator does not allow this address/,
  });
});

it('egress_denied reads the same whether something listens there or not', async () => {
  const [open, closed] = await Promise.all([postTo(unlisted.url), postTo('http://127.0.0.1:1')]);
  expect(open.body.toString()).toBe(closed.body.toString());
  expect(unlisted.connections()).toBe(0);
});

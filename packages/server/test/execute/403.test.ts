/** HTTP 403: the operator does not allow the address, or the policy does not allow the call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { answerTrue, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { expectError, printCall, printInstance } from './expectations.ts';

const PUBLIC_URL = 'https://erp.example.com';

let pair: Pair;
let unlisted: ScriptedUpstream;
beforeAll(async () => {
  const settings = {
    'http.publicUrl': PUBLIC_URL,
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
  };
  pair = await startPair(answerTrue, { settings });
  unlisted = await startUpstream(answerTrue);
});
afterAll(async () => {
  await pair.close();
  await unlisted.close();
});

const postTo = (url: string) => pair.proxy.post(printCall('', { erp_instance: printInstance(url) }));

test.each([
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

test('egress_denied has the same text whether or not something listens there', async () => {
  const [open, closed] = await Promise.all([postTo(unlisted.url), postTo('http://127.0.0.1:1')]);
  expect(open.body.toString()).toBe(closed.body.toString());
  expect(unlisted.connections()).toBe(0);
});

test('policy_denied: the policy of the key does not allow the call', async () => {
  const policy = { origins: [pair.upstream.url], models: { 'res.partner': ['search*'] } };
  const { key } = await pair.proxy.app.keys.create({ name: 'searcher', policy });
  const before = pair.upstream.connections();
  const call = printCall('', { erp_instance: printInstance(pair.upstream.url) });
  expectError(await pair.proxy.post(call, { 'x-proxy-api': key }), {
    status: 403,
    code: -32010,
    type: 'policy_denied',
    id: 1,
    rule: 'models["res.partner"]',
    says: /may not call `read` of `res.partner`/,
  });
  expect(pair.upstream.connections()).toBe(before);
});

test('approval_required: the policy lets the call run only after an administrator has approved it', async () => {
  const policy = {
    origins: [pair.upstream.url],
    models: { 'res.partner': ['read'] },
    approve: { 'res.*': ['read'] },
  };
  const { key } = await pair.proxy.app.keys.create({ name: 'reader', policy });
  const before = pair.upstream.connections();
  const call = printCall('', { erp_instance: printInstance(pair.upstream.url) });
  const answer = await pair.proxy.post(call, { 'x-proxy-api': key });
  const { items } = await pair.proxy.app.adminFor(TEST_ACTOR).listApprovals({});
  expectError(answer, {
    status: 403,
    code: -32018,
    type: 'approval_required',
    id: 1,
    rule: 'approve["res.*"]',
    approval: items[0]?.id as string,
    says: /An administrator must approve this call/,
  });
  expect(pair.upstream.connections()).toBe(before);
});

test('connect_required: the person of the key has not connected a user of Odoo', async () => {
  const { keys, instances } = pair.proxy.app;
  await instances.add({ name: 'own', url: pair.upstream.url, db: 'prod', identity: 'person' });
  const { key } = await keys.create({ name: 'of Ada', person: 'corp/ada' });
  const before = pair.upstream.connections();
  const call = printCall('', { erp_instance: '{"name":"own"}' });
  expectError(await pair.proxy.post(call, { 'x-proxy-api': key }), {
    status: 403,
    code: -32019,
    type: 'connect_required',
    id: 1,
    connect_url: `${PUBLIC_URL}/connect/own`,
    says: /you have not connected one: open https:\/\/erp\.example\.com\/connect\/own/,
  });
  expect(pair.upstream.connections()).toBe(before);
});

/** Drafts of policies: `POST /admin/v1/policies/explain` and `/compare`. */
import { request as httpRequest } from 'node:http';
import type { Policy } from '@erp-proxy/contract';
import { TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { makeCall } from '@erp-proxy/control/testing';
import type { CallRecord } from '@erp-proxy/observe/events';
import { expect, test } from 'vitest';
import { expectToStay, passTurns } from '../time.ts';
import { watchRequests } from '../watch-requests.ts';
import { startAdmin, TOKEN } from './admin-client.ts';

const DRAFT: Policy = { instances: ['prod'], models: { 'res.partner': ['read', 'search*'] } };
const CALL = { model_id: 'res.partner', action: 'read', params: [[1]], erp_instance: { name: 'prod' } };

test('explains a draft as the same policy of a key', async () => {
  const { proxy, post } = await startAdmin();
  const policy: Policy = { ...DRAFT, limit_max: 10, cidrs: ['192.0.2.0/24'] };
  const { record } = await proxy.app.keys.create({ name: 'x', policy });
  for (const call of [CALL, { ...CALL, action: 'unlink' }, { ...CALL, action: 'search' }, 7]) {
    for (const more of [
      {},
      { address: '192.0.2.7' },
      { address: '198.51.100.1' },
      { origin: 'https://a.b' },
    ]) {
      const draft = await post('/policies/explain', { policy, call, ...more });
      expect(draft.status).toBe(200);
      expect(draft.json).toEqual((await post(`/keys/${record.id}/explain`, { call, ...more })).json);
    }
  }
});

test('explains what a call may do without a policy', async () => {
  const { post } = await startAdmin();
  const { json } = await post('/policies/explain', { policy: null, call: CALL });
  expect(json).toMatchObject({ allowed: true, rule: null });
});

test.each(['/policies/explain', '/policies/compare'])('%s reports the faults of a draft', async (path) => {
  const { post } = await startAdmin();
  const more = path.endsWith('explain') ? { call: CALL } : {};
  const { status, json } = await post(path, {
    policy: { models: { 'res.partner': [7] }, limit: 3 },
    ...more,
  });
  expect(status).toBe(400);
  const created = await post('/keys', { name: 'x', policy: { models: { 'res.partner': [7] }, limit: 3 } });
  expect(json.faults).toEqual(created.json.faults);
  expect(json.faults.map((fault: { path: string }) => fault.path)).toContain(
    'policy.models["res.partner"][0]',
  );
  const without = await post(path, more);
  expect(without.json.faults).toEqual([{ path: 'policy', message: 'is missing' }]);
});

async function startWith(...records: Partial<CallRecord>[]) {
  const admin = await startAdmin();
  const { audit } = admin.proxy.app;
  for (const record of records) audit.recordCall(makeCall(record));
  await audit.flush();
  return admin;
}

test('checks the calls of the audit by a draft, and groups them', async () => {
  const { post } = await startWith(
    { requestId: 'r1', method: 'read' },
    { requestId: 'r2', method: 'unlink' },
    { requestId: 'r3', method: 'unlink', outcome: 'policy_denied' },
    { requestId: 'r3', method: 'unlink' },
    { requestId: 'r4', method: 'unlink' },
    { requestId: 'r5', method: 'unlink' },
    { requestId: 'r6', instance: 'test' },
    { requestId: 'r7', instance: null, upstream: 'https://erp.example.com/odoo' },
    { requestId: 'r8', model: null, method: null, instance: null, outcome: 'invalid_request' },
    { requestId: 'r9', via: 'export' },
  );
  const { status, json } = await post('/policies/compare', { policy: DRAFT });
  expect(status).toBe(200);
  expect(json).toMatchObject({ calls: 9, denied: 8, unlisted: 0, is_cut: false });
  const group = { instance: 'prod', upstream: null, model: 'res.partner', action: 'read', approval: null };
  expect(json.groups[0]).toEqual({
    ...group,
    action: 'unlink',
    calls: 5,
    denied_then: 1,
    denied: true,
    rule: 'models["res.partner"]',
    message: expect.stringContaining('`unlink`'),
    examples: ['r5', 'r4', 'r3'],
  });
  expect(json.groups.slice(1, 4)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...group, instance: 'test', calls: 1, rule: 'instances' }),
      expect.objectContaining({
        ...group,
        instance: null,
        upstream: 'https://erp.example.com/odoo',
        rule: 'origins',
      }),
      expect.objectContaining({ ...group, calls: 1, rule: 'data', examples: ['r9'] }),
    ]),
  );
  expect(json.groups[4]).toEqual({
    ...group,
    calls: 1,
    denied_then: 0,
    denied: false,
    rule: null,
    message: null,
    examples: ['r1'],
  });
});

test('checks calls by address, server and database, and tells which need an approval', async () => {
  const { post } = await startWith(
    { requestId: 'near', address: '192.0.2.1' },
    { requestId: 'far', address: '198.51.100.9' },
    { requestId: 'own', instance: null, upstream: 'https://erp.example.com/odoo', db: 'prod' },
    { requestId: 'other', instance: null, upstream: 'https://erp.example.com', db: 'test' },
  );
  const policy: Policy = {
    ...DRAFT,
    origins: ['https://erp.example.com'],
    dbs: ['prod'],
    cidrs: ['192.0.2.0/24'],
    approve: { 'res.partner': ['read'] },
  };
  const { json } = await post('/policies/compare', { policy });
  const byExample = Object.fromEntries(
    json.groups.map(({ examples, rule, approval }: never) => [examples, [rule, approval]]),
  );
  expect(byExample).toEqual({
    near: [null, 'approve["res.partner"]'],
    far: ['cidrs', null],
    own: [null, 'approve["res.partner"]'],
    other: ['dbs', null],
  });
});

test('says which rules the audit does not tell enough for, and does not apply them', async () => {
  const { post } = await startWith({});
  const policy: Policy = {
    ...DRAFT,
    models: { 'res.partner': ['read'] },
    fields: { 'res.partner': { allow: ['name'] } },
    companies: [1],
    rate: { requests: 1, seconds: 60 },
    cors_origins: ['https://shop.example'],
    publishable: true,
    read_only: true,
    limit_max: 1,
  };
  const { json } = await post('/policies/compare', { policy });
  expect(json).toMatchObject({ calls: 1, denied: 0 });
  const rules = json.unchecked.map(({ rule }: { rule: string }) => rule);
  expect(rules.sort()).toEqual(
    'companies cors_origins fields limit_max models publishable rate sensitive_methods'.split(' '),
  );
  const approving = { ...DRAFT, models: { 'res.partner': ['*'] }, approve: { 'res.partner': ['write'] } };
  const compared = (await post('/policies/compare', { policy: approving })).json;
  expect(compared.unchecked.map(({ rule }: { rule: string }) => rule)).toContain('approve');
  expect((await post('/policies/compare', { policy: null })).json).toMatchObject({
    denied: 0,
    unchecked: [],
  });
});

test('checks the calls of one client, one key and one time, and never those of administrators', async () => {
  const { post } = await startWith(
    { keyId: 'k2', clientId: 'k1' },
    { keyId: 'k1', clientId: 'k1' },
    { keyId: 'k3', clientId: 'k3' },
    { keyId: 'k1', clientId: 'k1', via: 'console', actor: TOKEN_ACTOR },
    { keyId: 'proxy', clientId: 'proxy', via: 'subscription' },
  );
  const count = async (more: object) =>
    (await post('/policies/compare', { policy: DRAFT, ...more })).json.calls;
  expect(await count({})).toBe(3);
  expect(await count({ client_id: 'k1' })).toBe(2);
  expect(await count({ client_id: 'k1', key_id: 'k2' })).toBe(1);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  expect(await count({ since: tomorrow })).toBe(0);
  const { json } = await post('/policies/compare', { policy: DRAFT, since: 'yesterday' });
  expect(json.faults).toEqual([{ path: 'since', message: expect.stringMatching(/^is a day or a time/) }]);
});

/** Ten pages of audit records. Reading a page waits while `gate` is set. */
async function startComparing() {
  const records = Array.from({ length: 2000 }, (_, index) => ({
    requestId: `r${index}`,
    model: `x.model.${index}`,
  }));
  const admin = await startWith(...records);
  const { audit } = admin.proxy.app;
  const state = { searches: 0, gate: Promise.withResolvers<void>() };
  const { search } = audit;
  audit.search = async (query) => {
    state.searches++;
    await state.gate.promise;
    return search(query);
  };
  const compare = (more: object = {}) => admin.post('/policies/compare', { policy: DRAFT, ...more });
  return { ...admin, state, compare };
}

test('comparisons run one after another', async () => {
  const { compare, state } = await startComparing();
  const ended: string[] = [];
  const long = compare().then(() => ended.push('long'));
  await expect.poll(() => state.searches).toBe(1);
  const short = compare({ client_id: 'none' }).then(() => ended.push('short'));
  await expectToStay(() => state.searches, 1);
  state.gate.resolve();
  await Promise.all([long, short]);
  expect(ended).toEqual(['long', 'short']);
});

test('a comparison whose caller has left ends early', async () => {
  const { proxy, compare, state } = await startComparing();
  const watched = watchRequests('/admin/v1/policies/compare');
  const left = Array.from({ length: 20 }, () => {
    const request = httpRequest(`${proxy.url}/admin/v1/policies/compare`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      agent: false,
    });
    request.on('error', () => {});
    request.end(JSON.stringify({ policy: DRAFT }));
    return request;
  });
  await expect.poll(() => watched.received).toBe(left.length);
  await expect.poll(() => state.searches).toBe(1);
  await passTurns(10);
  for (const request of left) request.destroy();
  await expect.poll(() => watched.closed).toBe(left.length);
  state.gate.resolve();
  expect((await compare()).json).toMatchObject({ calls: 2000 });
  // Each comparison whose caller left has read one page.
  expect(state.searches).toBe(left.length + 10);
});

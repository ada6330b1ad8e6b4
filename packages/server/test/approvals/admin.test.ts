/** Calls that need an approval, from the administrator's side: list, show, approve, refuse, and what is recorded. */
import { randomBytes } from 'node:crypto';
import { TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { expect, test } from 'vitest';
import { type Json, SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { answerTrue, makeCall, startUpstream } from '../scripted-upstream.ts';
import { readOutcome, startApprover } from './approver.ts';

const ODOO_KEY = 'upstream-key-0123456789';
const VALUE = 'a value that must stay sealed';

async function start(settings: Record<string, string> = {}) {
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const client = await startAdmin({
    allow: [upstream.url],
    settings: { ...SETTINGS, ...settings },
    secrets: [ODOO_KEY],
  });
  const { proxy } = client;
  const policy = {
    origins: [upstream.url],
    models: { '*': ['button_draft', 'read'] },
    approve: { 'account.move': ['button_*'] },
  };
  const { key, record } = await proxy.app.keys.create({ name: 'agent', policy });
  const headers = { 'x-proxy-api': key };
  const draft = (id: number) =>
    makeCall(upstream.url, {
      action: 'button_draft',
      model_id: 'account.move',
      params: [[id], 1.0],
      keyword: { note: VALUE },
    });
  const send = (id: number, approval?: string) =>
    proxy.call(draft(id), { ...headers, ...(approval === undefined ? {} : { 'x-approval': approval }) });
  const ask = async (id: number): Promise<string> => (await send(id)).json.error.data.approval;
  return { ...client, upstream, keyId: record.id, draft, send, ask };
}

test('an administrator sees the whole call but no credentials, and approves it; the caller then runs it', async () => {
  const { get, post, upstream, keyId, send, ask } = await start();
  const id = await ask(7);
  const pending = {
    id,
    state: 'pending',
    key_id: keyId,
    asked_by: null,
    address: '127.0.0.1',
    instance: null,
    upstream: upstream.url,
    db: 'prod',
    user_id: 2,
    model: 'account.move',
    action: 'button_draft',
    rule: 'approve["account.move"]',
    created_at: expect.any(String),
    expires_at: expect.any(String),
    decided_at: null,
    decided_by: null,
    reason: null,
    used_at: null,
  };
  expect((await get('/approvals')).json).toEqual({ items: [pending], next: null });
  const record = { id: 7, name: null, partner: null, order: null, state: null, stage: null };
  const concerns = [{ part: 'records', model: 'account.move', count: 1, records: [record] }];
  const call = { params: '[[7],1]', keyword: `{"note":"${VALUE}"}`, concerns };
  expect((await get(`/approvals/${id}`)).json).toEqual({ ...pending, call });

  const { status, json } = await post(`/approvals/${id}/approve`);
  expect(status).toBe(200);
  expect(json).toMatchObject({ state: 'approved', decided_by: TOKEN_ACTOR, decided_at: expect.any(String) });
  expect(Date.parse(json.expires_at) - Date.parse(json.decided_at)).toBe(3_600_000);
  expect(readOutcome(await send(7, id))).toBe('ok');
  expect((await get(`/approvals/${id}`)).json).toMatchObject({ state: 'used', used_at: expect.any(String) });
});

test('numbers and texts are shown as Odoo gets them, not as this program would print them', async () => {
  const { admin, ask, upstream, unlink } = await startApprover();
  const exact = '[[1.0, 12345678901234567890],"\\u0000 é",1e400]';
  const body = JSON.stringify(unlink()).replace('[[7]]', exact);
  const { call } = await admin.getApproval(await ask(body));
  expect(call).toEqual({ params: exact, keyword: '{}' });
  expect(upstream.requests).toHaveLength(0);
});

test('lists are in pages, and by state', async () => {
  const { get, post, ask } = await start();
  const ids: string[] = [];
  for (let id = 1; id <= 5; id++) ids.push(await ask(id));
  await post(`/approvals/${ids[0]}/approve`);
  await post(`/approvals/${ids[1]}/refuse`, { reason: 'no' });
  const listed: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const { json }: Json = await get(`/approvals?limit=2${next === '' ? '' : `&cursor=${next}`}`);
    listed.push(...json.items.map((item: Json) => item.id));
    next = json.next;
  }
  expect(listed.toSorted()).toEqual(ids.toSorted());
  const count = async (state: string) => (await get(`/approvals?state=${state}`)).json.items.length;
  expect(await Promise.all(['pending', 'approved', 'refused', 'used', 'expired'].map(count))).toEqual([
    3, 1, 1, 0, 0,
  ]);
  expect((await get('/approvals?state=other')).status).toBe(400);
  expect((await get('/approvals?cursor=eyJ4IjoxfQ')).status).toBe(400);
});

test('a decision is made once, and is one action in the audit', async () => {
  const { post, ask, listAdminActions, get } = await start();
  const [first, second] = [await ask(1), await ask(2)];
  const before = (await listAdminActions()).length;
  const clicks = await Promise.all(Array.from({ length: 8 }, () => post(`/approvals/${first}/approve`)));
  for (const { status, json } of clicks) expect([status, json.state]).toEqual([200, 'approved']);
  expect(new Set(clicks.map(({ json }) => json.expires_at)).size).toBe(1);
  expect((await post(`/approvals/${first}/refuse`, { reason: 'too late' })).json.detail).toMatch(
    /^It is approved by admin\.token, so that .* cannot be decided/,
  );
  const decisions = await Promise.all([
    post(`/approvals/${second}/refuse`, { reason: 'Cancel it instead.' }),
    post(`/approvals/${second}/approve`),
    post(`/approvals/${second}/refuse`, { reason: 'Cancel it instead.' }),
  ]);
  const { state } = (await get(`/approvals/${second}`)).json;
  expect(decisions.filter(({ status }) => status === 200).every(({ json }) => json.state === state)).toBe(
    true,
  );
  const actions = (await listAdminActions()).slice(before);
  expect(actions).toHaveLength(2);
  expect(actions[0]).toMatchObject({
    actor: TOKEN_ACTOR,
    action: 'approval.approve',
    target: `approval ${first}`,
    changes: { state: { from: 'pending', to: 'approved' } },
  });
  expect(actions[1].target).toBe(`approval ${second}`);
  const missing = '0'.repeat(24);
  for (const path of [`/approvals/${missing}/approve`, '/approvals/x%00y/approve']) {
    expect((await post(path)).status).toBe(404);
  }
});

test.each([
  ['none', {}],
  ['empty', { reason: '' }],
  ['two lines', { reason: 'a\nb' }],
  ['long', { reason: 'a'.repeat(501) }],
  ['a number', { reason: 7 }],
])('a refusal needs a reason: %s', async (_, body) => {
  const { post, ask, get } = await start();
  const id = await ask(1);
  expect((await post(`/approvals/${id}/refuse`, body)).status).toBe(400);
  expect((await get(`/approvals/${id}`)).json.state).toBe('pending');
});

test('a client key cannot decide', async () => {
  const { proxy, ask } = await start();
  const id = await ask(1);
  for (const path of [`/approvals/${id}/approve`, `/approvals/${id}`]) {
    for (const header of ['x-proxy-api', 'authorization']) {
      const { key } = proxy;
      const answer = await fetch(`${proxy.url}/admin/v1${path}`, {
        method: path.endsWith('approve') ? 'POST' : 'GET',
        headers: { [header]: header === 'authorization' ? `Bearer ${key}` : key },
      });
      expect(answer.status).toBe(401);
    }
  }
});

test('the audit has who asked, who decided and who ran the call, and no values; the log neither', async () => {
  const { get, post, proxy, send, ask, keyId } = await start();
  const id = await ask(7);
  await post(`/approvals/${id}/approve`);
  await send(7, id);
  await send(7, id);
  await ask(8);
  await proxy.app.audit.flush();
  const { json } = await get(`/audit?approval=${id}`);
  const records = json.items.toReversed();
  expect(records.map(({ outcome }: Json) => outcome)).toEqual(['approval_required', 'ok', 'policy_denied']);
  for (const record of records) {
    expect(record).toMatchObject({ key_id: keyId, approval: id, action: 'button_draft' });
  }
  const actions = (await get('/audit?kind=admin&action=approval.approve')).json.items;
  expect(actions).toHaveLength(1);
  const texts = JSON.stringify([json, actions, proxy.log]);
  for (const secret of [VALUE, ODOO_KEY]) expect(texts).not.toContain(secret);
  expect(proxy.log.filter(({ approval }) => approval === id)).toHaveLength(3);
});

test.each([
  ['a master key', SETTINGS],
  ['no master key', { 'admin.token': SETTINGS['admin.token'] }],
])('with %s, the store has the values sealed, and no credentials', async (_, settings) => {
  const { app, ask, unlink, admin } = await startApprover({ settings });
  const keyword = { note: VALUE };
  const id = await ask(unlink({ keyword }));
  const row = await app.store.approvals.find(id);
  expect(row?.call).toBeTruthy();
  const text = JSON.stringify(row);
  for (const secret of [VALUE, ODOO_KEY, 'note']) expect(text).not.toContain(secret);
  expect((await admin.getApproval(id)).call).toMatchObject({
    params: '[[7]]',
    keyword: JSON.stringify(keyword),
  });
  await admin.refuseCall(id, { reason: 'no' });
  expect(await app.store.approvals.find(id)).toMatchObject({ call: null });
  expect((await admin.getApproval(id)).call).toBeNull();
});

test('values whose master key is gone cannot be approved unseen, only refused', async () => {
  const { app, ask, admin } = await startApprover();
  const id = await ask();
  const { approvals } = app.store;
  const { find } = approvals;
  const foreign = `v1.00000000.${randomBytes(12).toString('base64url')}.${randomBytes(40).toString('base64url')}`;
  Object.assign(approvals, {
    find: async (wanted: string) => {
      const row = await find(wanted);
      return row?.call == null ? row : { ...row, call: foreign };
    },
  });
  expect((await admin.getApproval(id)).call).toMatchObject({
    unreadable: expect.stringMatching(/master key/),
  });
  await expect(admin.approveCall(id)).rejects.toThrow(/cannot be opened.*Refuse the call/);
  expect(await admin.refuseCall(id, { reason: 'unreadable' })).toMatchObject({ state: 'refused' });
});

test('keys explain tells which calls need an approval', async () => {
  const { post, keyId, draft, upstream } = await start();
  const explain = async (call: unknown) => (await post(`/keys/${keyId}/explain`, { call })).json;
  expect(await explain(draft(7))).toMatchObject({
    allowed: true,
    approval: 'approve["account.move"]',
    message: expect.stringContaining('only after an administrator has approved it'),
  });
  expect(await explain(makeCall(upstream.url, { action: 'read' }))).toMatchObject({
    allowed: true,
    approval: null,
  });
});

test('metrics count what was asked, decided, used and returned', async () => {
  const { admin, ask, callWith, unlink, proxy, upstream } = await startApprover();
  const [first, second] = [await ask(), await ask(unlink({ params: [[8]] }))];
  await ask();
  await admin.approveCall(first);
  await admin.refuseCall(second, { reason: 'no' });
  await callWith(first);
  await callWith(first);
  const { erp_instance } = unlink();
  const gone = unlink({ erp_instance, params: [[9]] });
  const third = await ask(gone);
  await admin.approveCall(third);
  upstream.sockets.clear();
  const text = await (await fetch(`${proxy.url}/metrics`)).text();
  const read = (event: string) =>
    Number(new RegExp(`^erp_proxy_approvals_total{event="${event}"} (\\d+)$`, 'm').exec(text)?.[1]);
  expect(['asked', 'approved', 'refused', 'used', 'returned'].map(read)).toEqual([3, 2, 1, 1, 0]);
});

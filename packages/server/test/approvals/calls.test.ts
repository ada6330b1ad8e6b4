/** Tests a call that needs an approval, from the caller's side: asked for, approved, and run once. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, makeCall, printResult, ROLLED_BACK, type Script } from '../scripted-upstream.ts';
import { readOutcome, startApprover } from './approver.ts';

const HOUR_MS = 3_600_000;

test('is refused until it is approved, and then runs once as it was', async () => {
  const { call, callWith, unlink, upstream, admin } = await startApprover();
  const first = await call(unlink());
  expect(first.status).toBe(403);
  const { approval: id } = first.json.error.data;
  expect(id).toMatch(/^[0-9a-f]{24}$/);
  expect(first.json.error).toMatchObject({
    code: -32018,
    message: expect.stringContaining(`\`x-approval: ${id}\``),
    data: { type: 'approval_required', retryable: false, rule: 'approve["*"]' },
  });
  expect((await callWith(id)).json.error.data).toMatchObject({ type: 'approval_required', approval: id });

  await admin.approveCall(id);
  const unnamed = await call(unlink());
  expect(unnamed.json.error.data).toMatchObject({ type: 'approval_required', approval: id });
  expect(unnamed.json.error.message).toMatch(/is approved/);
  expect(upstream.requests).toHaveLength(0);

  expect((await callWith(id)).json).toEqual({ jsonrpc: '2.0', id: 1, result: true });
  const [sent] = upstream.requests;
  expect(JSON.parse(`${sent?.body}`).params.args.slice(3)).toEqual(['account.move', 'unlink', [[7]], {}]);

  const again = await callWith(id);
  expect(again.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'approve["*"]' });
  expect(again.json.error.message).toMatch(/is used/);
  expect(upstream.requests).toHaveLength(1);
});

test('is asked for once, however often it is sent, and again after it was used', async () => {
  const { ask, askAndApprove, callWith, unlink, admin } = await startApprover();
  const id = await ask();
  expect(await ask(unlink({ id: 'another id' }))).toBe(id);
  expect(await ask(unlink({ action: 'call_method', fn_name: 'unlink', keyword: null }))).toBe(id);
  expect(await ask(JSON.stringify(unlink(), null, 2).replace(/\[\s*\[\s*7\s*\]\s*\]/, '[[7]]'))).toBe(id);
  expect((await admin.listApprovals({})).items).toHaveLength(1);
  await admin.approveCall(id);
  expect(readOutcome(await callWith(id))).toBe('ok');
  const next = await askAndApprove();
  expect(next).not.toBe(id);
  // An approval that was already used does no harm beside a valid one.
  expect(readOutcome(await callWith(`${id}, ${next}`))).toBe('ok');
});

const CHANGES: Record<string, Record<string, unknown>> = {
  'other ids': { params: [[8]] },
  'more ids': { params: [[7, 8]] },
  'another model': { model_id: 'res.partner' },
  'another method': { action: 'button_draft' },
  'a named argument': { keyword: { context: { lang: 'de_DE' } } },
};

test.each(Object.entries(CHANGES))('an approval is not for the call with %s', async (_, changes) => {
  const policy = { approve: { '*': ['unlink', 'button_draft'] } };
  const { askAndApprove, callWith, unlink, upstream } = await startApprover({ policy });
  const id = await askAndApprove();
  const { json } = await callWith(id, unlink(changes));
  expect(json.error.data.type).toBe('approval_required');
  expect(json.error.data.approval).not.toBe(id);
  expect(json.error.message).toMatch(/^No id in `x-approval` is for this call/);
  expect(upstream.requests).toHaveLength(0);
  expect(readOutcome(await callWith(id))).toBe('ok');
});

test('an approval is for the bytes of the arguments, not for what they mean', async () => {
  const { askAndApprove, callWith, unlink, upstream } = await startApprover();
  const id = await askAndApprove();
  const text = JSON.stringify(unlink());
  for (const params of ['[[7 ]]', '[ [7]]', '[[7.0]]'])
    expect(readOutcome(await callWith(id, text.replace('[[7]]', params)))).toBe('approval_required');
  expect(upstream.requests).toHaveLength(0);
  expect(readOutcome(await callWith(id, text.replace('"id":1', '"id" :  2')))).toBe('ok');
});

test('an approval is for one server, database and user', async () => {
  const { askAndApprove, callWith, unlink, upstream } = await startApprover();
  const id = await askAndApprove();
  const { erp_instance: instance } = unlink() as { erp_instance: object };
  for (const change of [{ db: 'other' }, { user_id: 3 }, { url: `${upstream.url}/prefix` }]) {
    const changed = unlink({ erp_instance: { ...instance, ...change } });
    expect(readOutcome(await callWith(id, changed))).toBe('approval_required');
  }
  expect(upstream.requests).toHaveLength(0);
  // The Odoo key is not part of the call: it can be replaced at any time.
  const renewed = unlink({ erp_instance: { ...instance, api_key: 'another-key-of-the-same-user' } });
  expect(readOutcome(await callWith(id, renewed))).toBe('ok');
});

test('whether the id of another client exists cannot be told', async () => {
  const { askAndApprove, callWith, makeClient, upstream } = await startApprover();
  const id = await askAndApprove();
  const other = await makeClient();
  const read = async (approval: string) => {
    const { status, json } = await callWith(approval, undefined, { 'x-proxy-api': other.key });
    const own = json.error.data.approval;
    return `${status} ${JSON.stringify(json)}`.replaceAll(own, '<own>').replace(/\d{4}-[^ ]+Z/g, '<time>');
  };
  const unknown = await read('0'.repeat(24));
  const foreign = await read(id);
  expect(foreign.replace(/now waits|waits/, 'waits')).toBe(
    unknown
      .replace('No id in `x-approval` is for this call as it is now. ', '')
      .replace(/now waits/, 'waits'),
  );
  expect(upstream.requests).toHaveLength(0);
  expect(readOutcome(await callWith(id))).toBe('ok');
});

test('the key may be rotated in between, before and after the approval', async () => {
  const { app, ask, admin, callWith, client } = await startApprover();
  const rotate = async (id: string) => {
    const made = await app.keys.rotate(id, { overlapMs: HOUR_MS });
    if (typeof made !== 'object' || !('record' in made)) throw new Error(String(made));
    return { id: made.record.id, key: made.key };
  };
  const id = await ask();
  const second = await rotate(client.id);
  expect(await ask(undefined, { 'x-proxy-api': second.key })).toBe(id);
  await admin.approveCall(id);
  const third = await rotate(second.id);
  expect(readOutcome(await callWith(id, undefined, { 'x-proxy-api': third.key }))).toBe('ok');
  expect(readOutcome(await callWith(id))).toBe('policy_denied');
});

test('a revoked key cannot use an approval, and nobody else can', async () => {
  const { app, askAndApprove, callWith, client, makeClient, upstream } = await startApprover();
  const id = await askAndApprove();
  await app.keys.revoke(client.id);
  expect((await callWith(id)).status).toBe(401);
  const other = await makeClient();
  const { json } = await callWith(id, undefined, { 'x-proxy-api': other.key });
  expect(json.error.data.type).toBe('approval_required');
  expect(upstream.requests).toHaveLength(0);
});

test('the policy is checked again when the call is sent', async () => {
  const { app, askAndApprove, call, callWith, client, policyOf, unlink, upstream } = await startApprover();
  const setPolicy = async (version: number, changes: object) =>
    expect(await app.keys.update(client.id, version, { policy: policyOf(changes) })).toBe('done');
  const id = await askAndApprove();
  await setPolicy(1, { models: { 'res.partner': ['*'] } });
  const denied = await callWith(id);
  expect(denied.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
  await setPolicy(2, { companies: [1] });
  // The call would now be sent with the company, so the approval does not apply to it.
  expect(readOutcome(await callWith(id))).toBe('approval_required');
  expect(upstream.requests).toHaveLength(0);
  const { approve: _, ...free } = policyOf();
  expect(await app.keys.update(client.id, 3, { policy: free })).toBe('done');
  expect(readOutcome(await call(unlink()))).toBe('ok');
});

test('a refusal gives its reason, and holds until the time to decide is over', async () => {
  const { admin, ask, call, callWith, time, unlink, upstream } = await startApprover();
  const id = await ask();
  await admin.refuseCall(id, { reason: 'Cancel it instead.' });
  for (const refused of [await call(unlink()), await callWith(id)]) {
    expect(refused.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'approve["*"]' });
    expect(refused.json.error.message).toContain('(Cancel it instead.)');
  }
  time.now += 24 * HOUR_MS;
  expect(await ask()).not.toBe(id);
  expect(upstream.requests).toHaveLength(0);
});

test('an approval expires: before it is decided, and before it is used', async () => {
  const { admin, ask, callWith, time, upstream } = await startApprover({
    settings: { 'approvals.decideHours': '2', 'approvals.useMinutes': '10' },
  });
  const late = await ask();
  time.now += 2 * HOUR_MS;
  await expect(admin.approveCall(late)).rejects.toThrow(/time is over/);
  const expired = await callWith(late);
  expect(expired.json.error.data.type).toBe('policy_denied');
  expect(expired.json.error.message).toMatch(/time .* is over/);
  const next = await ask();
  expect(next).not.toBe(late);
  time.now += 2 * HOUR_MS - 1;
  await admin.approveCall(next);
  time.now += 10 * 60_000;
  expect((await callWith(next)).json.error.message).toMatch(/time .* is over/);
  const last = await ask();
  await admin.approveCall(last);
  time.now += 10 * 60_000 - 1;
  expect(readOutcome(await callWith(last))).toBe('ok');
  expect(upstream.requests).toHaveLength(1);
});

test('each call of a batch needs its own approval; the header has all of them', async () => {
  const { admin, call, unlink, upstream } = await startApprover();
  const batch = [unlink(), makeCall(upstream.url, { id: 2 }), unlink({ id: 3, params: [[8]] })];
  const ids = (await call(batch)).json.flatMap(
    ({ error }: { error?: { data: { approval: string } } }) => error?.data.approval ?? [],
  );
  expect(ids).toHaveLength(2);
  await admin.approveCall(ids[0]);
  const types = async (approvals: string) =>
    (await call(batch, { 'x-approval': approvals })).json.map((json: object) => readOutcome({ json }));
  expect(await types(ids[1])).toEqual(['approval_required', 'ok', 'approval_required']);
  await admin.approveCall(ids[1]);
  expect(await types(ids.join(', '))).toEqual(['ok', 'ok', 'ok']);
  expect(await types(ids.toReversed().join())).toEqual(['policy_denied', 'ok', 'policy_denied']);
});

test('of two equal calls in a batch, one runs', async () => {
  const { call, askAndApprove, unlink, upstream } = await startApprover();
  const id = await askAndApprove();
  const { json } = await call([unlink(), unlink({ id: 2 })], { 'x-approval': id });
  expect(json.map((answer: object) => readOutcome({ json: answer })).sort()).toEqual(['ok', 'policy_denied']);
  expect(upstream.requests).toHaveLength(1);
});

test('a call of /json/2 needs an approval too, which is for one Odoo key', async () => {
  const { proxy, upstream, client, admin } = await startApprover({
    script: (socket) => answerLikeOdoo(socket, 'true'),
  });
  const post = async (changes: object, approval?: string) => {
    const body = {
      id: '1',
      model_id: 'res.partner',
      method: 'unlink',
      kwargs: { ids: [7] },
      odoo_instance: { url: upstream.url, db: 'prod', user_id: 2, api_key: 'odoo-key' },
      ...changes,
    };
    const answer = await fetch(`${proxy.url}/v2/odoo/execute`, {
      method: 'POST',
      headers: {
        'x-api-key': client.key,
        'content-type': 'application/json',
        ...(approval === undefined ? {} : { 'x-approval': approval }),
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  };
  const { status, json } = await post({});
  expect([status, json.error.code, json.error.data.type]).toEqual([400, -32018, 'approval_required']);
  const id = json.error.data.approval;
  expect(await admin.getApproval(id)).toMatchObject({
    user_id: null,
    call: { params: '[]', keyword: '{"ids":[7]}' },
  });
  await admin.approveCall(id);
  const otherKey = { odoo_instance: { url: upstream.url, db: 'prod', user_id: 2, api_key: 'other-key' } };
  expect(readOutcome(await post(otherKey, id))).toBe('approval_required');
  expect(readOutcome(await post({ kwargs: { ids: [8] } }, id))).toBe('approval_required');
  expect((await post({}, id)).json.result).toBe(true);
  expect(readOutcome(await post({}, id))).toBe('policy_denied');
  expect(upstream.requests).toHaveLength(1);
});

test("ODXProxy's route of execute needs an approval too, and shares it with our own", async () => {
  const { proxy, ask, admin, callWith, client, unlink, upstream } = await startApprover();
  const { erp_instance, ...rest } = unlink();
  const answer = await fetch(`${proxy.url}/api/odoo/execute`, {
    method: 'POST',
    headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...rest, odoo_instance: erp_instance }),
  });
  const { error } = JSON.parse(await answer.text());
  expect([answer.status, error.code, error.data.type]).toEqual([400, -32018, 'approval_required']);
  expect(await ask()).toBe(error.data.approval);
  await admin.approveCall(error.data.approval);
  expect(readOutcome(await callWith(error.data.approval))).toBe('ok');
  expect(upstream.requests).toHaveLength(1);
});

test('an answer that is kept for an idempotency key needs no second approval', async () => {
  const { askAndApprove, call, callWith, unlink, upstream } = await startApprover();
  const id = await askAndApprove(undefined, { 'idempotency-key': 'k' });
  expect(readOutcome(await callWith(id, undefined, { 'idempotency-key': 'k' }))).toBe('ok');
  for (const approval of [undefined, id]) {
    const replayed = await call(unlink(), { 'idempotency-key': 'k', 'x-approval': approval });
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expect(replayed.json.result).toBe(true);
  }
  expect(readOutcome(await callWith(id, undefined, { 'idempotency-key': 'other' }))).toBe('policy_denied');
  expect(upstream.requests).toHaveLength(1);
});

const BUSINESS_ERROR = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: 200,
    message: 'Odoo Server Error',
    data: { name: 'odoo.exceptions.UserError', message: 'No.', arguments: ['No.'], context: {} },
  },
});
const ACCESS_DENIED = BUSINESS_ERROR.replace('UserError', 'AccessDenied');
const GATEWAY = '<html>502</html>';

/** How the first attempt ends, and whether the approval can then be used again. */
const ENDS: [string, Script, { isReturned: boolean }][] = [
  ['a refusal of the credentials', (socket) => answerLikeOdoo(socket, ACCESS_DENIED), { isReturned: true }],
  ['a conflict that Odoo rolled back', (socket) => answerLikeOdoo(socket, ROLLED_BACK), { isReturned: true }],
  ['an error of a business rule', (socket) => answerLikeOdoo(socket, BUSINESS_ERROR), { isReturned: false }],
  ['a broken connection', (socket) => void socket.destroy(), { isReturned: false }],
  [
    'a page of a gateway',
    (socket) => answerLikeOdoo(socket, GATEWAY, '502 Bad Gateway'),
    { isReturned: false },
  ],
  [
    'a result that breaks off',
    (socket) =>
      void socket.end('HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n{"jsonrpc": "2.0", "id": 1, "res'),
    { isReturned: false },
  ],
];

test.each(ENDS)('after %s the approval is used or returned', async (_, end, { isReturned }) => {
  const { askAndApprove, callWith, admin } = await startApprover({
    script: (socket, request, index) => (index === 0 ? end : answerLater)(socket, request, index),
    settings: { 'upstream.retries': '0', 'upstream.refusedCredentialsTtlMs': '0' },
  });
  const id = await askAndApprove();
  await callWith(id).catch(() => {});
  expect(await admin.getApproval(id)).toMatchObject(
    isReturned ? { state: 'approved', used_at: null } : { state: 'used', used_at: expect.any(String) },
  );
  expect(readOutcome(await callWith(id))).toBe(isReturned ? 'ok' : 'policy_denied');
});

const answerLater: Script = (socket) => answerLikeOdoo(socket, printResult('true'));

test('a server that cannot be reached leaves the approval for another attempt', async () => {
  const { askAndApprove, callWith, upstream, unlink, admin } = await startApprover();
  const { erp_instance } = unlink() as { erp_instance: object };
  await upstream.close();
  const id = await askAndApprove(unlink({ erp_instance }));
  const { json } = await callWith(id, unlink({ erp_instance }));
  expect(json.error.data).toMatchObject({ type: 'upstream_unreachable', outcome: 'not_sent' });
  expect(await admin.getApproval(id)).toMatchObject({ state: 'approved' });
  Object.assign(upstream, { close: async () => {} });
});

test('a read can need an approval. It is not joined by others, and gets no kept answer', async () => {
  const { askAndApprove, callWith, makeClient, upstream, call } = await startApprover({
    policy: { approve: { 'hr.*': ['read'] }, cache: true },
  });
  const read = makeCall(upstream.url, { model_id: 'hr.employee' });
  const free = await makeClient({ approve: { none: ['*'] } });
  const headers = { 'cache-control': 'max-age=60' };
  expect(readOutcome(await call(read, { ...headers, 'x-proxy-api': free.key }))).toBe('ok');
  expect(readOutcome(await call(read, headers))).toBe('approval_required');
  const id = await askAndApprove(read);
  expect(readOutcome(await callWith(id, read, headers))).toBe('ok');
  expect(upstream.requests).toHaveLength(2);
});

const ID = '0'.repeat(24);
const HEADERS: [string, string, boolean][] = [
  ['an id', ID, true],
  ['nothing', '', true],
  ['ids in two cases of spaces', ` ${ID} ,${ID}`, true],
  ['a hundred ids', Array(100).fill(ID).join(), true],
  ['another text', 'x', false],
  ['a capital letter', 'A'.repeat(24), false],
  ['only a comma', ',', false],
  ['an empty part', `${ID},`, false],
  ['another separator', `${ID};${ID}`, false],
  ['more ids than a batch has calls', Array(101).fill(ID).join(), false],
];

test.each(HEADERS)('the header x-approval is read strictly: %s', async (_, header, isValid) => {
  const { call, unlink } = await startApprover();
  const { json } = await call(unlink(), { 'x-approval': header });
  expect(json.error.data.type).toBe(isValid ? 'approval_required' : 'invalid_request');
  if (!isValid) expect(json.error.data.path).toBe('x-approval');
});

test('a client, and all clients together, have a maximum of waiting calls', async () => {
  const { ask, call, makeClient, unlink, admin } = await startApprover({
    settings: { 'approvals.clientMax': '2', 'approvals.totalMax': '3' },
  });
  const first = await ask(unlink({ params: [[1]] }));
  await ask(unlink({ params: [[2]] }));
  const full = await call(unlink({ params: [[3]] }));
  expect(full.status).toBe(429);
  expect(full.json.error.data).toMatchObject({ type: 'rate_limited', retryable: true });
  expect(full.headers['retry-after']).toBe('60');
  expect(full.json.error.message).toContain('approvals.clientMax');
  expect(await ask(unlink({ params: [[1]] }))).toBe(first);
  const other = await makeClient();
  await ask(unlink({ params: [[1]] }), { 'x-proxy-api': other.key });
  const all = await call(unlink({ params: [[2]] }), { 'x-proxy-api': other.key });
  expect(all.json.error.message).toContain('approvals.totalMax');
  await admin.refuseCall(first, { reason: 'no' });
  await ask(unlink({ params: [[3]] }));
});

test('a call that is too large to be shown is denied', async () => {
  const { call, unlink, upstream, admin } = await startApprover({
    settings: { 'approvals.callBytesMax': '20' },
  });
  const { json } = await call(unlink({ params: [[1, 2, 3, 4, 5, 6, 7, 8, 9]] }));
  expect(json.error.data).toMatchObject({ type: 'policy_denied', rule: 'approve["*"]' });
  expect(json.error.message).toContain('20 bytes');
  expect((await admin.listApprovals({})).items).toEqual([]);
  expect(upstream.requests).toHaveLength(0);
});

test.each(['ask', 'claim'] as const)(
  'a call whose store hangs at %s is not sent, and can be sent again',
  async (step) => {
    const { app, ask, admin, callWith, call, unlink, upstream } = await startApprover();
    const store = app.store.approvals;
    const original = store[step] as (...given: unknown[]) => unknown;
    const held = Promise.withResolvers<void>();
    const id = step === 'claim' ? await ask() : '';
    if (step === 'claim') await admin.approveCall(id);
    Object.assign(store, {
      [step]: async (...given: unknown[]) => {
        await held.promise;
        return original(...given);
      },
    });
    const headers = id === '' ? {} : { 'x-approval': id };
    const { json } = await call(unlink(), headers);
    expect(json.error.data).toMatchObject({ type: 'overloaded', outcome: 'not_sent', retryable: true });
    Object.assign(store, { [step]: original });
    held.resolve();
    if (step === 'ask') return void (await ask());
    // The claim that was made too late is released.
    await expect.poll(async () => (await admin.getApproval(id)).state).toBe('approved');
    expect(readOutcome(await callWith(id))).toBe('ok');
    expect(upstream.requests).toHaveLength(1);
  },
);

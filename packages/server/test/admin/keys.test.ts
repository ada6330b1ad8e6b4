import { TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { SETTINGS, startAdmin, TOKEN } from './admin-client.ts';
import { openRefusingSqlite } from './refusing-store.ts';

const POLICY = { instances: ['prod'], models: { 'res.partner': ['read', 'search*'] } };

test('creates a key that works, and returns its text once', async () => {
  const { proxy, post, get } = await startAdmin();
  const made = await post('/keys', { name: 'Shop', policy: POLICY, expires_at: '2999-01-31T12:00:00+02:00' });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    name: 'Shop',
    state: 'active',
    policy: POLICY,
    expires_at: '2999-01-31T10:00:00.000Z',
    version: 1,
  });
  expect(made.headers.etag).toMatch(/^"1-[a-z\d]+"$/);
  expect(made.headers.location).toBe(`/admin/v1/keys/${made.json.id}`);

  const { key, ...rest } = made.json;
  const shown = await get(`/keys/${rest.id}`);
  expect(shown.json).toEqual(rest);
  expect(shown.body.toString()).not.toContain(key.slice(16));
  const answer = await proxy.call('{}', { 'x-proxy-api': key });
  expect(answer.json.error.data.type).toBe('invalid_request');
});

test('names every fault of a policy and an expiry with its place, and creates nothing', async () => {
  const { post, get, listAdminActions } = await startAdmin();
  const policy = { instances: ['pr?d'], models: { 'res.*': ['read', 7] }, limit_maxx: 3 };
  const { status, json } = await post('/keys', { name: 'Shop', policy, expires_at: 'tomorrow' });
  expect(status).toBe(400);
  expect(json.faults.map(({ path }: { path: string }) => path).sort()).toEqual([
    'expires_at',
    'policy.instances[0]',
    'policy.limit_maxx',
    'policy.models["res.*"][1]',
  ]);
  expect((await get('/keys')).json.items).toHaveLength(1);
  expect(await listAdminActions()).toEqual([]);
});

test.each([
  [{}, { path: 'name', message: 'is missing' }],
  [{ name: 7 }, { path: 'name', message: 'must be a text' }],
  [
    { name: 'Shop', expires: null },
    { path: 'expires', message: 'is not known; did you mean `expires_at`?' },
  ],
  [{ name: 'Shop', policy: false }, { path: 'policy' }],
  [{ name: 'Shop', policy: {} }, { path: 'policy' }],
  [{ name: 'Shop', expires_at: '2027-02-31T00:00:00Z' }, { path: 'expires_at' }],
  [{ name: 'Shop', expires_at: '2999-02-01T00:00:00' }, { path: 'expires_at' }],
])('refuses the key %j', async (body, fault) => {
  const { post } = await startAdmin();
  const { status, json } = await post('/keys', body);
  expect(status).toBe(400);
  expect(json.faults).toContainEqual(expect.objectContaining(fault));
});

test.each([{ name: ' ' }, { name: 'two\nlines' }, { name: 'Shop', expires_at: '2001-01-01T00:00:00Z' }])(
  'refuses the key %j with an explanation',
  async (body) => {
    const { post } = await startAdmin();
    const { status, json } = await post('/keys', body);
    expect(status).toBe(400);
    expect(json.detail).toMatch(/^The name of a key|^The time at which the key expires is not in the future/);
  },
);

test('lists 120 keys in pages, each once and in order', async () => {
  const { proxy, get } = await startAdmin();
  for (let index = 1; index < 120; index++) await proxy.app.keys.create({ name: `Shop ${index}` });
  const names: string[] = [];
  const sizes: number[] = [];
  let query = '';
  do {
    const { json } = await get(`/keys${query}`);
    sizes.push(json.items.length);
    names.push(...json.items.map(({ id }: { id: string }) => id));
    query = json.next === null ? '' : `?cursor=${encodeURIComponent(json.next)}`;
  } while (query !== '');
  expect(sizes).toEqual([50, 50, 20]);
  expect(new Set(names).size).toBe(120);
  const { json: whole } = await get('/keys?limit=500');
  expect(whole.items.map(({ id }: { id: string }) => id)).toEqual(names);
  expect(whole.next).toBeNull();
  const { json: exact } = await get('/keys?limit=120');
  expect(exact).toMatchObject({ next: null, items: { length: 120 } });
});

test('filters keys by state, by name and by part of the name', async () => {
  const clock = { now: 1_800_000_000_000 };
  const { proxy, get, post } = await startAdmin({ clock: () => clock.now });
  await proxy.app.keys.create({ name: 'Trial', expiresAt: clock.now + 1000 });
  const { record } = await proxy.app.keys.create({ name: 'Old shop' });
  await post(`/keys/${record.id}/revoke`);
  clock.now += 1000;
  const list = async (query: string) => {
    const { json } = await get(`/keys?${query}`);
    return json.items.map(({ name }: { name: string }) => name);
  };
  expect(await list('state=active')).toEqual(['test']);
  expect(await list('state=expired')).toEqual(['Trial']);
  expect(await list('state=revoked')).toEqual(['Old shop']);
  expect(await list('search=SHOP')).toEqual(['Old shop']);
  expect(await list('name=Old')).toEqual([]);
  expect(await list('name=Old+shop')).toEqual(['Old shop']);
});

test.each([
  ['cursor=nonsense', 'cursor is not one of this list'],
  ['cursor=', 'cursor is not one of this list'],
  [`cursor=${Buffer.from('["1", 2]').toString('base64url')}`, 'cursor is not one of this list'],
  [`cursor=${Buffer.from('[1, "\\u0000"]').toString('base64url')}`, 'cursor is not one of this list'],
])('refuses the list with ?%s', async (query, detail) => {
  const { get } = await startAdmin();
  const { status, json } = await get(`/keys?${query}`);
  expect(status).toBe(400);
  expect(json.detail).toContain(detail);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=501', 'limit'],
  ['limit=1e2', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['state=gone', 'state'],
  ['stat=active', 'stat'],
])('names the faulty parameter of ?%s', async (query, path) => {
  const { get } = await startAdmin();
  const { status, json } = await get(`/keys?${query}`);
  expect(status).toBe(400);
  expect(json.faults).toEqual([expect.objectContaining({ path })]);
});

test.each([
  ['limit=0', 'must be 1 or more'],
  ['limit=501', 'must be 500 or less'],
  ['limit=x', 'must be a whole number'],
])('explains the expected value of ?%s', async (query, message) => {
  const { get } = await startAdmin();
  expect((await get(`/keys?${query}`)).json.faults).toEqual([{ path: 'limit', message }]);
});

test('suggests the parameter that was probably meant', async () => {
  const { get } = await startAdmin();
  const { json } = await get('/keys?stat=active');
  expect(json.faults[0].message).toBe('is not known; did you mean `state`?');
});

test('changes only the given members, and records the change', async () => {
  const { get, post, patch, listAdminActions } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  const changed = await patch(`/keys/${made.id}`, { policy: POLICY });
  expect(changed.status).toBe(200);
  expect(changed.json).toMatchObject({ name: 'Shop', policy: POLICY, expires_at: null, version: 2 });
  expect(changed.headers.etag).toMatch(/^"2-[a-z\d]+"$/);
  expect((await get(`/keys/${made.id}`)).json).toEqual(changed.json);
  expect((await patch(`/keys/${made.id}`, { policy: null, name: 'Shop 2' })).json).toMatchObject({
    name: 'Shop 2',
    policy: null,
  });
  expect(await listAdminActions()).toEqual([
    expect.objectContaining({
      action: 'key.create',
      target: `key ${made.id}`,
      changes: { name: { from: null, to: 'Shop' } },
    }),
    expect.objectContaining({
      actor: TOKEN_ACTOR,
      address: '127.0.0.1',
      action: 'key.update',
      target: `key ${made.id}`,
      changes: { policy: { from: null, to: POLICY } },
    }),
    expect.objectContaining({
      action: 'key.update',
      changes: { name: { from: 'Shop', to: 'Shop 2' }, policy: { from: POLICY, to: null } },
    }),
  ]);
});

describe('a publishable key', () => {
  const PUBLISHABLE = {
    instances: ['prod'],
    models: { 'res.country': ['*'] },
    fields: { '*': { allow: ['name'] } },
    read_only: true,
    cors_origins: ['https://shop.example.com'],
    publishable: true,
  };

  test('gets another publishable policy, and no other', async () => {
    const { post, patch, get, listAdminActions } = await startAdmin();
    const { json: made } = await post('/keys', { name: 'Page', policy: PUBLISHABLE });
    const wider = { ...PUBLISHABLE, models: { ...PUBLISHABLE.models, 'product.template': ['read'] } };
    expect((await patch(`/keys/${made.id}`, { policy: wider, name: 'Shop page' })).json).toMatchObject({
      policy: wider,
      name: 'Shop page',
    });
    const { publishable: _, ...plain } = wider;
    for (const policy of [null, POLICY, plain, { ...plain, publishable: false }]) {
      const { status, json } = await patch(`/keys/${made.id}`, { policy });
      expect(status).toBe(400);
      expect(json.faults).toEqual([
        { path: 'policy', message: expect.stringContaining('stays publishable') },
      ]);
    }
    const writable = await patch(`/keys/${made.id}`, { policy: { ...wider, read_only: false } });
    expect(writable.json.faults).toEqual([
      { path: 'policy.read_only', message: expect.stringContaining('must be true') },
    ]);
    expect((await get(`/keys/${made.id}`)).json.policy).toEqual(wider);
    expect(await listAdminActions()).toHaveLength(2);
    const { json: next } = await post(`/keys/${made.id}/rotate`, { overlap_seconds: 0 });
    expect(next.policy).toEqual(wider);
    expect((await patch(`/keys/${next.id}`, { policy: null })).status).toBe(400);
  });

  test('stays so when it becomes publishable during another change', async () => {
    const { post, patch, get } = await startAdmin();
    const { json: made } = await post('/keys', { name: 'Page', policy: POLICY });
    const policies = [PUBLISHABLE, POLICY, null, PUBLISHABLE, POLICY, null];
    const answers = await Promise.all(policies.map((policy) => patch(`/keys/${made.id}`, { policy })));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect((await get(`/keys/${made.id}`)).json.policy).toEqual(PUBLISHABLE);
  });
});

test('a change to the same values is no change', async () => {
  const { post, patch, listAdminActions } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop', policy: POLICY });
  const same = { name: 'Shop', policy: { models: POLICY.models, instances: POLICY.instances } };
  expect((await patch(`/keys/${made.id}`, same)).json.version).toBe(1);
  expect(await listAdminActions()).toHaveLength(1);
});

test('renames an expired key without checking its unchanged expiry', async () => {
  const clock = { now: 1_800_000_000_000 };
  const { post, patch } = await startAdmin({ clock: () => clock.now });
  const expires_at = new Date(clock.now + 1000).toISOString();
  const { json: made } = await post('/keys', { name: 'Trial', expires_at });
  clock.now += 2000;
  const { status, json } = await patch(`/keys/${made.id}`, { name: 'Old trial', expires_at });
  expect(status).toBe(200);
  expect(json).toMatchObject({ name: 'Old trial', state: 'expired' });
});

test('of several changes to the same version, makes one and refuses the others', async () => {
  const { post, patch, get, listAdminActions } = await startAdmin();
  const { json: made, headers } = await post('/keys', { name: 'Shop' });
  const change = (name: string) =>
    patch(`/keys/${made.id}`, { name }, { headers: { 'if-match': String(headers.etag) } });
  const answers = await Promise.all([change('A'), change('B'), change('C')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  const winner = answers.find(({ status }) => status === 200);
  expect((await get(`/keys/${made.id}`)).json.name).toBe(winner?.json.name);
  expect(await listAdminActions()).toHaveLength(2);
});

test('makes every change if none names a version', async () => {
  const { post, patch, get, listAdminActions } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  const names = ['A', 'B', 'C', 'D'];
  const answers = await Promise.all(names.map((name) => patch(`/keys/${made.id}`, { name })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await get(`/keys/${made.id}`)).json.version).toBe(5);
  expect(await listAdminActions()).toHaveLength(5);
});

test.each([
  ['*', 200],
  ['"1"', 200],
  ['"2"', 412],
  ['"1-a"', 412],
  ['"1-"', 400],
  ['W/"1"', 400],
  ['1', 400],
  ['"1", "2"', 400],
  ['"one"', 400],
])('answers a change with `if-match: %s` by %d', async (tag, status) => {
  const { post, patch } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  const answer = await patch(`/keys/${made.id}`, { name: 'New' }, { headers: { 'if-match': tag } });
  expect(answer.status).toBe(status);
});

test('refuses `if-match` on a route that ignores versions', async () => {
  const { post } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  const answer = await post(`/keys/${made.id}/revoke`, undefined, { headers: { 'if-match': '"9"' } });
  expect(answer.status).toBe(400);
});

test('answers 304 to a client that has the present version', async () => {
  const { proxy, get } = await startAdmin();
  const { json } = await get('/keys');
  const [{ id }] = json.items;
  const ask = async (tag: string) => (await get(`/keys/${id}`, { headers: { 'if-none-match': tag } })).status;
  const etag = String((await get(`/keys/${id}`)).headers.etag);
  expect(await ask(etag)).toBe(304);
  expect(await ask(`"7", W/${etag}`)).toBe(304);
  expect(await ask('*')).toBe(304);
  expect(await ask(etag.replace('1', '2'))).toBe(200);
  expect(proxy.log.filter(({ level }) => level === 'error')).toEqual([]);
});

test.each([
  ['an unknown member', '{"instances":["*"],"models":{"*":["*"]},"sees":"all"}', /^sees: is not known/],
  ['invalid JSON', '{"instances":', /^Not valid JSON/],
  ['a member twice', '{"instances":["*"],"models":{"a":["*"],"a":[]}}', /models\.a appears twice/],
])(
  'shows a stored policy that cannot be read (%s) as unreadable, with the reason',
  async (_, text, reason) => {
    const { proxy, post, get, patch, listAdminActions } = await startAdmin();
    const { json: made } = await post('/keys', { name: 'Shop', policy: POLICY });
    await proxy.app.store.keys.update(made.id, 1, { policy: text });
    const unreadable = { unreadable: expect.stringMatching(reason) };
    expect((await get(`/keys/${made.id}`)).json.policy).toEqual(unreadable);
    expect((await get('/keys?name=Shop')).json.items[0].policy).toEqual(unreadable);
    // The value that answers show is not accepted as a policy.
    const { policy } = (await get(`/keys/${made.id}`)).json;
    expect((await patch(`/keys/${made.id}`, { policy })).status).toBe(400);
    const changed = await patch(`/keys/${made.id}`, { policy: POLICY });
    expect(changed.json.policy).toEqual(POLICY);
    expect((await listAdminActions()).at(-1).changes).toEqual({ policy: { from: unreadable, to: POLICY } });
  },
);

test('revokes a key for ever, and only once', async () => {
  const { proxy, post, patch, listAdminActions } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop' });
  const revoked = await post(`/keys/${made.id}/revoke`);
  expect(revoked.status).toBe(200);
  expect(revoked.json).toMatchObject({ state: 'revoked', version: 2 });
  expect((await proxy.call('{}', { 'x-proxy-api': made.key })).status).toBe(401);
  expect((await post(`/keys/${made.id}/revoke`)).json).toEqual(revoked.json);
  expect((await post(`/keys/${made.id}/rotate`, { overlap_seconds: 0 })).status).toBe(409);
  expect((await patch(`/keys/${made.id}`, { name: 'Gone' })).json.state).toBe('revoked');
  const actions = await listAdminActions();
  expect(actions.map(({ action }) => action)).toEqual(['key.create', 'key.revoke', 'key.update']);
  expect(actions[1].changes).toEqual({ state: { from: 'active', to: 'revoked' } });
});

test('rotates a key: both keys work during the overlap, then only the new one', async () => {
  const clock = { now: 1_800_000_000_000 };
  const { proxy, post, get, listAdminActions } = await startAdmin({ clock: () => clock.now });
  const { json: old } = await post('/keys', { name: 'Shop', policy: POLICY });
  const rotated = await post(`/keys/${old.id}/rotate`, { overlap_seconds: 60 });
  expect(rotated.status).toBe(201);
  expect(rotated.json).toMatchObject({ name: 'Shop', policy: POLICY, replaces: old.id, state: 'active' });
  const works = async (key: string) => (await proxy.call('{}', { 'x-proxy-api': key })).status === 400;
  expect([await works(old.key), await works(rotated.json.key)]).toEqual([true, true]);
  clock.now += 60_000;
  expect([await works(old.key), await works(rotated.json.key)]).toEqual([false, true]);
  const { json: ended } = await get(`/keys/${old.id}`);
  const actions = await listAdminActions();
  expect(actions.at(-1)).toMatchObject({
    action: 'key.rotate',
    target: `key ${old.id}`,
    changes: {
      expires_at: { from: null, to: ended.expires_at },
      replaced_by: { from: null, to: rotated.json.id },
    },
  });
});

test('refuses to rotate a key again while its successor is valid, and names the successor', async () => {
  const clock = { now: 1_800_000_000_000 };
  const { post, get, listAdminActions } = await startAdmin({ clock: () => clock.now });
  const { json: old } = await post('/keys', { name: 'Shop' });
  const { json: first } = await post(`/keys/${old.id}/rotate`, { overlap_seconds: 60 });
  const before = (await get(`/keys/${old.id}`)).json;
  const again = await post(`/keys/${old.id}/rotate`, { overlap_seconds: 3600 });
  expect(again.status).toBe(409);
  expect(again.json.detail).toContain(`key ${first.id} has taken over`);
  expect((await get(`/keys/${old.id}`)).json).toEqual(before);
  expect((await get('/keys?name=Shop')).json.items).toHaveLength(2);
  // The successor can be rotated.
  expect((await post(`/keys/${first.id}/rotate`, { overlap_seconds: 60 })).status).toBe(201);
  // If the text of the successor is lost, the successor can be revoked and the old key rotated again.
  const { json: other } = await post('/keys', { name: 'Other' });
  const { json: lost } = await post(`/keys/${other.id}/rotate`, { overlap_seconds: 60 });
  await post(`/keys/${lost.id}/revoke`);
  expect((await post(`/keys/${other.id}/rotate`, { overlap_seconds: 60 })).status).toBe(201);
  const actions = (await listAdminActions()).filter(({ action }) => action === 'key.rotate');
  expect(actions).toHaveLength(4);
});

test('rotates only the version of a key that `if-match` names', async () => {
  const { post, patch, get } = await startAdmin();
  const { json: old } = await post('/keys', { name: 'Shop' });
  await patch(`/keys/${old.id}`, { name: 'Store' });
  const rotate = (tag: string) =>
    post(`/keys/${old.id}/rotate`, { overlap_seconds: 60 }, { headers: { 'if-match': tag } });
  const stale = await rotate('"1"');
  expect([stale.status, stale.json.detail]).toEqual([412, expect.stringContaining('version 2 by now')]);
  expect((await get('/keys?name=Store')).json.items).toHaveLength(1);
  expect((await rotate('nonsense')).status).toBe(400);
  expect((await rotate('"2-a"')).status).toBe(412);
  expect((await rotate('"2"')).status).toBe(201);
});

test('a rotation whose action cannot be recorded changes nothing', async () => {
  const { url, refuseAudit } = await openRefusingSqlite();
  const { proxy, post, get } = await startAdmin({ settings: { ...SETTINGS, 'store.url': url } });
  const { json: old } = await post('/keys', { name: 'Shop' });
  await refuseAudit();
  const answer = await post(`/keys/${old.id}/rotate`, { overlap_seconds: 0 });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  const { key: _, ...unchanged } = old;
  expect((await get(`/keys/${old.id}`)).json).toEqual(unchanged);
  expect((await get('/keys?name=Shop')).json.items).toHaveLength(1);
  expect((await proxy.call('{}', { 'x-proxy-api': old.key })).status).toBe(400);
});

test.each([-1, 1.5, 2_592_001, '60', undefined])(
  'refuses an overlap of %s seconds',
  async (overlap_seconds) => {
    const { post, listAdminActions } = await startAdmin();
    const { json: made } = await post('/keys', { name: 'Shop' });
    expect((await post(`/keys/${made.id}/rotate`, { overlap_seconds })).status).toBe(400);
    expect(await listAdminActions()).toHaveLength(1);
  },
);

test('explains whether a key may make a call', async () => {
  const { post } = await startAdmin();
  const { json: made } = await post('/keys', { name: 'Shop', policy: POLICY });
  const call = { action: 'unlink', model_id: 'res.partner', params: [[1]], erp_instance: { name: 'prod' } };
  const denied = await post(`/keys/${made.id}/explain`, { call });
  expect(denied.status).toBe(200);
  expect(denied.json).toMatchObject({ allowed: false, rule: expect.stringContaining('models') });
  const allowed = await post(`/keys/${made.id}/explain`, { call: { ...call, action: 'read' } });
  expect(allowed.json.allowed).toBe(true);
  expect((await post(`/keys/${made.id}/explain`, {})).json.faults[0].path).toBe('call');
});

test('answers 404 for a key that does not exist', async () => {
  const { get, post, patch } = await startAdmin();
  const id = 'AAAAAAAAAAAA';
  const answers = [
    await get(`/keys/${id}`),
    await patch(`/keys/${id}`, { name: 'x' }),
    await post(`/keys/${id}/revoke`),
    await post(`/keys/${id}/rotate`, { overlap_seconds: 0 }),
    await post(`/keys/${id}/explain`, { call: {} }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
});

test('answers HEAD like GET, without a body', async () => {
  const { proxy } = await startAdmin();
  const { status, body } = await send(`${proxy.url}/admin/v1/keys`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect([status, body.length]).toEqual([200, 0]);
});

test('returns the names of up to 100 keys at once, without those that do not exist', async () => {
  const { post, patch, get } = await startAdmin();
  const { json: shop } = await post('/keys', { name: 'Shop' });
  const { json: crm } = await post('/keys', { name: 'CRM' });
  await patch(`/keys/${crm.id}`, { name: 'CRM, north' });
  const { json } = await get(`/keys/names?ids=${shop.id},unknown,${crm.id}`);
  expect(json.items).toHaveLength(2);
  expect(json.items).toEqual(
    expect.arrayContaining([
      { id: shop.id, name: 'Shop' },
      { id: crm.id, name: 'CRM, north' },
    ]),
  );
  const ids = Array.from({ length: 101 }, (_, index) => `k${index}`);
  expect((await get(`/keys/names?ids=${ids.slice(1)}`)).status).toBe(200);
  expect((await get(`/keys/names?ids=${ids}`)).status).toBe(400);
  expect((await get('/keys/names')).status).toBe(400);
});

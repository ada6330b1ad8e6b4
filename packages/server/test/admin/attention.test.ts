/** Tests what needs an administrator: `GET /admin/v1/attention`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTENTION_SEVERITIES } from '@erp-proxy/contract';
import { findVersion } from '@erp-proxy/control/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { describeOperators } from '../operators/scripted-provider.ts';
import { makeFolder } from '../process/program.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';
import { expectCpuBelow } from '../time.ts';
import { type Json, ODOO_SECRET, SETTINGS, startAdmin, TOKEN } from './admin-client.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2027-03-01T08:00:00.000Z');
const at = (days: number) => new Date(NOW + days * DAY_MS).toISOString();

async function start() {
  const admin = await startAdmin({ clock: () => NOW });
  const list = async (): Promise<Json[]> => {
    const { status, json } = await admin.get('/attention');
    expect(status).toBe(200);
    return json.items;
  };
  return { ...admin, list };
}

const INSTANCE = {
  url: 'https://erp.example.com',
  db: 'prod',
  user_id: 2,
  api_key: `${ODOO_SECRET}1`,
};

test('nothing needs attention in a new proxy', async () => {
  const { get } = await start();
  expect((await get('/attention')).json).toEqual({ items: [], more: 0, incomplete: [] });
});

test('lists uses of the admin token where people can sign in', async () => {
  const settings = { ...SETTINGS, ...describeOperators({ url: 'https://login.example.com' }) };
  const admin = await startAdmin({ clock: () => NOW, settings });
  await admin.get('/keys');
  await admin.post('/session', { token: TOKEN }, { token: null });
  await admin.proxy.app.audit.flush();
  const { json } = await admin.get('/attention');
  const item = { kind: 'admin_token_used', severity: 'warning', target: 'admin.token', since: at(0) };
  expect(json.items).toEqual([
    { ...item, text: expect.stringContaining('it was sent from 127.0.0.1.') },
    { ...item, text: expect.stringContaining('it signed somebody in from 127.0.0.1.') },
  ]);
  const usual = await start();
  await usual.get('/keys');
  await usual.proxy.app.audit.flush();
  expect(await usual.list()).toEqual([]);
});

test('lists keys at Odoo that have expired, or will soon', async () => {
  const { post, list } = await start();
  await post('/instances', { ...INSTANCE, name: 'over', key_expires_at: at(-1) });
  await post('/instances', { ...INSTANCE, name: 'soon', key_expires_at: at(10) });
  await post('/instances', { ...INSTANCE, name: 'later', key_expires_at: at(100) });
  expect(await list()).toEqual([
    {
      kind: 'instance_key_expired',
      severity: 'critical',
      target: 'instance over',
      text: `its Odoo key expired at ${at(-1)}, so that calls fail. Give the instance another key.`,
      since: at(-1),
    },
    expect.objectContaining({ kind: 'instance_key_expiring', severity: 'warning', target: 'instance soon' }),
  ]);
});

test('lists a key at Odoo that could not be replaced', async () => {
  const { proxy, post, list } = await start();
  await post('/instances', { ...INSTANCE, name: 'prod' });
  await proxy.app.instances.changeKey(await findVersion(proxy.app.instances, 'prod', 1), {
    failure: 'Odoo is away.',
  });
  expect(await list()).toEqual([
    expect.objectContaining({
      kind: 'instance_key_not_rotated',
      target: 'instance prod',
      text: expect.stringContaining('Odoo is away.'),
    }),
  ]);
});

test('lists client keys that end within 14 days, and gives no notice of them', async () => {
  const clock = { now: NOW - 30 * DAY_MS };
  const { proxy, post, get } = await startAdmin({ clock: () => clock.now });
  for (const days of [-0.5, 2, 10, 20]) await post('/keys', { name: `in ${days}`, expires_at: at(days) });
  clock.now = NOW;
  const { items } = (await get('/attention')).json;
  expect(items.map(({ kind, severity, text }: Json) => [kind, severity, text.slice(0, 25)])).toEqual([
    ['client_key_expired', 'warning', 'the client key "in -0.5" '],
    ['client_key_expiring', 'warning', 'the client key "in 2" exp'],
    ['client_key_expiring', 'info', 'the client key "in 10" ex'],
  ]);
  expect(proxy.log.filter(({ msg }) => String(msg).startsWith('client key'))).toEqual([]);
});

test('lists publishable keys whose policy names no fields', async () => {
  const { proxy, post, get } = await startAdmin({ clock: () => NOW });
  const policy = {
    publishable: true,
    read_only: true,
    cors_origins: ['https://shop.example.com'],
    instances: ['prod'],
    models: { 'product.template': ['*'] },
  };
  const fields = { 'product.template': { allow: ['name'] } };
  expect((await post('/keys', { name: 'new', policy })).status).toBe(400);
  expect((await post('/keys', { name: 'closed', policy: { ...policy, fields } })).status).toBe(201);
  // A key that an earlier version created.
  const { record } = await proxy.app.keys.create({ name: 'open', policy });
  expect((await get('/attention')).json.items).toEqual([
    expect.objectContaining({
      kind: 'publishable_key_open',
      target: `key ${record.id}`,
      text: expect.stringContaining('all fields of `product.template`'),
    }),
  ]);
});

test('lists subscriptions that are disabled, that fail and that cannot be read', async () => {
  const { proxy, post, list } = await start();
  await post('/instances', { ...INSTANCE, name: 'prod' });
  const { store } = proxy.app;
  // Another process holds all shards.
  await store.subscriptions.holdShards('other', { ttlMs: DAY_MS, latestMs: DAY_MS });
  store.subscriptions.holdShards = async () => [];
  for (const name of ['failing', 'off', 'paused', 'unread']) {
    const given = { name, instance: 'prod', model: 'res.partner', fields: ['name'] };
    expect((await post('/subscriptions', { ...given, url: 'https://hooks.example.com' })).status).toBe(201);
  }
  expect((await post('/subscriptions/paused/pause', {})).status).toBe(200);
  const off = await store.subscriptions.findByName('off');
  const disabled = { state: 'disabled', reason: 'The receiver is gone.', now: NOW } as const;
  await store.subscriptions.setState(off!.id, off!.version, disabled);
  const unread = await store.subscriptions.findByName('unread');
  await store.subscriptions.saveReadingOutcomes('other', [
    { id: unread!.id, at: NOW, problem: 'access_error: no' },
  ]);
  const failing = await store.subscriptions.findByName('failing');
  const delivery = { id: 'd', record: '7', type: 't', body: '{}' };
  const reading = { progress: '{}', now: NOW, deliveries: [delivery] };
  await store.subscriptions.commitReading('other', failing!.id, 0, reading);
  const claim = {
    owner: 'other',
    now: NOW,
    endsAt: NOW + DAY_MS,
    claim: 'claim',
    receivers: 'working',
  } as const;
  await store.subscriptions.claimDeliveries({ ...claim, subscriptionsMax: 9, deliveriesMax: 1, except: [] });
  await store.subscriptions.recordAttempts(failing!.id, 'claim', {
    failures: 3,
    failingSince: NOW - 1000,
    retryAt: NOW + DAY_MS,
    lastFailure: 'HTTP 500',
    deliveredAt: null,
    now: NOW,
    results: [],
    wakesAll: false,
    disables: null,
  });
  const items = await list();
  expect(items.map(({ target }) => target)).not.toContain('subscription paused');
  const expected = [
    expect.objectContaining({
      kind: 'subscription_disabled',
      target: 'subscription off',
      text: 'is disabled: The receiver is gone. Correct the cause, then resume it.',
    }),
    expect.objectContaining({ kind: 'subscription_unreadable', target: 'subscription unread' }),
    expect.objectContaining({
      kind: 'subscription_failing',
      target: 'subscription failing',
      text: 'its receiver did not take 3 attempts: HTTP 500',
      since: new Date(NOW - 1000).toISOString(),
    }),
  ];
  expect(items).toEqual(expect.arrayContaining(expected));
});

test('lists calls that wait for a decision, were refused, or met an error of the proxy', async () => {
  const upstream = closeAfterTest(await startUpstream((socket) => void socket.destroy()));
  const { proxy, get } = await startAdmin({ allow: [upstream.url] });
  const policy = {
    origins: [upstream.url],
    models: { '*': ['*'] },
    approve: { 'res.partner': ['unlink'] },
    rate: { requests: 1, seconds: 3600 },
  };
  const { key } = await proxy.app.keys.create({ name: 'shop', policy });
  const call = {
    model_id: 'res.partner',
    action: 'unlink',
    params: [[1]],
    erp_instance: { ...INSTANCE, url: upstream.url },
  };
  expect((await proxy.call(call, { 'x-proxy-api': key })).json.error.data.type).toBe('approval_required');
  expect((await proxy.call(call, { 'x-proxy-api': key })).json.error.data.type).toBe('rate_limited');
  const list = async () => (await get('/attention')).json.items;
  await expect.poll(list).toHaveLength(2);
  expect(await list()).toEqual([
    expect.objectContaining({
      kind: 'calls_refused',
      severity: 'warning',
      text: expect.stringMatching(/^1 requests/),
    }),
    expect.objectContaining({
      kind: 'approvals_pending',
      severity: 'info',
      text: '1 call waits for a decision.',
    }),
  ]);
});

test('lists a database whose circuit breaker is open, and a check that failed', async () => {
  const upstream = closeAfterTest(await startUpstream((socket) => void socket.destroy()));
  const { proxy, get } = await startAdmin({ allow: [upstream.url] });
  const call = {
    model_id: 'res.partner',
    action: 'read',
    params: [[1]],
    erp_instance: { ...INSTANCE, url: upstream.url },
  };
  const list = async (): Promise<Json[]> => (await get('/attention')).json.items;
  await expect
    .poll(async () => {
      await proxy.call(call);
      return (await list()).map(({ kind }) => kind);
    })
    .toContain('breaker_open');
  const [first] = await list();
  expect(first).toMatchObject({ severity: expect.stringMatching(/critical|warning/) });
  expect(first.target).toContain(upstream.url);
});

test('shows the worst 50 first, and counts the others', async () => {
  const clock = { now: NOW - 30 * DAY_MS };
  const { proxy, get, post } = await startAdmin({ clock: () => clock.now });
  for (let index = 0; index < 1000; index++)
    await proxy.app.keys.create({ name: `k${index}`, expiresAt: NOW + (1 + (index % 20)) * DAY_MS });
  await post('/instances', { ...INSTANCE, name: 'prod', key_expires_at: at(-1) });
  clock.now = NOW;
  const { json } = await get('/attention');
  // The request reads ten pages of keys. Reading one of them may cost at most as much as an answer with one page.
  await expectCpuBelow(
    15,
    () => get('/attention'),
    () => get('/keys?limit=100'),
  );
  expect(json.items).toHaveLength(50);
  expect(json.more).toBeGreaterThan(500);
  expect(json.items[0].kind).toBe('instance_key_expired');
  const ranks = json.items.map(({ severity }: Json) => ATTENTION_SEVERITIES.indexOf(severity));
  expect(ranks).toEqual(ranks.toSorted());
});

test('says what it has looked at in part only', async () => {
  const { proxy, get } = await startAdmin({ clock: () => NOW });
  const { instances, keys } = proxy.app;
  const add = (index: number) => instances.add({ ...INSTANCE, name: `i${String(index).padStart(5, '0')}` });
  for (let index = 0; index < 2000; index++) await add(index);
  for (let index = 0; index < 1000; index++) await keys.create({ name: 'k', expiresAt: NOW + DAY_MS });
  expect((await get('/attention')).json.incomplete).toEqual([]);
  await add(2000);
  expect((await get('/attention')).json.incomplete).toEqual(['instances']);
  await keys.create({ name: 'k', expiresAt: NOW + DAY_MS });
  expect((await get('/attention')).json.incomplete).toEqual(['instances', 'client_keys']);
  const { stdout } = await runCommand(['status', `--url=${proxy.url}`], {
    folder: makeFolder(),
    env: { ERP_PROXY_ADMIN_TOKEN: TOKEN },
  });
  expect(stdout).toContain('looked at in part only: instances, client keys\n');
});

test('erp-proxy status prints what needs attention, here and over --url', async () => {
  const folder = makeFolder();
  const { proxy, post } = await startAdmin();
  await post('/instances', { ...INSTANCE, name: 'prod', key_expires_at: '2001-01-01T00:00:00Z' });
  const remote = await runCommand(['status', `--url=${proxy.url}`], {
    folder,
    env: { ERP_PROXY_ADMIN_TOKEN: TOKEN },
  });
  expect(remote.stdout).toMatch(/Needs attention:\n {2}critical instance prod: its Odoo key expired at 2001/);
  await runCommand(['keys', 'create', '--name=shop'], { folder });
  const local = await runCommand(['status', '--json'], { folder, env: {} });
  expect(JSON.parse(local.stdout).attention).toEqual({ items: [], more: 0, incomplete: [] });
});

test('erp-proxy status prints texts of Odoo without commands to a terminal', async () => {
  const folder = makeFolder();
  await runCommand(['keys', 'create', '--name=shop'], { folder });
  const settings = { ...SETTINGS, 'store.url': `sqlite:${folder}/proxy.db` };
  const { proxy, post } = await startAdmin({ settings });
  await post('/instances', { ...INSTANCE, name: 'prod' });
  await proxy.app.instances.changeKey(await findVersion(proxy.app.instances, 'prod', 1), {
    failure: 'Odoo says: \u001b[2J\nnothing.',
  });
  const { stdout } = await runCommand(['status'], { folder, env: {} });
  expect(stdout).toContain('could not be replaced: Odoo says:  [2J nothing.\n');
});

test('an error of the proxy itself is critical', async () => {
  const { proxy, get } = await startAdmin();
  const id = proxy.key.split('_')[1] as string;
  await proxy.app.store.keys.update(id, 1, { policy: '{"sees":"all"}' });
  await proxy.post('{}');
  const { items } = (await get('/attention')).json;
  expect(items).toEqual([
    expect.objectContaining({ kind: 'internal_errors', severity: 'critical', target: 'calls' }),
  ]);
});

describe('a key that calls a method for which `*` of its policy does not stand', () => {
  async function startWith(policy: Json) {
    const upstream = closeAfterTest(await startUpstream(answerTrue));
    const admin = await startAdmin({ allow: [upstream.url] });
    const origins = [upstream.url];
    const { json: key } = await admin.post('/keys', { name: 'shop', policy: { ...policy, origins } });
    return {
      ...admin,
      key,
      list: async (): Promise<Json[]> => (await admin.get('/attention')).json.items,
      setPolicy: async (changed: Json) => {
        const { status } = await admin.patch(`/keys/${key.id}`, { policy: { ...changed, origins } });
        expect(status).toBe(200);
      },
      call: (method: string, params: unknown[] = [[1]], model = 'crm.lead') =>
        admin.proxy.call(
          {
            model_id: model,
            action: method,
            params,
            erp_instance: { ...INSTANCE, url: upstream.url },
          },
          { 'x-proxy-api': key.key },
        ),
    };
  }
  const NARROW = { models: { 'crm.lead': ['*'] } };

  test('is named with the entry by what Odoo answered before, also by `keys list` and `apply`', async () => {
    const { proxy, key, list, setPolicy, call } = await startWith({ ...NARROW, allow_unknown_methods: true });
    for (const method of ['x_sync', 'action_set_won']) expect((await call(method)).status).toBe(200);
    expect(await list()).toEqual([]);
    await setPolicy(NARROW);
    const text =
      'the client key "shop" calls methods for which "*" of its policy does not stand, so that they are denied. If it needs them, add to its policy: "x_sync" in models["crm.lead"].';
    const item = {
      kind: 'method_not_named',
      severity: 'warning',
      target: `key ${key.id}`,
      text,
      since: null,
    };
    expect(await list()).toEqual([item]);
    const folder = makeFolder();
    const run = (...args: string[]) =>
      runCommand([...args, `--url=${proxy.url}`], { folder, env: { ERP_PROXY_ADMIN_TOKEN: TOKEN } });
    expect((await run('keys', 'list')).stderr).toBe(`key ${key.id}: ${text}\n`);
    expect((await run('keys', 'list', '--json')).stderr).toBe('');
    const origins = [new URL(key.policy.origins[0]).origin];
    const file = `${JSON.stringify({ keys: [{ name: 'shop', policy: { ...NARROW, origins } }] })}\n`;
    writeFileSync(join(folder, 'keys.yaml'), file);
    const applied = await run('apply', '-f', 'keys.yaml');
    expect(applied).toMatchObject({ status: 0, stderr: expect.stringContaining(text) });
    const explained = {
      action: 'x_sync',
      model_id: 'crm.lead',
      erp_instance: { ...INSTANCE, url: origins[0] },
    };
    writeFileSync(join(folder, 'call.json'), JSON.stringify({ ...explained, params: [[1]] }));
    const { status, stdout } = await run('keys', 'explain', '--key', key.id, '--call', 'call.json');
    expect(status).toBe(1);
    expect(stdout).toContain('denied by allow_unknown_methods: `x_sync` of `crm.lead` is not known to keep');
    expect(stdout).toMatch(
      / {2}"\*" stands for these methods, as far as the model has them: .*\baction_set_won\b/,
    );
    expect(stdout).toContain('    find_or_create_record reaches records of any model\n');
    await setPolicy({ models: { 'crm.lead': ['*', 'x_*'] } });
    expect(await list()).toEqual([]);
    expect((await run('keys', 'list')).stderr).toBe('');
  });

  test('is named if Odoo answered a method that only an entry with both names allows', async () => {
    const methods = ['action_set_won', 'find_or_create_record'];
    const { list, setPolicy, call } = await startWith({ models: { 'crm.lead': methods } });
    for (const method of methods) expect((await call(method)).status).toBe(200);
    expect(await list()).toEqual([]);
    await setPolicy(NARROW);
    expect(await list()).toMatchObject([
      {
        kind: 'method_not_named',
        text: expect.stringMatching(/add to its policy: "find_or_create_record" in models\["crm\.lead"\]\.$/),
      },
    ]);
    await setPolicy({ models: { 'crm.lead': ['action_*'] } });
    expect(await list()).toEqual([]);
  });

  test('and so is one whose calls ask for fields that hold credentials', async () => {
    const { list, call, key } = await startWith({ models: { 'res.company': ['copy_data'] } });
    const denied = await call('copy_data', [[1]], 'res.company');
    expect(denied.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'fields' });
    await expect.poll(list).toEqual([
      {
        kind: 'credential_field_not_named',
        severity: 'warning',
        target: `key ${key.id}`,
        text: 'calls of the client key "shop" were denied in the last hour for fields that hold credentials: copy_data of res.company. If it needs them, allow the fields by name in "fields" of its policy.',
        since: null,
      },
    ]);
  });

  test('is named by a denied call, which the statistics do not have', async () => {
    const { list, call } = await startWith(NARROW);
    const denied = await call('x_sync');
    expect(denied.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'allow_unknown_methods' });
    expect((await call('find_or_create_record')).json.error.data.rule).toBe('sensitive_methods');
    await expect
      .poll(async () => (await list())[0]?.text)
      .toMatch(/add to its policy: "x_sync" in models\["crm\.lead"\]\.$/);
  });

  test('and so is one whose calls reach models that its policy lacks', async () => {
    const { list, call, key } = await startWith(NARROW);
    const denied = await call('write', [[1], { alias_name: 'sales' }]);
    expect(denied.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'sensitive_methods' });
    // The policy does not allow this method by itself either.
    expect((await call('find_or_create_record')).json.error.data.rule).toBe('sensitive_methods');
    await expect.poll(list).toEqual([
      {
        kind: 'reached_model_not_named',
        severity: 'warning',
        target: `key ${key.id}`,
        text: 'calls of the client key "shop" were denied in the last hour for other models that their values or fields reach: write of crm.lead. If it needs them, add the entries that the errors of these calls name to its policy.',
        since: null,
      },
    ]);
  });
});

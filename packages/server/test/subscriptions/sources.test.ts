/** Tests what keeps a subscription from reading: instance, field, model, key and its policy, Odoo. */
import { expect, test } from 'vitest';
import { expectToStay } from '../time.ts';
import { SHORT_TIMES, startStage } from './stage.ts';

const POLICY = {
  instances: ['prod'],
  models: { 'res.partner': ['search', 'search_read'] },
  data: ['subscriptions' as const],
};

test('an instance that is removed is a problem with its reason, and its return is the end of it', async () => {
  const { admin, subscribe, show, odoo, receiver, sandbox, proxy } = await startStage();
  await subscribe();
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  await admin.removeInstance('prod');
  await expect.poll(async () => (await show()).problem).toMatch(/^There is no instance "prod" any more/);
  expect(await show()).toMatchObject({ state: 'active', reason: null });
  expect(proxy.log).toContainEqual(expect.objectContaining({ msg: 'subscription unreadable' }));
  const { admin: user } = sandbox.users;
  await admin.createInstance({
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: user.userId,
    api_key: user.apiKey,
  });
  await odoo('create', { name: 'Test one' });
  await expect.poll(() => receiver.received.length).toBe(1);
  await expect.poll(async () => (await show()).problem).toBeNull();
});

test('a field that vanishes is a problem that names it', async () => {
  const { sandbox, subscribe, show, admin, receiver, odoo } = await startStage();
  await subscribe({ fields: ['name', 'phone'] });
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  sandbox.removeField('res.partner', 'phone');
  await expect.poll(async () => (await show()).problem).toMatch(/^query_invalid: .*phone/);
  await odoo('create', { name: 'Test one' });
  await admin.updateSubscription('contacts', { fields: ['name'] });
  await expect.poll(() => receiver.received.length).toBe(1);
});

test('a condition on a field that Odoo cannot search is a problem that names it', async () => {
  const { subscribe, show, receiver } = await startStage();
  const domain = [['expected_date', '>', '2099-01-01']];
  await subscribe({ model: 'sale.order', fields: ['name'], domain, start: 'all' });
  const problem = /^query_invalid: The field `expected_date` of `sale.order` cannot be searched/;
  await expect.poll(async () => (await show()).problem).toMatch(problem);
  expect(receiver.received).toEqual([]);
});

test('a model that does not exist, or has no write_date', async () => {
  const { subscribe, show } = await startStage();
  await subscribe({ model: 'no.such.model' });
  await expect.poll(async () => (await show()).problem).not.toBeNull();
});

test('the policy of its key holds', async () => {
  const { proxy, subscribe, show, odoo, receiver, admin } = await startStage();
  const policy = { ...POLICY, fields: { 'res.partner': { deny: ['email'] } } };
  const { record } = await proxy.app.keys.create({ name: 'hooks', policy });
  await odoo('create', { name: 'Test one' });
  await subscribe({ key: record.id, fields: ['name'] });
  await expect.poll(() => receiver.received.length).toBe(1);
  await admin.updateSubscription('contacts', { fields: ['name', 'email'] });
  await expect.poll(async () => (await show()).problem).toMatch(/^policy_denied: .*email/);
  const audited = async () => (await admin.listAudit({ via: 'subscription' })).items[0];
  await expect.poll(audited).toMatchObject({ key_id: record.id, instance: 'prod', address: null });
});

test('a key must exist and allow subscriptions', async () => {
  const { proxy, subscribe, admin, show } = await startStage();
  const fault = (message: string) => ({ problem: { status: 400, faults: [{ path: 'key', message }] } });
  const { data: _, ...without } = POLICY;
  const { record } = await proxy.app.keys.create({ name: 'hooks', policy: without });
  await expect(subscribe({ key: 'nobody' })).rejects.toMatchObject(fault('is not the id of a client key'));
  await expect(subscribe({ key: record.id })).rejects.toMatchObject(
    fault('has a policy that does not allow "subscriptions" in `data`'),
  );
  await admin.updateKey(record.id, { policy: POLICY });
  await subscribe({ key: record.id });
  await admin.updateKey(record.id, { policy: without });
  await expect.poll(async () => (await show()).problem).toMatch(/^policy_denied/);
});

test('a key that is revoked or expires pauses the subscription, and says so', async () => {
  let ahead = 0;
  const { proxy, subscribe, show, admin, odoo, receiver } = await startStage({
    clock: () => Date.now() + ahead,
  });
  const make = async (name: string, expiresAt: number | null = null) =>
    (await proxy.app.keys.create({ name, policy: POLICY, expiresAt })).record.id;
  const [one, two, three] = [
    await make('one'),
    await make('two', Date.now() + 3_600_000),
    await make('three'),
  ];
  await subscribe({ key: one });
  await admin.revokeKey(one);
  await expect.poll(async () => (await show()).state).toBe('paused');
  expect((await show()).reason).toBe(
    `The key ${one} is revoked: give the subscription another one, then resume it.`,
  );
  await expect(admin.resumeSubscription('contacts')).rejects.toMatchObject({ problem: { status: 400 } });
  await admin.updateSubscription('contacts', { key: two });
  await admin.resumeSubscription('contacts');
  ahead = 7_200_000;
  await expect.poll(async () => (await show()).reason).toMatch(/is expired/);
  await admin.updateSubscription('contacts', { key: three });
  await admin.resumeSubscription('contacts');
  await odoo('create', { name: 'Test one' });
  await expect.poll(() => receiver.received.length).toBe(1);
});

test('limits of the key hold', async () => {
  const { proxy, subscribe, show, sandbox } = await startStage();
  const { record } = await proxy.app.keys.create({ name: 'hooks', policy: { ...POLICY, per_day: 3 } });
  await subscribe({ key: record.id });
  await expect.poll(async () => (await show()).problem).toMatch(/^rate_limited/);
  expect(sandbox.requests.total).toBeGreaterThan(0);
});

test('clocks that jump lose nothing', async () => {
  let ahead = 0;
  const { subscribe, odoo, receiver, show } = await startStage({ clock: () => Date.now() + ahead });
  await subscribe();
  const expectNext = async (name: string) => {
    await odoo('create', { name });
    await expect.poll(() => receiver.received.at(-1)?.json.data.record?.name).toBe(name);
  };
  await expectNext('Test one');
  ahead = 40 * 86_400_000;
  await expectNext('Test two');
  ahead = -40 * 86_400_000;
  await expectNext('Test three');
  expect(await show()).toMatchObject({ state: 'active' });
});

test('a pause reads and sends nothing, and nothing is missed', async () => {
  const { subscribe, odoo, receiver, admin, show, sandbox, proxy } = await startStage();
  await subscribe();
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  expect(await admin.pauseSubscription('contacts', { reason: 'Maintenance' })).toMatchObject({
    state: 'paused',
    reason: 'Maintenance',
  });
  // Waits until a reading that had already begun has ended.
  await expect.poll(() => proxy.app.subscriptionWorker.states().reading).toBe(0);
  await odoo('create', { name: 'Test one' });
  await expectToStay(() => sandbox.requests.total, sandbox.requests.total);
  expect(receiver.received).toEqual([]);
  await admin.resumeSubscription('contacts');
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(
    (await admin.listAudit({ kind: 'admin' })).items.map((item) => 'action' in item && item.action),
  ).toEqual(['subscription.resume', 'subscription.pause', 'subscription.create', 'instance.create']);
});

test('ends with no work in progress', async () => {
  const { subscribe, odoo, proxy, receiver } = await startStage({ subscriptionTimes: SHORT_TIMES });
  await odoo('create', { name: 'Test one' });
  for (let index = 0; index < 20; index++) await subscribe({ name: `s${index}` });
  await expect.poll(() => receiver.received.length).toBe(20);
  await proxy.close();
  expect(proxy.app.subscriptionWorker.states()).toMatchObject({ shards: [], reading: 0, sending: 0 });
  await expect.poll(() => receiver.running).toBe(0);
});

test('the log does not have what Odoo says, which may name values', async () => {
  const { subscribe, show, proxy } = await startStage();
  await subscribe({ domain: ['|', ['name', '=', 'a value']] });
  await expect.poll(async () => (await show()).problem).toContain('a value');
  expect(proxy.log).toContainEqual(
    expect.objectContaining({ msg: 'subscription unreadable', reason: 'Odoo answered query_invalid.' }),
  );
  expect(JSON.stringify(proxy.log)).not.toContain('a value');
});

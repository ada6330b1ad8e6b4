/**
 * Tests deliveries that are stored when the rights of their key change: deliveries that wait, are retried or replayed.
 */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { refuseWith, TAKE } from './receiver.ts';
import { type Stage, startStage } from './stage.ts';

const POLICY: Policy = {
  instances: ['prod'],
  models: { 'res.partner': ['search', 'search_read'] },
  data: ['subscriptions'],
};
const WITHOUT_EMAIL: Policy = { ...POLICY, fields: { 'res.partner': { deny: ['email'] } } };

async function subscribeByKey({ proxy, subscribe }: Stage, changes: Parameters<Stage['subscribe']>[0] = {}) {
  const { record } = await proxy.app.keys.create({ name: 'hooks', policy: POLICY });
  await subscribe({ key: record.id, fields: ['name', 'email'], ...changes });
  return record.id;
}

const listUpserts = ({ receiver }: Stage) => receiver.list('res.partner.upserted');

/** Ends the wait for a retry, and returns why the waiting delivery was refused. Null: it was not refused yet. */
async function findRefusal({ admin }: Stage): Promise<string | null | undefined> {
  await admin.pingSubscription('contacts');
  const [waiting] = (await admin.listDeliveries('contacts', { state: 'waiting' })).items;
  return waiting?.failure;
}

/** Waits until the waiting deliveries were tried once more. */
async function waitForAttempt({ admin }: Stage): Promise<void> {
  const count = async () => {
    const { items } = await admin.listDeliveries('contacts', { state: 'waiting' });
    return items.reduce((sum, { attempts }) => sum + attempts, 0);
  };
  const before = await count();
  await expect.poll(count).toBeGreaterThan(before);
}

test.each<[string, Policy, RegExp]>([
  ['a field', WITHOUT_EMAIL, /^policy_denied: .*`email`/],
  ['the model', { ...POLICY, models: { 'crm.lead': ['*'] } }, /^policy_denied: .*`res.partner`/],
  ['the instance', { ...POLICY, instances: ['test'] }, /^policy_denied: .*"prod"/],
  ['subscriptions', { ...POLICY, data: ['export'] }, /^policy_denied: .*subscriptions/],
  [
    'reading without an approval',
    { ...POLICY, approve: { 'res.partner': ['search_read'] } },
    /^policy_denied: .*approval/,
  ],
])('a delivery that is retried is not sent once the policy denies %s', async (_, narrowed, reason) => {
  const stage = await startStage();
  const { admin, odoo, receiver } = stage;
  const key = await subscribeByKey(stage);
  receiver.answer = refuseWith(500);
  await odoo('create', { name: 'Test one', email: 'one@example.com' });
  await expect.poll(() => listUpserts(stage).length).toBeGreaterThan(0);
  await admin.updateKey(key, { policy: narrowed });
  // An attempt that was checked before the change may still be sent.
  await expect.poll(() => findRefusal(stage)).toMatch(reason);
  const sent = listUpserts(stage).length;
  receiver.answer = TAKE;
  await waitForAttempt(stage);
  expect(listUpserts(stage)).toHaveLength(sent);
  await admin.updateKey(key, { policy: POLICY });
  await expect.poll(() => findRefusal(stage)).toBeUndefined();
  expect(listUpserts(stage)).toHaveLength(sent + 1);
});

test('a delivery is not sent once the policy denies a field of the domain, which tells of its value', async () => {
  const stage = await startStage();
  const { admin, odoo, receiver } = stage;
  const domain = [['email', '=', 'one@example.com']];
  const key = await subscribeByKey(stage, { fields: ['name'], domain });
  receiver.answer = refuseWith(500);
  await odoo('create', { name: 'Test one', email: 'one@example.com' });
  await expect.poll(() => listUpserts(stage).length).toBeGreaterThan(0);
  await admin.updateKey(key, { policy: WITHOUT_EMAIL });
  await expect.poll(() => findRefusal(stage)).toMatch(/^policy_denied: .*`email`/);
  const sent = listUpserts(stage).length;
  receiver.answer = TAKE;
  await waitForAttempt(stage);
  expect(listUpserts(stage)).toHaveLength(sent);
  await admin.updateKey(key, { policy: POLICY });
  await expect.poll(() => findRefusal(stage)).toBeUndefined();
  expect(listUpserts(stage)).toHaveLength(sent + 1);
});

test('a field that Odoo computes from a denied one is not sent, nor without an answer of Odoo', async () => {
  const stage = await startStage();
  const { admin, proxy, receiver, sandbox, subscribe } = stage;
  const policy: Policy = { ...POLICY, models: { 'res.country': ['search', 'search_read'] } };
  const withoutPhoneCode: Policy = { ...policy, fields: { 'res.country': { deny: ['phone_code'] } } };
  const withoutCode: Policy = { ...policy, fields: { 'res.country': { deny: ['code'] } } };
  const { record: key } = await proxy.app.keys.create({ name: 'hooks', policy });
  receiver.answer = refuseWith(500);
  await subscribe({
    key: key.id,
    model: 'res.country',
    fields: ['name', 'image_url'],
    domain: [['name', '=', 'Belgium']],
  });
  const countSent = () => receiver.list('res.country.upserted').length;
  await expect.poll(countSent).toBeGreaterThan(0);
  const [sent] = receiver.list('res.country.upserted');
  expect(sent?.json.data.record).toMatchObject({ image_url: expect.stringMatching(/be\.png$/) });
  await admin.updateKey(key.id, { policy: withoutCode });
  await expect.poll(() => findRefusal(stage)).toMatch(/^policy_denied: .*`image_url`/);
  const before = countSent();
  receiver.answer = TAKE;
  await waitForAttempt(stage);
  await admin.updateInstance('prod', { api_key: 'not-the-key' });
  await admin.updateKey(key.id, { policy: withoutPhoneCode });
  // The reason of an attempt is logged, so it must not have a text of Odoo, which may contain values.
  await expect.poll(() => findRefusal(stage)).toBe('Odoo answered access_denied.');
  expect(countSent()).toBe(before);
  await admin.updateInstance('prod', { api_key: sandbox.users.admin.apiKey });
  await expect.poll(() => findRefusal(stage)).toBeUndefined();
  expect(countSent()).toBe(before + 1);
});

test('a replay sends no field that is denied now, although the subscription was changed to others', async () => {
  const stage = await startStage();
  const { admin, odoo, show } = stage;
  const key = await subscribeByKey(stage);
  await odoo('create', { name: 'Test one', email: 'one@example.com' });
  await expect.poll(() => listUpserts(stage).length).toBe(1);
  const listDelivered = async () => (await admin.listDeliveries('contacts', { state: 'delivered' })).items;
  await expect.poll(listDelivered).toHaveLength(1);
  await admin.updateKey(key, { policy: WITHOUT_EMAIL });
  await admin.updateSubscription('contacts', { fields: ['name'], start: 'now' });
  await expect.poll(async () => (await show()).problem).toBeNull();
  expect(await admin.replayDeliveries('contacts', { since: '2000-01-01T00:00:00Z' })).toEqual({
    replayed: 1,
  });
  await expect.poll(() => findRefusal(stage)).toMatch(/^policy_denied: .*`email`/);
  expect(listUpserts(stage)).toHaveLength(1);
});

test('what holds no values is sent by the rights that remain', async () => {
  const stage = await startStage();
  const { admin, odoo, receiver } = stage;
  const key = await subscribeByKey(stage, { payload: 'thin' });
  receiver.answer = refuseWith(500);
  await odoo('create', { name: 'Test one' });
  await expect.poll(() => listUpserts(stage).length).toBeGreaterThan(0);
  await admin.updateKey(key, { policy: WITHOUT_EMAIL });
  const sent = listUpserts(stage).length;
  receiver.answer = TAKE;
  await expect.poll(() => findRefusal(stage)).toBeUndefined();
  expect(listUpserts(stage)).toHaveLength(sent + 1);
});

test('a revoked key pauses its subscriptions at once, however long their interval is', async () => {
  const stage = await startStage();
  const { admin, show } = stage;
  const key = await subscribeByKey(stage, { interval_seconds: 86_400 });
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  await admin.revokeKey(key);
  await expect.poll(async () => (await show()).state).toBe('paused');
});

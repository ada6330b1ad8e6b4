/** Tests subscriptions to `key.ends`: notices before client keys end go to a webhook, once for all processes. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type ProxyOptions, startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { expectToStay } from '../time.ts';
import { refuseWith, startReceiver, TAKE } from './receiver.ts';
import { SHORT_TIMES } from './stage.ts';

const DAY_MS = 86_400_000;
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
/** The interval, which SHORT_TIMES shortens to 50 ms. */
const INTERVAL = { interval_seconds: 5 };

async function startStage(options: ProxyOptions = {}) {
  const receiver = closeAfterTest(await startReceiver());
  let passedMs = 0;
  const start = async () =>
    closeAfterTest(
      await startProxy({
        subscriptionTimes: SHORT_TIMES,
        clock: () => Date.now() + passedMs,
        ...options,
        settings: { 'vault.masterKey': MASTER_KEY, 'egress.allow': receiver.url, ...options.settings },
      }),
    );
  const proxy = await start();
  const admin = proxy.app.adminFor(TEST_ACTOR);
  return {
    receiver,
    proxy,
    admin,
    start,
    passDays(days: number) {
      passedMs += days * DAY_MS;
    },
    /** Creates a key that ends in this number of days. */
    createKey: async (days: number, name = 'shop') =>
      (await proxy.app.keys.create({ name, expiresAt: Date.now() + passedMs + days * DAY_MS })).record,
    async subscribe(changes: object = {}) {
      const made = await admin.createSubscription({
        name: 'ends',
        events: ['key.ends'],
        url: `${receiver.url}/hook`,
        ...INTERVAL,
        ...changes,
      });
      receiver.secrets.push(made.secret);
      return made;
    },
    /** Waits for the first reading, which has recorded the notices that were due. */
    waitUntilRead: () =>
      expect.poll(async () => (await admin.getSubscription('ends')).read_at).not.toBe(null),
  };
}

test('sends 14 days before, 3 days before and at the end, without a secret', async () => {
  const { receiver, createKey, subscribe, passDays, waitUntilRead } = await startStage();
  const made = await subscribe();
  expect(made).toMatchObject({ events: ['key.ends'], start: 'now', state: 'active' });
  for (const member of ['instance', 'model', 'fields', 'key']) expect(made).not.toHaveProperty(member);
  const key = await createKey(30);
  await waitUntilRead();
  for (const [days, expired] of [
    [17, false],
    [11, false],
    [2.5, true],
  ] as const) {
    const before = receiver.received.length;
    passDays(days);
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    const { json, headers } = receiver.received.at(-1)!;
    expect(headers['content-type']).toBe('application/json');
    expect(json).toEqual({
      type: 'key.ends',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        subscription: 'ends',
        id: key.id,
        client_id: key.clientId,
        name: 'shop',
        expires_at: new Date(key.expiresAt!).toISOString(),
        expired,
      },
    });
    if (!expired) expect(new Date(json.data.expires_at) > new Date(json.timestamp)).toBe(true);
    passDays(0.1);
  }
  await expectToStay(() => receiver.received.length, 3);
});

test('a clock that goes back and forth repeats no notice', async () => {
  const { receiver, createKey, subscribe, passDays, waitUntilRead } = await startStage();
  await subscribe();
  await createKey(30);
  await waitUntilRead();
  for (const [count, days] of [17, 11].entries()) {
    passDays(days);
    await expect.poll(() => receiver.received.length).toBe(count + 1);
    // The clock goes back to before the notice, and then past it again.
    for (const step of [-1.5, 1.5]) {
      passDays(step);
      await expectToStay(() => receiver.received.length, count + 1);
    }
  }
});

test('`start` decides about keys that end soon already', async () => {
  const stage = await startStage();
  const rotated = await stage.createKey(20);
  stage.passDays(10);
  await stage.subscribe({ name: 'ends' });
  await stage.waitUntilRead();
  await expectToStay(() => stage.receiver.received, []);
  await stage.subscribe({ name: 'all', start: 'all' });
  await expect
    .poll(() => stage.receiver.received.map(({ json }) => json.data))
    .toMatchObject([{ subscription: 'all', id: rotated.id }]);
});

test('retries, lists, pings, pauses and replays as for records', async () => {
  const { receiver, admin, createKey, subscribe, passDays, waitUntilRead } = await startStage();
  await subscribe();
  await waitUntilRead();
  expect(await admin.pingSubscription('ends')).toMatchObject({ delivered: true, status: 204 });
  expect(receiver.received[0]?.json).toMatchObject({
    type: 'ping',
    data: { subscription: 'ends', events: ['key.ends'] },
  });
  await admin.pauseSubscription('ends', {});
  const key = await createKey(20);
  passDays(6.5);
  await expectToStay(() => receiver.received.length, 1);
  receiver.answer = (response, delivery, index) =>
    index === 1 ? refuseWith(500)(response, delivery, index) : TAKE(response, delivery, index);
  await admin.resumeSubscription('ends');
  await expect.poll(() => receiver.received.length).toBe(3);
  const [, first, second] = receiver.received;
  expect(second?.id).toBe(first?.id);
  const delivered = async () => (await admin.listDeliveries('ends', { state: 'delivered' })).items;
  await expect
    .poll(delivered)
    .toMatchObject([{ id: first?.id, type: 'key.ends', record: key.id, attempts: 2 }, { type: 'ping' }]);
  await admin.replayDeliveries('ends', { delivery: first!.id });
  await expect.poll(() => receiver.received.length).toBe(4);
  expect(receiver.received[3]?.id).toBe(first?.id);
});

test('two processes send each notice once', async () => {
  const folder = makeFolder();
  const stage = await startStage({ settings: { 'store.url': `sqlite:${join(folder, 'store.db')}` } });
  const other = await stage.start();
  await stage.subscribe();
  await stage.waitUntilRead();
  const keys = await Promise.all(
    Array.from({ length: 5 }, (_, index) => stage.createKey(20, `app ${index}`)),
  );
  stage.passDays(7);
  const ids = () => stage.receiver.received.map(({ json }) => json.data.id).sort();
  await expect.poll(ids).toEqual(keys.map(({ id }) => id).sort());
  // The other proxy takes over, and knows which notices were sent.
  await stage.proxy.close();
  await expect.poll(() => other.app.subscriptionWorker.states().shards).toHaveLength(16);
  await expectToStay(() => ids().length, 5);
});

test('without notices the subscription says why it sends nothing', async () => {
  const { admin, subscribe } = await startStage({ settings: { 'keys.expiryNoticeDays': '0' } });
  await subscribe();
  await expect
    .poll(async () => (await admin.getSubscription('ends')).problem)
    .toMatch(/keys\.expiryNoticeDays/);
});

const RECORDS = { instance: 'prod', model: 'res.partner', fields: ['name'] };

test.each<[string, object, string]>([
  ['an unknown event', { events: ['key.made'] }, 'events.0'],
  ['no event', { events: [] }, 'events'],
  ['events and an instance', { events: ['key.ends'], instance: 'prod' }, 'instance'],
  ['events and fields', { events: ['key.ends'], fields: ['name'] }, 'fields'],
  ['neither events nor a model', { instance: 'prod', fields: ['name'] }, 'model'],
])('refuses %s', async (_name, changes, path) => {
  const { admin, receiver } = await startStage();
  const { url, db } = { url: receiver.url, db: 'prod' };
  await admin.createInstance({ name: 'prod', url, db, user_id: 2, api_key: 'odoo-secret-1' });
  const input = { name: 'bad', url: receiver.url, ...changes } as never;
  await expect(admin.createSubscription(input)).rejects.toMatchObject({
    problem: { status: 400, faults: expect.arrayContaining([expect.objectContaining({ path })]) },
  });
});

test('records cannot become events, nor events records', async () => {
  const { admin, receiver, subscribe } = await startStage();
  await admin.createInstance({
    name: 'prod',
    url: receiver.url,
    db: 'prod',
    user_id: 2,
    api_key: 'odoo-secret-1',
  });
  await subscribe();
  await admin.createSubscription({ name: 'contacts', url: receiver.url, ...RECORDS });
  await expect(admin.updateSubscription('ends', { model: 'res.partner' })).rejects.toMatchObject({
    problem: { faults: [{ path: 'model', message: 'cannot be set: the subscription is to `events`' }] },
  });
  await expect(admin.updateSubscription('contacts', { events: ['key.ends'] })).rejects.toMatchObject({
    problem: { faults: [{ path: 'events', message: 'cannot be set: the subscription is to records' }] },
  });
  expect(await admin.updateSubscription('ends', { interval_seconds: 30 })).toMatchObject({
    events: ['key.ends'],
    interval_seconds: 30,
  });
});

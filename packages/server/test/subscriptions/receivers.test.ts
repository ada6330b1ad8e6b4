/** Tests receivers that fail: retries, what ends them, and that other receivers do not notice. */
import { createServer } from 'node:net';
import type { SubscriptionView } from '@erp-proxy/contract';
import type { WorkerTimes } from '@erp-proxy/data/subscriptions';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { ENDLESS_MS, expectToStay, MOMENT_MS } from '../time.ts';
import { type Receiver, refuseWith, startReceiver, TAKE } from './receiver.ts';
import { SHORT_TIMES, startStage } from './stage.ts';

const failed = async (receiver: Receiver, stage: Awaited<ReturnType<typeof startStage>>) => {
  await expect.poll(async () => (await stage.show()).receiver.failures).toBeGreaterThan(0);
  return { view: await stage.show(), first: receiver.received[0] };
};
/** The time from the first failure to the next attempt, in milliseconds. */
const findDelayMs = ({ receiver }: SubscriptionView) =>
  Date.parse(receiver.retry_at ?? '') - Date.parse(receiver.failing_since ?? '');

test('a retry has the same webhook-id and content, and a new timestamp and signature', async () => {
  let aheadMs = 0;
  const stage = await startStage({
    subscriptionTimes: { ...SHORT_TIMES, secondMs: 1000, upkeepMs: MOMENT_MS },
    clock: () => Date.now() + aheadMs,
  });
  const { receiver, subscribe, odoo, show, admin } = stage;
  await odoo('create', { name: 'Test one' });
  receiver.answer = (response, delivery, index) =>
    (index === 0 ? refuseWith(500) : TAKE)(response, delivery, index);
  await subscribe();
  const { view } = await failed(receiver, stage);
  expect(findDelayMs(view)).toBeGreaterThanOrEqual(5000);
  aheadMs = 4000;
  await expectToStay(() => receiver.received.length, 1);
  aheadMs = 6000;
  await expect.poll(() => receiver.received.length).toBe(2);
  const [first, second] = receiver.received;
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
  expect([first?.fault, second?.fault]).toEqual([null, null]);
  await expect.poll(async () => (await show()).receiver.failures).toBe(0);
  const { items } = await admin.listDeliveries('contacts', {});
  expect(items).toMatchObject([{ id: first?.id, state: 'delivered', attempts: 2, status: 204 }]);
});

test.each([
  ['500', refuseWith(500), 'The receiver answered 500.'],
  [
    'a redirect',
    refuseWith(302, { location: 'http://10.0.0.1/' }),
    'The receiver answered 302, and redirects are not followed.',
  ],
  ['304', refuseWith(304), 'The receiver answered 304, and redirects are not followed.'],
])('%s is a failure', async (_, answer, text) => {
  const stage = await startStage();
  stage.receiver.answer = answer;
  await stage.odoo('create', { name: 'Test one' });
  await stage.subscribe();
  const { view } = await failed(stage.receiver, stage);
  expect(view.receiver.last_failure).toBe(text);
});

test('an answer that comes too late is a failure', async () => {
  const stage = await startStage({ subscriptionTimes: { ...SHORT_TIMES, sendMs: 300, secondMs: 1000 } });
  const { receiver, subscribe, odoo } = stage;
  receiver.answer = () => {};
  await odoo('create', { name: 'Test one' });
  await subscribe();
  const { view } = await failed(receiver, stage);
  expect(view.receiver.last_failure).toBe('The receiver did not answer within 0 s.');
});

test('a body that does not end is no failure', async () => {
  const { receiver, subscribe, odoo, show } = await startStage();
  receiver.answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).write('x');
  };
  await odoo('create', { name: 'Test one' });
  await subscribe();
  await expect.poll(async () => (await show()).receiver.delivered_at).not.toBeNull();
  expect((await show()).receiver.failures).toBe(0);
  expect(receiver.received).toHaveLength(1);
  await expect.poll(() => receiver.running).toBe(0);
});

test('an endless answer is not read to its end', async () => {
  const stage = await startStage();
  const { receiver, subscribe, odoo, show } = stage;
  receiver.answer = (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024);
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', pour);
    pour();
  };
  await odoo('create', { name: 'Test one' });
  await subscribe();
  await expect.poll(async () => (await show()).receiver.delivered_at).not.toBeNull();
  await expect.poll(() => receiver.running).toBe(0);
});

test('410 disables at once, and a resume sends what waits', async () => {
  const stage = await startStage();
  const { receiver, subscribe, odoo, show, admin, proxy } = stage;
  receiver.answer = refuseWith(410);
  await odoo('create', { name: 'Test one' });
  await subscribe();
  await expect.poll(async () => (await show()).state).toBe('disabled');
  expect((await show()).reason).toBe('The receiver answered 410 Gone: it wants no more deliveries.');
  expect(receiver.received).toHaveLength(1);
  expect(proxy.log).toContainEqual(
    expect.objectContaining({ msg: 'subscription disabled', subscription: 'contacts' }),
  );
  await odoo('create', { name: 'Test two' });
  receiver.answer = TAKE;
  await admin.resumeSubscription('contacts');
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
});

test('a receiver that takes nothing for five days is disabled, and says so', async () => {
  // With these times, five days take 432 ms, and a retry follows after milliseconds.
  const stage = await startStage({ subscriptionTimes: { ...SHORT_TIMES, secondMs: 0.001 } });
  const { receiver, odoo, show, subscribe, admin } = stage;
  receiver.answer = refuseWith(503);
  for (let record = 0; record < 20; record++) await odoo('create', { name: `Test ${record}` });
  await subscribe({ interval_seconds: 86_400 });
  await expect.poll(async () => (await show()).state).toBe('disabled');
  const { reason, receiver: seen } = await show();
  expect(reason).toBe('The receiver took nothing for five days; the last reason: The receiver answered 503.');
  expect(seen.failures).toBeGreaterThanOrEqual(9);
  expect((await admin.listDeliveries('contacts', { state: 'delivered' })).items).toEqual([]);
});

test('a delivery is given up after its last retry, and can be replayed', async () => {
  let aheadMs = 0;
  const stage = await startStage({
    subscriptionTimes: { ...SHORT_TIMES, secondMs: 1000, upkeepMs: MOMENT_MS },
    clock: () => Date.now() + aheadMs,
  });
  const { receiver, odoo, subscribe, admin, proxy } = stage;
  const [bad, good] = [
    await odoo('create', { name: 'Test bad' }),
    await odoo('create', { name: 'Test good' }),
  ];
  receiver.answer = (response, delivery) =>
    (delivery.json.data.id === bad ? refuseWith(400) : TAKE)(response, delivery, 0);
  await subscribe({ interval_seconds: 86_400 });
  const list = async () => (await admin.listDeliveries('contacts', {})).items;
  /** Sets the clock to the time of the next attempt. */
  const passWait = async () => {
    const deliveries = await list();
    const nextAt = deliveries.find(({ state }) => state === 'waiting')?.next_at ?? null;
    if (nextAt !== null && proxy.app.subscriptionWorker.states().sending === 0)
      aheadMs = Math.max(aheadMs, Date.parse(nextAt) - Date.now());
    return deliveries.map(({ state }) => state).sort();
  };
  await expect.poll(passWait).toEqual(['delivered', 'failed']);
  const given = (await list()).find(({ state }) => state === 'failed');
  expect(given).toMatchObject({ record: String(bad), attempts: 16, status: 400, next_at: null });
  expect(receiver.received.filter(({ json }) => json.data.id === good)).toHaveLength(1);
  receiver.answer = TAKE;
  await admin.replayDeliveries('contacts', { delivery: given?.id ?? '' });
  await expect.poll(() => receiver.received.at(-1)?.json.data.id).toBe(bad);
  expect(receiver.received.at(-1)?.id).toBe(given?.id);
});

test.each([
  ['3', 5000],
  ['999999999999999', 86_400_000],
  ['soon', 5000],
  ['-5', 5000],
])('retry-after: %s', async (header, delayMs) => {
  const stage = await startStage({ subscriptionTimes: { ...SHORT_TIMES, secondMs: 1000 } });
  stage.receiver.answer = refuseWith(429, { 'retry-after': header });
  await stage.odoo('create', { name: 'Test one' });
  await stage.subscribe();
  const { view } = await failed(stage.receiver, stage);
  // The delay is not shorter than the schedule says, at most a tenth longer at random, and not longer than a day.
  expect(findDelayMs(view)).toBeGreaterThanOrEqual(delayMs);
  expect(findDelayMs(view)).toBeLessThanOrEqual(Math.min(1.1 * delayMs, 86_400_000));
});

test('a receiver that cannot be reached: private address, TLS, no HTTP, closed port', async () => {
  const stage = await startStage();
  const { odoo, subscribe, show } = stage;
  const noHttp = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
  await new Promise<void>((resolve) => noHttp.listen(0, '127.0.0.1', resolve));
  closeAfterTest(noHttp);
  const { port } = noHttp.address() as { port: number };
  await odoo('create', { name: 'Test one' });
  // These addresses are refused at once, without DNS where possible.
  for (const url of [
    'http://127.0.0.1:1/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://shop.example.com/',
    'http://169.254.169.254/',
  ])
    await expect(subscribe({ name: 'other', url })).rejects.toMatchObject({
      problem: {
        status: 400,
        faults: [{ path: 'url', message: expect.stringMatching(/^may not be reached: /) }],
      },
    });
  await subscribe({ url: 'https://localhost/' });
  await expect
    .poll(async () => (await show()).receiver.last_failure)
    .toMatch(/^The address may not be reached: /);
  const other = await startStage({ settings: { 'egress.allow': `127.0.0.0/8` } });
  await other.odoo('create', { name: 'Test one' });
  await other.subscribe({ url: `http://127.0.0.1:${port}/` });
  const reason = async () => (await other.show()).receiver.last_failure;
  await expect.poll(reason).toMatch(/^The receiver (did not answer in HTTP|closed)/);
  await other.admin.updateSubscription('contacts', { url: `https://127.0.0.1:${port}/` });
  await other.admin.resumeSubscription('contacts');
  await expect.poll(reason).toMatch(/^TLS to the receiver failed/);
});

async function subscribeDead(times: Partial<WorkerTimes>) {
  const dead = closeAfterTest(await startReceiver());
  dead.answer = () => {};
  const stage = await startStage({
    subscriptionTimes: { ...SHORT_TIMES, ...times },
    settings: { 'egress.allow': '127.0.0.0/8' },
  });
  for (let record = 0; record < 10; record++) await stage.odoo('create', { name: `Test ${record}` });
  const names = Array.from({ length: 10 }, (_, index) => `dead${index}`);
  for (const name of names) await stage.subscribe({ name, url: dead.url, interval_seconds: 86_400 });
  return { ...stage, dead, names };
}

test('dead receivers do not hold up others', async () => {
  const { dead, subscribe, receiver } = await subscribeDead({
    sendMs: ENDLESS_MS,
    claimMs: 2 * ENDLESS_MS,
  });
  await expect.poll(() => dead.received.length).toBeGreaterThanOrEqual(10);
  await subscribe({ name: 'alive', interval_seconds: 86_400 });
  await expect.poll(() => receiver.received.length).toBe(10);
});

test('each dead receiver is tried with one delivery at a time', async () => {
  const { dead, names, show } = await subscribeDead({ sendMs: 100, secondMs: 20 });
  for (const name of names)
    await expect.poll(async () => (await show(name)).receiver.failures).toBeGreaterThan(0);
  await expect.poll(() => dead.running).toBeLessThanOrEqual(10);
  dead.runningMax = 0;
  await expect.poll(() => dead.runningMax).toBeGreaterThan(0);
  expect(dead.runningMax).toBeLessThanOrEqual(10);
});

test('a retry by hand sends what waits, and not while the subscription is paused', async () => {
  const stage = await startStage({ subscriptionTimes: { ...SHORT_TIMES, secondMs: ENDLESS_MS } });
  const { receiver, odoo, subscribe, admin } = stage;
  // The receiver takes one delivery, so that it does not count as away; the other delivery waits for its own retry.
  const [bad, good] = [
    await odoo('create', { name: 'Test bad' }),
    await odoo('create', { name: 'Test good' }),
  ];
  receiver.answer = (response, delivery) =>
    (delivery.json.data.id === bad ? refuseWith(400) : TAKE)(response, delivery, 0);
  await subscribe();
  const list = async (state: 'waiting' | 'delivered') =>
    (await admin.listDeliveries('contacts', { state })).items;
  await expect.poll(() => list('waiting')).toMatchObject([{ record: String(bad), attempts: 1 }]);
  await expect.poll(() => list('delivered')).toMatchObject([{ record: String(good) }]);
  receiver.answer = TAKE;
  expect(await admin.retrySubscription('contacts')).toMatchObject({ state: 'active' });
  await expect.poll(() => list('delivered').then(({ length }) => length)).toBe(2);
  await admin.pauseSubscription('contacts', {});
  await expect(admin.retrySubscription('contacts')).rejects.toMatchObject({
    problem: { status: 409, detail: expect.stringMatching(/is paused.*resume it/) },
  });
});

test('a ping that is taken ends the wait for a retry', async () => {
  // With these times, the ordinary retry comes too late for this test.
  const stage = await startStage({ subscriptionTimes: { ...SHORT_TIMES, secondMs: ENDLESS_MS } });
  const { receiver, odoo, subscribe, admin, show } = stage;
  receiver.answer = refuseWith(500);
  await odoo('create', { name: 'Test one' });
  await subscribe();
  await failed(receiver, stage);
  expect(await admin.pingSubscription('contacts')).toMatchObject({ delivered: false, status: 500 });
  receiver.answer = TAKE;
  expect(await admin.pingSubscription('contacts')).toEqual({
    delivered: true,
    status: 204,
    failure: null,
    duration_ms: expect.any(Number),
  });
  expect(receiver.received.at(-1)?.json).toMatchObject({ type: 'ping', data: { subscription: 'contacts' } });
  await expect.poll(() => receiver.received.at(-1)?.json.type).toBe('res.partner.upserted');
  expect(await show()).toMatchObject({ receiver: { failures: 0, failing_since: null, retry_at: null } });
});

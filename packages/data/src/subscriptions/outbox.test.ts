import { VaultError } from '@erp-proxy/control/instances';
import type { Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, onTestFinished, test } from 'vitest';
import { expectToStay, MOMENT_MS } from '../../../server/test/time.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';

const BODY = JSON.stringify({
  v: 1,
  instance: 'prod',
  model: 'res.partner',
  domain: [],
  fields: ['name'],
  key: null,
  url: 'https://shop.example.com/hook',
  secrets: [],
  updated_at: 0,
});

/** An outbox of a process that holds the shards of a store with one subscription. */
async function startOutbox(options: Pick<OutboxOptions, 'send'> & Partial<OutboxOptions>) {
  const store = openMemoryStore();
  await store.subscriptions.insert({ id: 's', name: 's', body: BODY, createdAt: 0 }, 10);
  const errors: unknown[] = [];
  // No time passes, so that no claim ends.
  const nowMs = () => 0;
  const onError = (error: unknown) => void errors.push(error);
  await store.subscriptions.holdShards('this', { ttlMs: 60_000, latestMs: 60_000 });
  const outbox = new Outbox({
    store: store.subscriptions,
    owner: 'this',
    shards: { holds: () => true, holdsAny: true },
    check: async () => null,
    openSecrets: () => [],
    clock: Date.now,
    nowMs,
    random: () => 0,
    claimMs: 30_000,
    secondMs: 1000,
    slowMs: 60_000,
    beginsWithinMs: 10_000,
    onAttempt() {},
    onDisabled() {},
    onError,
    ...options,
  });
  onTestFinished(() => outbox.close(0));
  return { store, outbox, errors };
}

async function addDelivery(store: Store, id: string): Promise<void> {
  const version = (await store.subscriptions.readProgress('s', 0))?.progressVersion ?? 0;
  const delivery = { id, record: id, type: 't', body: '{}' };
  const reading = { progress: '{}', now: Date.now(), deliveries: [delivery] };
  expect(await store.subscriptions.commitReading('this', 's', version, reading)).toBe(true);
}

test('does not look again and again while a slow receiver keeps what has become due from being sent', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { store, outbox } = await startOutbox({
    async send({ delivery }) {
      sent.push(delivery.id);
      await answered;
      return {
        delivery,
        isTaken: true,
        isGone: false,
        status: 204,
        failure: null,
        retryAfterSeconds: null,
        durationMs: 1,
      };
    },
  });
  await addDelivery(store, 'first');
  outbox.wake();
  await expect.poll(() => sent).toEqual(['first']);
  let looks = 0;
  const { findNextDue } = store.subscriptions;
  store.subscriptions.findNextDue = (...args) => {
    looks++;
    return findNextDue(...args);
  };
  await addDelivery(store, 'second');
  outbox.wake();
  await expect.poll(() => looks).toBeGreaterThan(0);
  await expectToStay(() => sent, ['first']);
  expect(looks).toBeLessThan(10);
  answer();
  await expect.poll(() => sent).toEqual(['first', 'second']);
});

test('a secret that cannot be opened is a failed attempt, with its reason and the delays of retries', async () => {
  const { store, outbox, errors } = await startOutbox({
    send: () => Promise.reject(new Error('nothing can be signed')),
    openSecrets() {
      throw new VaultError('the master key is another one');
    },
  });
  await addDelivery(store, 'first');
  outbox.wake();
  const show = () => store.subscriptions.findByName('s');
  await expect.poll(show).toMatchObject({
    failures: 1,
    lastFailure: 'The secret cannot be opened: the master key is another one',
  });
  const [delivery] = await store.subscriptions.listDeliveries('s', { beforeSeq: null, limit: 1 });
  expect(delivery).toMatchObject({ state: 'waiting', attempts: 1 });
  expect(delivery?.nextAt).toBeGreaterThan(Date.now());
  expect(errors).toEqual([]);
});

test('a refusal while the process stops is no failed attempt: the process itself may be the reason', async () => {
  const { promise: checked, resolve: refuse } = Promise.withResolvers<string>();
  let isChecking = false;
  const { store, outbox } = await startOutbox({
    send: () => Promise.reject(new Error('nothing may be sent')),
    check() {
      isChecking = true;
      return checked;
    },
  });
  await addDelivery(store, 'first');
  outbox.wake();
  await expect.poll(() => isChecking).toBe(true);
  const closed = outbox.close(60_000);
  refuse('overloaded: The proxy is shutting down; send the call again in a moment.');
  await closed;
  expect(await store.subscriptions.findByName('s')).toMatchObject({ failures: 0, lastFailure: null });
  const [delivery] = await store.subscriptions.listDeliveries('s', { beforeSeq: null, limit: 1 });
  expect(delivery).toMatchObject({ state: 'waiting', failure: null });
});

test('receivers that do not answer keep the others waiting for a moment only', async () => {
  const HANGING = 100;
  const sent = new Set<string>();
  const { promise: ended, resolve: end } = Promise.withResolvers<null>();
  const { store, outbox } = await startOutbox({
    slowMs: MOMENT_MS,
    async send({ delivery }) {
      sent.add(delivery.id);
      return ended;
    },
  });
  onTestFinished(() => end(null));
  const add = async (id: string) => {
    await store.subscriptions.insert({ id, name: id, body: BODY, createdAt: 0 }, 1000);
    const delivery = { id, record: '1', type: 't', body: '{}' };
    const reading = { progress: '{}', now: Date.now(), deliveries: [delivery] };
    await store.subscriptions.commitReading('this', id, 0, reading);
  };
  for (let index = 0; index < HANGING; index++) await add(`h${index}`);
  outbox.wake();
  await expect.poll(() => sent.size).toBe(HANGING);
  await add('another');
  outbox.wake();
  await expect.poll(() => sent).toContain('another');
  expect(outbox.sending).toBe(HANGING + 1);
});

test('bounds the deliveries that are being sent to receivers that do not answer', async () => {
  const SUBSCRIPTIONS = 300;
  const { promise: ended, resolve: end } = Promise.withResolvers<null>();
  const { store, outbox } = await startOutbox({ slowMs: 1, send: () => ended });
  onTestFinished(() => end(null));
  for (let index = 0; index < SUBSCRIPTIONS; index++) {
    const id = `h${index}`;
    await store.subscriptions.insert({ id, name: id, body: BODY, createdAt: 0 }, 1000);
    const deliveries = [{ id, record: '1', type: 't', body: '{}' }];
    const reading = { progress: '{}', now: Date.now(), deliveries };
    await store.subscriptions.commitReading('this', id, 0, reading);
  }
  outbox.wake();
  await expect.poll(() => outbox.sending).toBe(256);
  await expectToStay(() => outbox.sending, 256);
});

import { expect, onTestFinished, test } from 'vitest';
import { openMemoryStore } from '../stores/memory/store.ts';
import type { Store } from '../stores/ports.ts';
import type { ChangeReader } from './change-reader.ts';
import { printBody } from './row.ts';
import { createSubscriptionWorker } from './worker.ts';

const POLL = { timeout: 10_000, interval: 10 };
const BODY = printBody({
  v: 1,
  instance: 'prod',
  model: 'res.partner',
  domain: [],
  fields: ['name'],
  url: 'https://shop.example.com/hook',
  interval_seconds: 86_400,
  payload: 'full',
  gone: false,
  start: 'now',
  key: null,
  secrets: [],
  updated_at: 0,
});
const NOTHING = { changes: [], noted: [], state: {}, more: false, isRepeatable: true };

async function openStore(): Promise<Store> {
  const store = openMemoryStore();
  await store.subscriptions.insert({ id: 's', name: 'contacts', body: BODY, createdAt: 0 }, 10);
  return store;
}

function startWorker(store: Store, readChanges: ChangeReader['readChanges']) {
  const errors: unknown[] = [];
  const worker = createSubscriptionWorker({
    store,
    reader: { readChanges, listIds: async () => ({ ids: [] }), findGone: async () => ({ gone: [] }) },
    notices: { listDue: async () => [] },
    send: async () => null,
    owner: 'this',
    retentionMs: 60_000,
    keptMax: 10,
    times: { leaseMs: 15_000, claimMs: 30_000, sendMs: 15_000, secondMs: 10, upkeepMs: 30_000 },
    events: { deliveryEnded() {}, subscriptionTroubled() {} },
    onError: (error) => errors.push(error),
    openSecrets: () => [],
    clock: Date.now,
    nowMs: () => performance.now(),
    random: () => 0.5,
  });
  onTestFinished(() => worker.close(0));
  worker.start();
  return { worker, errors };
}

test('subscriptions are worked although the store failed at the start, without a further change', async () => {
  const store = await openStore();
  const { list } = store.subscriptions;
  const failure = new Error('The store cannot be used: it does not answer in time.');
  let failures = 0;
  store.subscriptions.list = (query) => {
    if (failures === 3) return list(query);
    failures++;
    throw failure;
  };
  let readings = 0;
  const { worker, errors } = startWorker(store, async () => {
    readings++;
    return NOTHING;
  });
  await expect.poll(() => readings, POLL).toBe(1);
  expect(worker.states().isLeading).toBe(true);
  expect(errors).toEqual([failure, failure, failure]);
});

test('a worker that was closed looks for subscriptions no more', async () => {
  const store = await openStore();
  let looks = 0;
  store.subscriptions.list = () => {
    looks++;
    throw new Error('The store cannot be used.');
  };
  const { worker } = startWorker(store, async () => NOTHING);
  await expect.poll(() => looks, POLL).toBeGreaterThan(1);
  await worker.close(0);
  const before = looks;
  // Several times the delay of a retry.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(looks).toBe(before);
});

import { UnknownOutcomeError } from '@erp-proxy/stores';
import type { ChangeListener, Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { buildKey } from '../../../server/test/stores/store-suite.ts';
import {
  BODY,
  makeWorker,
  NOTHING,
  OWNER,
  openStore,
  startWorker,
  TIMES,
} from '../../../server/test/subscriptions/start-worker.ts';
import { expectToStay, monotonicMs, passTurns } from '../../../server/test/time.ts';
import { WATCHED_IDS_MAX } from './progress.ts';
import { printBody } from './row.ts';
import { WORKER_TIMES } from './worker.ts';

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
  await expect.poll(() => readings).toBe(1);
  expect(worker.states().shards).toHaveLength(16);
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
  await expect.poll(() => looks).toBeGreaterThan(1);
  await worker.close(0);
  const before = looks;
  // `expectToStay` waits several times as long as the delay of a retry.
  await expectToStay(() => looks, before);
});

test('a subscription that was deleted while it waited gives its turn to the next one', async () => {
  const store = openMemoryStore();
  const body = printBody({ ...BODY, interval_seconds: 3600 });
  for (let index = 0; index < 6; index++)
    await store.subscriptions.insert({ id: `s${index}`, name: `s${index}`, body, createdAt: 0 }, 10);
  const read: string[] = [];
  const ends: (() => void)[] = [];
  startWorker(store, async ({ id }) => {
    read.push(id);
    await new Promise<void>((resolve) => ends.push(resolve));
    return NOTHING;
  });
  onTestFinished(() => ends.forEach((end) => void end()));
  await expect.poll(() => read).toEqual(['s0', 's1']);
  const { listActive } = store.subscriptions;
  let listed: Awaited<ReturnType<typeof listActive>> = [];
  store.subscriptions.listActive = async (owner, max) => {
    listed = await listActive(owner, max);
    return listed;
  };
  for (const id of ['s2', 's3', 's4']) await store.subscriptions.remove(id, 1);
  await expect.poll(() => listed.length).toBe(3);
  await passTurns();
  for (const end of ends.splice(0)) end();
  await expect.poll(() => read).toEqual(['s0', 's1', 's5']);
});

test('a watched record that is deleted during a reading is gone, and has not left', async () => {
  const store = await openStore({ gone: true, interval_seconds: 30 });
  const told: string[] = [];
  const { commitReading } = store.subscriptions;
  store.subscriptions.commitReading = (owner, id, version, reading) => {
    told.push(...reading.deliveries.map(({ type, record }) => `${type} ${record}`));
    return commitReading(owner, id, version, reading);
  };
  const tell = (changes: ['upsert' | 'left', number][], more = false) => ({
    ...NOTHING,
    changes: changes.map(([change, id]) => ({ change, id, at: null, record: null })),
    more,
  });
  // After the new record 9, the next search for vanished records begins after the other ids. Record 7 was never
  // watched, so its leaving is not reported.
  const readings = [
    NOTHING,
    tell([['upsert', 9]]),
    tell([['left', 4]], true),
    tell([
      ['left', 5],
      ['left', 7],
    ]),
  ];
  const deleted = new Set([4, 5, 7]);
  const { errors } = startWorker(store, async () => readings.shift() ?? NOTHING, {
    nowMs: monotonicMs,
    reader: {
      listIds: async () => ({ ids: [4, 5] }),
      findGone: async (_, ids) => ({
        gone: ids.filter((id) => deleted.has(id) && readings.length < (id === 4 ? 2 : 1)),
      }),
    },
  });
  await expect.poll(() => told.length).toBe(3);
  expect(told).toEqual(['res.partner.upserted 9', 'res.partner.gone 4', 'res.partner.gone 5']);
  expect(errors).toEqual([]);
});

test('a change of one of many watched records stores a small part of their ids', async () => {
  const all = Array.from({ length: WATCHED_IDS_MAX - 9 }, (_, index) => 1000 + index * 7);
  const store = await openStore({ gone: true, interval_seconds: 30 });
  // As an earlier release has stored it.
  const progress = JSON.stringify({ reader: {}, ids: all });
  await store.subscriptions.commitReading(OWNER, 's', 0, { progress, now: 0, deliveries: [] });
  const bytes: number[] = [];
  const { commitReading } = store.subscriptions;
  store.subscriptions.commitReading = (owner, id, version, reading) => {
    bytes.push(JSON.stringify([reading.progress, reading.ids]).length);
    return commitReading(owner, id, version, reading);
  };
  const ids = [1001, 1002, 1003];
  const { errors } = startWorker(
    store,
    async () => {
      const id = ids.shift();
      const change = { change: 'upsert', id: id ?? 0, at: null, record: null } as const;
      return id === undefined ? NOTHING : { ...NOTHING, changes: [change], more: ids.length > 0 };
    },
    { nowMs: monotonicMs },
  );
  await expect.poll(() => bytes.length).toBeGreaterThanOrEqual(3);
  const [first, second, third] = bytes;
  // The first one stores all ids in parts.
  expect(first).toBeGreaterThan(progress.length);
  expect(Math.max(second!, third!)).toBeLessThan(4096);
  const last = await store.subscriptions.readProgress('s', 0);
  expect(last?.ids).toBe([1000, 1001, 1002, 1003, ...all.slice(1)].join());
  expect(errors).toEqual([]);
});

describe('during a reading that fails', () => {
  const INSTANCE = { masterKeyId: 'm', body: '{}' };
  const corrections: [string, (store: Store, tell: ChangeListener) => unknown][] = [
    ['of the instance', ({ instances }) => instances.replace('i', 1, INSTANCE)],
    ['of the key', ({ keys }) => keys.revoke('k', 1)],
    [
      'of the subscription',
      ({ subscriptions }) =>
        subscriptions.replace('s', 1, {
          body: printBody({ ...BODY, key: 'k', updated_at: 1 }),
          restarts: false,
        }),
    ],
    ['that the store may have missed', (_, tell) => tell(null)],
  ];

  test.each(corrections)('a change %s is followed by another reading at once', async (_, correct) => {
    const store = await openStore({ key: 'k' });
    await store.instances.insert({ id: 'i', name: 'prod', ...INSTANCE });
    await store.keys.insert(buildKey({ id: 'k' }));
    const listeners: ChangeListener[] = [];
    const { watch } = store;
    store.watch = (listener) => {
      listeners.push(listener);
      watch(listener);
    };
    let readings = 0;
    const ends: (() => void)[] = [];
    const { worker, errors } = startWorker(store, async () => {
      readings++;
      await new Promise<void>((resolve) => ends.push(resolve));
      return { problem: 'The instance does not answer.', isKeyOver: false };
    });
    await expect.poll(() => readings).toBe(1);
    await correct(store, (change) => {
      for (const listener of listeners) listener(change);
    });
    ends.shift()?.();
    await expect.poll(() => readings).toBe(2);
    ends.shift()?.();
    // Nothing was corrected during the second reading. The pause after it is 864 seconds.
    await expect.poll(() => worker.states().reading).toBe(0);
    await expectToStay(() => readings, 2);
    expect(errors).toEqual([]);
  });
});

test('a failed reading is repeated at once when the store may have missed a change', async () => {
  const store = await openStore();
  const listeners: ChangeListener[] = [];
  store.watch = (listener) => void listeners.push(listener);
  let readings = 0;
  const { worker } = startWorker(store, async () => {
    readings++;
    return { problem: 'The instance does not answer.', isKeyOver: false };
  });
  for (const count of [1, 2, 3]) {
    await expect.poll(() => readings).toBe(count);
    await expect.poll(() => worker.states().reading).toBe(0);
    for (const listener of listeners) listener(null);
  }
});

test('a delivery is tried again in its time although the clock was set back meanwhile', async () => {
  const store = await openStore();
  const delivery = { id: 'd', record: '7', type: 'res.partner.upserted', body: '{}' };
  const reading = { progress: '{"reader":{}}', now: Date.now(), deliveries: [delivery] };
  await store.subscriptions.commitReading(OWNER, 's', 0, reading);
  const start = Date.now();
  let passedMs = 0;
  let backMs = 0;
  let attempts = 0;
  let measured = 0;
  const { measure } = store.subscriptions;
  store.subscriptions.measure = (...args) => {
    measured++;
    return measure(...args);
  };
  startWorker(store, async () => NOTHING, {
    clock: () => start + passedMs - backMs,
    nowMs: () => passedMs,
    times: { ...TIMES, secondMs: 1000, upkeepMs: 20 },
    async send({ delivery: claimed }) {
      attempts++;
      const failed = { isTaken: false, isGone: false, status: 500, failure: 'failed' };
      return { ...failed, delivery: claimed, retryAfterSeconds: null, durationMs: 1 };
    },
  });
  const show = async () => (await store.subscriptions.listDeliveries('s', { beforeSeq: null, limit: 1 }))[0];
  await expect.poll(show).toMatchObject({ state: 'waiting', status: 500 });
  backMs = 3_600_000;
  const before = measured;
  // The second round began after the clock was set back.
  await expect.poll(() => measured).toBeGreaterThan(before + 1);
  // The first retry comes after five seconds.
  passedMs = 4999;
  await expectToStay(() => attempts, 1);
  // The delay has a random addition.
  passedMs = 6000;
  await expect.poll(() => attempts).toBe(2);
});

describe('waits end earlier once after the clock was set back by an hour', () => {
  const HOUR_MS = 3_600_000;
  const nextAt = Date.now() + 5 * HOUR_MS;
  let backMs: number;
  const start = Date.now();
  const options = { times: WORKER_TIMES, clock: () => start - backMs };
  let store: Store;
  beforeEach(async () => {
    backMs = 0;
    store = await openStore();
    const { subscriptions } = store;
    const delivery = { id: 'd', record: '7', type: 'res.partner.upserted', body: '{}' };
    const now = Date.now();
    await subscriptions.commitReading(OWNER, 's', 0, {
      progress: '{"reader":{}}',
      now,
      deliveries: [delivery],
    });
    const claim = {
      owner: OWNER,
      now,
      claim: 'c',
      endsAt: now + 1000,
      receivers: 'working' as const,
      except: [],
    };
    await subscriptions.claimDeliveries({ ...claim, subscriptionsMax: 1, deliveriesMax: 1 });
    const failed = { id: 'd', state: 'waiting' as const, status: 500, failure: 'no', durationMs: 1, nextAt };
    const state = { failures: 1, failingSince: now, retryAt: nextAt, lastFailure: 'no', deliveredAt: null };
    const outcome = { now, results: [failed], ...state, wakesAll: false, disables: null };
    await subscriptions.recordAttempts('s', 'c', outcome);
    await subscriptions.releaseShards(OWNER);
  });

  const readNextAt = async () =>
    (await store.subscriptions.listDeliveries('s', { beforeSeq: null, limit: 1 }))[0]?.nextAt;

  test('although another process takes over after that', async () => {
    const { worker: one } = makeWorker(store, async () => NOTHING, { ...options, owner: 'one' });
    const { worker: two } = makeWorker(store, async () => NOTHING, { ...options, owner: 'two' });
    backMs = HOUR_MS;
    one.start();
    await expect.poll(readNextAt).toBe(nextAt - HOUR_MS);
    await one.close(0);
    two.start();
    await expect.poll(() => two.states().backlogs).toHaveLength(1);
    expect(await readNextAt()).toBe(nextAt - HOUR_MS);
  });

  test('although the first process ends before it has seen that', async () => {
    const { worker: one } = makeWorker(store, async () => NOTHING, { ...options, owner: 'one' });
    const { worker: two } = makeWorker(store, async () => NOTHING, { ...options, owner: 'two' });
    one.start();
    await expect.poll(() => one.states().backlogs).toHaveLength(1);
    backMs = HOUR_MS;
    await one.close(0);
    two.start();
    await expect.poll(readNextAt).toBe(nextAt - HOUR_MS);
  });

  test('although the store did not say whether it had done so', async () => {
    const { advanceWaits } = store.subscriptions;
    store.subscriptions.advanceWaits = async (...args) => {
      await advanceWaits(...args);
      throw new UnknownOutcomeError('The store did not answer.');
    };
    const times = { ...WORKER_TIMES, upkeepMs: 20 };
    const { worker, errors } = makeWorker(store, async () => NOTHING, { ...options, times });
    worker.start();
    await expect.poll(() => worker.states().backlogs).toHaveLength(1);
    backMs = HOUR_MS;
    await expect.poll(() => errors).toHaveLength(1);
    store.subscriptions.advanceWaits = advanceWaits;
    let measured = 0;
    const { measure } = store.subscriptions;
    store.subscriptions.measure = (...args) => {
      measured++;
      return measure(...args);
    };
    await expect.poll(() => measured).toBeGreaterThan(2);
    expect(await readNextAt()).toBe(nextAt - HOUR_MS);
  });
});

test('deliveries from before the clock was set back by a year are sent', async () => {
  const store = await openStore();
  const delivery = { id: 'd', record: '7', type: 'res.partner.upserted', body: '{}' };
  const reading = { progress: '{"reader":{}}', now: Date.now() + 365 * 86_400_000, deliveries: [delivery] };
  await store.subscriptions.commitReading(OWNER, 's', 0, reading);
  const sent: string[] = [];
  startWorker(store, async () => NOTHING, {
    times: { ...TIMES, claimMs: 200, sendMs: 50, upkeepMs: 50 },
    async send({ delivery: { id } }) {
      sent.push(id);
      return null;
    },
  });
  await expect.poll(() => sent).toContain('d');
});

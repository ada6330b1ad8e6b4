/** The part of the store suite about subscriptions and their deliveries. */

import type {
  AttemptOutcome,
  DeliveryBatch,
  DeliveryClaim,
  DeliveryResult,
  StoredSubscription,
  SubscriptionStore,
} from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';

const MAX = 100;
const ALL = Array.from({ length: 16 }, (_, shard) => shard);
/** The process that works the subscriptions. */
const OWNER = 'this';
const HELD = { ttlMs: 60_000, latestMs: 60_000 };

export function buildSubscription(
  changes: { id?: string; name?: string; body?: string; createdBy?: string } = {},
) {
  return { id: 's', name: 'orders', body: '{"url":"https://a.example"}', createdAt: 1000, ...changes };
}

export function describeSubscriptions(use: () => SubscriptionStore): void {
  let store: SubscriptionStore;

  beforeEach(async () => {
    store = use();
    await store.holdShards(OWNER, HELD);
    await store.insert(buildSubscription(), MAX);
  });

  const find = async () => (await store.findByName('orders')) as StoredSubscription;
  /** Commits a reading that found these records. The id of a delivery is `<record>@<now>`. */
  const commit = (now: number, ...records: string[]) => commitAs(OWNER, now, ...records);
  const commitAs = async (owner: string, now: number, ...records: string[]) => {
    const progress = await store.readProgress('s', 0);
    return store.commitReading(owner, 's', progress?.progressVersion ?? 0, {
      progress: `{"now":${now}}`,
      now,
      deliveries: records.map((record) => ({
        id: `${record}@${now}`,
        record,
        type: 'res.partner.upserted',
        body: `{"id":${record}}`,
      })),
    });
  };
  /** Claims deliveries for receivers that work and for receivers that fail. */
  const claim = async (now: number, changes: Partial<DeliveryClaim> = {}) => [
    ...(await claimOf('working', now, changes)),
    ...(await claimOf('failing', now, changes)),
  ];
  const claimOf = (
    receivers: DeliveryClaim['receivers'],
    now: number,
    changes: Partial<DeliveryClaim> = {},
  ) =>
    store.claimDeliveries({
      owner: OWNER,
      receivers,
      now,
      endsAt: now + 30_000,
      claim: `c${now}`,
      subscriptionsMax: 10,
      deliveriesMax: 10,
      except: [],
      ...changes,
    });
  const record = (
    name: string,
    now: number,
    results: Partial<DeliveryResult>[],
    more: Partial<AttemptOutcome> = {},
  ) =>
    store.recordAttempts('s', name, {
      now,
      results: results.map((result) => ({
        id: '',
        state: 'delivered',
        nextAt: now,
        status: 204,
        failure: null,
        durationMs: 5,
        ...result,
      })),
      failures: 0,
      failingSince: null,
      retryAt: null,
      lastFailure: null,
      deliveredAt: now,
      wakesAll: false,
      disables: null,
      ...more,
    });
  const listStates = async () => {
    const deliveries = await store.listDeliveries('s', { beforeSeq: null, limit: 100 });
    return deliveries.map(({ id, state }) => `${id} ${state}`);
  };
  const idsOf = (batches: readonly DeliveryBatch[]) =>
    batches.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));

  test('stores a subscription, its name once', async () => {
    expect(await find()).toEqual({
      ...buildSubscription(),
      createdBy: null,
      state: 'active',
      reason: null,
      version: 1,
      readAt: null,
      problem: null,
      failures: 0,
      failingSince: null,
      retryAt: null,
      lastFailure: null,
      deliveredAt: null,
    });
    expect(await store.insert(buildSubscription({ id: 't' }), MAX)).toBe('conflict');
    expect(await store.insert(buildSubscription({ id: 't', name: 'other' }), 1)).toBe('full');
    expect(await store.insert(buildSubscription({ id: 't', name: 'other' }), 2)).toBe('done');
    expect(
      await store.insert(buildSubscription({ id: 'u', name: 'made', createdBy: '{"id":"x"}' }), MAX),
    ).toBe('done');
    expect(await store.findByName('made')).toMatchObject({ createdBy: '{"id":"x"}' });
    for (const name of ['', 'ORDERS', "o' OR '1'='1", 'orders\0'])
      expect(await store.findByName(name)).toBeNull();
  });

  test('lists subscriptions by name, in pages, by state and by text', async () => {
    await store.insert(
      buildSubscription({ id: 'a', name: 'Zulu', body: '{"url":"https://b.example"}' }),
      MAX,
    );
    await store.insert(buildSubscription({ id: 'b', name: 'alpha' }), MAX);
    await store.setState('b', 1, { state: 'paused', reason: 'for a while', now: 1 });
    const names = async (query: object) =>
      (await store.list({ after: null, limit: 10, ...query })).map(({ name }) => name);
    expect(await names({})).toEqual(['Zulu', 'alpha', 'orders']);
    expect(await names({ after: 'Zulu', limit: 1 })).toEqual(['alpha']);
    expect(await names({ state: 'paused' })).toEqual(['alpha']);
    expect(await names({ search: 'B.EXAMPLE' })).toEqual(['Zulu']);
    expect((await store.listActive(OWNER, 10)).map(({ id }) => id).sort()).toEqual(['a', 's']);
    expect(await store.listActive(OWNER, 1)).toHaveLength(1);
  });

  test('changes one version of a subscription', async () => {
    await commit(2000);
    expect(await store.replace('s', 2, { body: '{}', restarts: true })).toBe('conflict');
    expect(await store.replace('missing', 1, { body: '{}', restarts: true })).toBe('missing');
    expect(await store.replace('s', 1, { body: '{"a":1}', restarts: false })).toBe('done');
    expect(await store.readProgress('s', 1)).toMatchObject({ progress: '{"now":2000}', progressVersion: 1 });
    expect(await store.replace('s', 2, { body: '{"a":2}', restarts: true })).toBe('done');
    expect(await store.readProgress('s', 1)).toMatchObject({
      subscription: { body: '{"a":2}', version: 3 },
      progress: null,
      progressVersion: 2,
    });
    expect(await store.setState('s', 1, { state: 'paused', reason: 'r', now: 1 })).toBe('conflict');
    expect(await store.setState('s', 3, { state: 'paused', reason: 'r', now: 1 })).toBe('done');
    expect(await find()).toMatchObject({ state: 'paused', reason: 'r', version: 4 });
    expect(await store.remove('s', 1)).toBe('conflict');
    expect(await store.remove('s', 4)).toBe('done');
    expect(await store.remove('s', 4)).toBe('missing');
    expect(await store.readProgress('s', 1)).toBeNull();
  });

  test('a reading is stored once, and only while the subscription is active', async () => {
    const reading = { progress: '{"p":1}', now: 2000, deliveries: [] };
    expect(await store.commitReading(OWNER, 's', 0, reading)).toBe(true);
    expect(await store.commitReading(OWNER, 's', 0, reading)).toBe(false);
    await store.setState('s', 1, { state: 'paused', reason: 'r', now: 1 });
    expect(await store.commitReading(OWNER, 's', 1, reading)).toBe(false);
    expect(await store.commitReading(OWNER, 'missing', 0, reading)).toBe(false);
    expect(await store.readProgress('s', 1)).toMatchObject({
      progress: '{"p":1}',
      progressVersion: 1,
      waiting: 0,
    });
  });

  test('remembered ids change by parts, together with the position', async () => {
    let version = 0;
    const storeIds = async (replacesAll: boolean, ...parts: [part: number, ids: string][]) => {
      const ids = { replacesAll, parts: parts.map(([part, text]) => ({ part, ids: text })) };
      expect(
        await store.commitReading(OWNER, 's', version++, { progress: '{}', ids, now: 1, deliveries: [] }),
      ).toBe(true);
      return (await store.readProgress('s', 0))?.ids;
    };
    expect((await store.readProgress('s', 0))?.ids).toBeNull();
    expect(await storeIds(true, [2, '2048'], [-1, '-5,-1'], [0, '7'])).toBe('-5,-1,7,2048');
    expect(await storeIds(false, [0, '7,9'], [2, ''])).toBe('-5,-1,7,9');
    await commit(2000);
    expect((await store.readProgress('s', 0))?.ids).toBe('-5,-1,7,9');
    version++;
    const many = Array.from({ length: 700 }, (_, part): [number, string] => [part, `${part * 1024}`]);
    expect(await storeIds(true, ...many)).toBe(many.map(([, ids]) => ids).join());
    // A reading whose position is not stored changes no ids.
    const late = { progress: '{}', ids: { replacesAll: true, parts: [] }, now: 1, deliveries: [] };
    expect(await store.commitReading(OWNER, 's', 0, late)).toBe(false);
    expect((await store.readProgress('s', 0))?.ids).not.toBeNull();
    expect(await storeIds(true)).toBeNull();
    await storeIds(true, [0, '7']);
    expect(await store.remove('s', 1)).toBe('done');
    await store.insert(buildSubscription(), MAX);
    expect((await store.readProgress('s', 0))?.ids).toBeNull();
  });

  test('records why changes cannot be read, until they can', async () => {
    await store.saveReadingOutcomes(OWNER, [{ id: 's', problem: 'There is no instance.', at: 2000 }]);
    expect(await find()).toMatchObject({ problem: 'There is no instance.', readAt: 2000, version: 1 });
    await commit(3000);
    expect(await find()).toMatchObject({ problem: null, readAt: 3000 });
    await store.saveReadingOutcomes(OWNER, [
      { id: 's', problem: null, at: 4000 },
      { id: 'missing', problem: null, at: 4000 },
    ]);
    expect(await find()).toMatchObject({ problem: null, readAt: 4000 });
  });

  test('claims what is due, byte for byte, once', async () => {
    expect(await store.findNextDue(OWNER, [])).toBeNull();
    const progress = await store.readProgress('s', 0);
    const body = '{"a":"é\\u0000\\"🙂"}';
    await store.commitReading(OWNER, 's', progress?.progressVersion ?? 0, {
      progress: '{}',
      now: 2000,
      deliveries: [{ id: 'm', record: '7', type: 't', body }],
    });
    expect(await store.findNextDue(OWNER, [])).toBe(2000);
    expect(await store.findNextDue(OWNER, ['s'])).toBeNull();
    expect(await claim(1999)).toEqual([]);
    const [batch] = await claim(2000);
    expect(batch?.subscription.id).toBe('s');
    expect(batch?.deliveries).toMatchObject([{ id: 'm', record: '7', type: 't', attempts: 1, body }]);
    expect(await claim(2001)).toEqual([]);
    expect(await store.findNextDue(OWNER, [])).toBe(32_000);
    // The first claim has ended, as if its process had died.
    expect(await claim(32_000)).toMatchObject([{ deliveries: [{ id: 'm', attempts: 2 }] }]);
    await record('c2000', 33_000, [{ id: 'm' }]);
    expect(await listStates()).toEqual(['m waiting']);
    await record('c32000', 33_000, [{ id: 'm' }]);
    expect(await listStates()).toEqual(['m delivered']);
    expect(await store.findNextDue(OWNER, [])).toBeNull();
    expect(await store.listDeliveries('s', { beforeSeq: null, limit: 1 })).toMatchObject([
      { attempts: 2, status: 204, durationMs: 5, endedAt: 33_000, nextAt: null, createdAt: 2000 },
    ]);
  });

  test('claims made at the same moment have no delivery in common', async () => {
    await commit(2000, ...Array.from({ length: 20 }, (_, index) => String(index)));
    const claims = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => claim(2000, { claim: `c${index}`, deliveriesMax: 3 })),
    );
    const ids = claims.flatMap(idsOf);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  test('claims for receivers that work apart from those that fail', async () => {
    await commit(2000, '1', '2');
    expect(await claimOf('failing', 2000)).toEqual([]);
    expect(idsOf(await claimOf('working', 2000, { deliveriesMax: 1 }))).toEqual(['1@2000']);
    await record('c2000', 2100, [{ id: '1@2000', state: 'waiting', nextAt: 3000 }], {
      failures: 1,
      failingSince: 2100,
      retryAt: 3000,
    });
    expect(await claimOf('working', 3000)).toEqual([]);
    expect(idsOf(await claimOf('failing', 3000))).toEqual(['2@2000']);
  });

  test('sends nothing of a subscription that is paused, excepted or removed', async () => {
    await commit(2000, '1');
    expect(await claim(2000, { except: ['s'] })).toEqual([]);
    await store.setState('s', 1, { state: 'paused', reason: 'r', now: 2000 });
    expect(await store.findNextDue(OWNER, [])).toBeNull();
    expect(await claim(2000)).toEqual([]);
    await store.setState('s', 2, { state: 'active', reason: null, now: 2500 });
    expect(await store.findNextDue(OWNER, [])).toBe(2000);
    await store.remove('s', 3);
    expect(await claim(3000)).toEqual([]);
    expect(await store.prune(0, 100, 100)).toBe(1);
  });

  test('a newer version of a record replaces one that waits, and keeps its place', async () => {
    await commit(2000, '1', '2');
    await claim(2000);
    await record(
      'c2000',
      2100,
      [{ id: '1@2000', state: 'waiting', nextAt: 9000, status: 500, failure: 'no' }],
      {
        failures: 1,
        failingSince: 2100,
        retryAt: 9000,
      },
    );
    await commit(3000, '1');
    expect(await listStates()).toEqual(['1@3000 waiting', '2@2000 waiting', '1@2000 merged']);
    expect(await store.findNextDue(OWNER, [])).toBe(9000);
    // While the receiver fails, one delivery is claimed at a time. The other delivery has no recorded result, and is
    // due when its claim ends.
    expect(await claim(9000)).toMatchObject([{ deliveries: [{ id: '1@3000', attempts: 2 }] }]);
  });

  test('a newer version waits while the older one is being sent, and replaces it if that fails', async () => {
    await commit(2000, '1', '2');
    await claim(2000);
    await commit(3000, '1', '2');
    expect(await claim(3000)).toEqual([]);
    await record('c2000', 4000, [{ id: '1@2000' }, { id: '2@2000', state: 'waiting', nextAt: 9000 }]);
    expect(await listStates()).toEqual([
      '2@3000 waiting',
      '1@3000 waiting',
      '2@2000 merged',
      '1@2000 delivered',
    ]);
    expect(idsOf(await claim(4000))).toEqual(['1@3000']);
    await record('c4000', 4100, [{ id: '1@3000' }]);
    expect(await store.findNextDue(OWNER, [])).toBe(9000);
    expect(await claim(9000)).toMatchObject([{ deliveries: [{ id: '2@3000', attempts: 2 }] }]);
  });

  test('a newer version is due at once although the clock was set back since one that was never tried', async () => {
    await commit(3_600_000, '1', '2');
    await claim(3_600_000, { deliveriesMax: 1 });
    await commit(3_601_000, '1');
    await commit(2000, '1', '2');
    expect(await store.findNextDue(OWNER, [])).toBe(2000);
    // The delivery of record 1 is being sent.
    expect(idsOf(await claim(2000))).toEqual(['2@2000']);
    await record('c3600000', 2100, [{ id: '1@3600000' }]);
    expect(idsOf(await claim(2100))).toEqual(['1@2000']);
  });

  test('waits end earlier by the time that the clock was set back', async () => {
    await commit(3_600_000, '1', '2');
    await claim(3_600_000, { deliveriesMax: 1 });
    await record('c3600000', 3_600_100, [{ id: '1@3600000', state: 'waiting', nextAt: 3_900_000 }], {
      failures: 1,
      failingSince: 3_600_100,
      retryAt: 3_900_500,
    });
    expect(await store.findNextDue(OWNER, [])).toBe(3_900_500);
    // The clock was set back by an hour before this reading was stored.
    await commit(1000, '3');
    await store.advanceWaits(ALL, 31_000, 3_600_000);
    const listed = await store.listDeliveries('s', { beforeSeq: null, limit: 10 });
    expect(listed.map(({ id, nextAt }) => [id, nextAt])).toEqual([
      ['3@1000', 1000],
      ['2@3600000', 0],
      ['1@3600000', 300_000],
    ]);
    expect(await find()).toMatchObject({ retryAt: 300_500 });
    expect(await store.findNextDue(OWNER, [])).toBe(300_500);
  });

  test('waits that a clock that was set back left behind are limited', async () => {
    const limits = { now: 2000, claimMs: 30_000, retryMs: 90_000 };
    await commit(3_600_000, '1', '2', '3');
    await claim(3_600_000, { deliveriesMax: 2 });
    await record('c3600000', 3_600_100, [{ id: '1@3600000', state: 'waiting', nextAt: 3_609_000 }], {
      failures: 1,
      failingSince: 3_600_100,
      retryAt: 3_609_000,
    });
    await store.limitWaits({ owner: OWNER, ...limits, now: 3_600_100 });
    expect(await store.findNextDue(OWNER, [])).toBe(3_609_000);
    await store.limitWaits({ owner: OWNER, ...limits });
    const listTimes = async () =>
      (await store.listDeliveries('s', { beforeSeq: null, limit: 10 })).map(({ id, nextAt }) => [id, nextAt]);
    const limited = [
      ['3@3600000', 32_000],
      ['2@3600000', 32_000],
      ['1@3600000', 92_000],
    ];
    expect(await listTimes()).toEqual(limited);
    expect(await find()).toMatchObject({ retryAt: 92_000, failures: 1 });
    expect(await store.findNextDue(OWNER, [])).toBe(92_000);
    await store.limitWaits({ owner: OWNER, ...limits, now: 3000 });
    expect(await listTimes()).toEqual(limited);
  });

  test('the older version is sent first if its sender has died', async () => {
    await commit(2000, '1');
    await claim(2000);
    await commit(3000, '1');
    await commit(3500, '1');
    expect(await listStates()).toEqual(['1@3500 waiting', '1@3000 merged', '1@2000 waiting']);
    expect(idsOf(await claim(40_000))).toEqual(['1@2000']);
    await record('c40000', 41_000, [{ id: '1@2000' }]);
    expect(idsOf(await claim(41_000))).toEqual(['1@3500']);
  });

  test('a receiver that works again gets all that waits, and one that is disabled nothing', async () => {
    await commit(2000, '1', '2', '3');
    await claim(2000);
    const failed = ['1', '2', '3'].map((id) => ({
      id: `${id}@2000`,
      state: 'waiting' as const,
      nextAt: 90_000,
      status: null,
      failure: 'refused',
    }));
    await record('c2000', 2100, failed, {
      failures: 3,
      failingSince: 2100,
      retryAt: 9000,
      lastFailure: 'refused',
    });
    expect(await find()).toMatchObject({
      failures: 3,
      failingSince: 2100,
      retryAt: 9000,
      lastFailure: 'refused',
    });
    expect(await store.findNextDue(OWNER, [])).toBe(90_000);
    expect(idsOf(await claim(90_000))).toEqual(['1@2000']);
    await record('c90000', 90_100, [{ id: '1@2000' }], { wakesAll: true });
    expect(idsOf(await claim(90_100))).toEqual(['2@2000', '3@2000']);
    await record('c90100', 90_200, [{ id: '2@2000', state: 'failed', status: 400 }], { disables: 'gone' });
    expect(await find()).toMatchObject({ state: 'disabled', reason: 'gone', version: 2 });
    expect(await store.findNextDue(OWNER, [])).toBeNull();
    expect(await listStates()).toEqual(['3@2000 waiting', '2@2000 failed', '1@2000 delivered']);
  });

  test('becoming active forgets the failures of the receiver', async () => {
    await commit(2000, '1');
    await claim(2000);
    await record('c2000', 2100, [{ id: '1@2000', state: 'waiting', nextAt: 90_000 }], {
      failures: 1,
      failingSince: 2100,
      retryAt: 90_000,
    });
    await store.setState('s', 1, { state: 'active', reason: null, now: 3000 });
    expect(await find()).toMatchObject({ failures: 0, failingSince: null, retryAt: null });
    expect(await store.findNextDue(OWNER, [])).toBe(3000);
  });

  test('a ping is logged, and one that the receiver takes ends the wait for a retry', async () => {
    await commit(2000, '1');
    await claim(2000);
    await record('c2000', 2100, [{ id: '1@2000', state: 'waiting', nextAt: 90_000 }], {
      failures: 1,
      failingSince: 2100,
      retryAt: 90_000,
    });
    const ping = { type: 'ping', body: '{}', status: 500, failure: 'no', durationMs: 3 };
    await store.logDelivery('s', { id: 'p1', state: 'failed', ...ping }, 2500);
    expect(await find()).toMatchObject({ failures: 1, lastFailure: 'no' });
    await store.logDelivery('s', { ...ping, id: 'p2', state: 'delivered', status: 200, failure: null }, 2600);
    expect(await find()).toMatchObject({ failures: 0, retryAt: null, deliveredAt: 2600 });
    expect(await store.findNextDue(OWNER, [])).toBe(2600);
    expect(await listStates()).toEqual(['p2 delivered', 'p1 failed', '1@2000 waiting']);
    expect(await store.replay('s', 'p1', 3000)).toBe('conflict');
  });

  test('replays one delivery, or the newest of each record since a time', async () => {
    await commit(2000, '1', '2');
    await claim(2000);
    await record('c2000', 2100, [{ id: '1@2000' }, { id: '2@2000', state: 'failed' }]);
    await commit(3000, '1');
    expect(await store.replay('s', '1@2000', 3000)).toBe('conflict');
    expect(await store.replay('s', '1@3000', 3000)).toBe('conflict');
    expect(await store.replay('s', 'missing', 3000)).toBe('missing');
    expect(await store.replay('other', '2@2000', 3000)).toBe('missing');
    expect(await store.replay('s', '2@2000', 3000)).toBe('done');
    expect(await claim(3000)).toMatchObject([
      { deliveries: [{ id: '2@2000', attempts: 1 }, { id: '1@3000' }] },
    ]);
    await record('c3000', 3100, [{ id: '1@3000' }, { id: '2@2000' }]);
    expect(await store.replaySince('s', 2500, 4000)).toBe(1);
    expect(await store.replaySince('s', 0, 4000)).toBe(1);
    expect(await listStates()).toEqual(['1@3000 waiting', '2@2000 waiting', '1@2000 delivered']);
    expect(idsOf(await claim(4000))).toEqual(['2@2000', '1@3000']);
  });

  test('lists deliveries in pages and by state', async () => {
    await commit(2000, '1', '2', '3');
    const [newest] = await store.listDeliveries('s', { beforeSeq: null, limit: 1 });
    expect(newest?.id).toBe('3@2000');
    const next = await store.listDeliveries('s', { beforeSeq: newest?.seq ?? 0, limit: 1 });
    expect(next.map(({ id }) => id)).toEqual(['2@2000']);
    expect(await store.listDeliveries('s', { beforeSeq: null, limit: 9, state: 'failed' })).toEqual([]);
    expect(await store.listDeliveries('other', { beforeSeq: null, limit: 9 })).toEqual([]);
  });

  test('measures what waits, the oldest first', async () => {
    await store.insert(buildSubscription({ id: 't', name: 'a' }), MAX);
    await commit(2000, '1', '2');
    expect(await store.measure(OWNER, 10)).toEqual([
      { name: 'orders', state: 'active', failures: 0, problem: null, waiting: 2, oldestAt: 2000 },
      { name: 'a', state: 'active', failures: 0, problem: null, waiting: 0, oldestAt: null },
    ]);
    expect(await store.measure(OWNER, 1)).toHaveLength(1);
    expect(await store.readProgress('s', 1)).toMatchObject({ waiting: 1 });
  });

  describe('shards', () => {
    const hold = (owner: string, ttlMs = 60_000) => store.holdShards(owner, { ttlMs, latestMs: 60_000 });
    const ALL_OF = (...held: number[][]) => held.flat().sort((one, other) => one - other);

    beforeEach(() => store.releaseShards(OWNER));

    test('are divided among the processes that ask, and each belongs to one', async () => {
      expect(await hold('one')).toEqual(ALL);
      // The first process learns of the second one when it asks again.
      expect(await hold('two')).toEqual([]);
      const one = await hold('one');
      expect(one).toHaveLength(8);
      const two = await hold('two');
      expect(ALL_OF(one, two)).toEqual(ALL);
      // A process that holds its part keeps it.
      expect(await hold('one')).toEqual(one);
      expect(await hold('two')).toEqual(two);
      for (const owner of ['three', 'one', 'two']) await hold(owner);
      const divided = [await hold('one'), await hold('two'), await hold('three')];
      expect(ALL_OF(...divided)).toEqual(ALL);
      expect(divided.map(({ length }) => length).sort()).toEqual([5, 5, 6]);
    });

    test('go to the others when a process releases them or dies', async () => {
      for (const owner of ['one', 'two', 'one', 'two']) await hold(owner);
      await store.releaseShards('one');
      expect(await hold('two')).toEqual(ALL);
      await hold('dead', 50);
      await hold('two');
      await hold('dead', 50);
      await expect.poll(() => hold('two')).toEqual(ALL);
    });

    test('return after the clock was set back', async () => {
      await store.holdShards('dead', { ttlMs: 3_600_000, latestMs: 3_600_000 });
      expect(await store.holdShards('two', { ttlMs: 15_000, latestMs: 3_600_000 })).toEqual([]);
      expect(await store.holdShards('two', { ttlMs: 15_000, latestMs: 16_000 })).toEqual(ALL);
    });

    test('that processes ask for at the same moment belong to one each', async () => {
      const owners = Array.from({ length: 20 }, (_, index) => `o${index}`);
      for (let round = 0; round < 3; round++) {
        const held = await Promise.all(owners.map((owner) => hold(owner)));
        expect(new Set(held.flat()).size).toBe(held.flat().length);
      }
      // There are more processes than shards.
      const held = await Promise.all(owners.map((owner) => hold(owner)));
      expect(ALL_OF(...held)).toEqual(ALL);
    });

    test('another process sees, changes and sends nothing of the subscriptions in a shard', async () => {
      await hold('one');
      await commitAs('one', 2000, '1', '2');
      const isSeen = async (owner: string) => [
        (await store.listActive(owner, 9)).length,
        (await store.findNextDue(owner, [])) !== null,
        (await store.measure(owner, 9)).length,
      ];
      expect(await isSeen('one')).toEqual([1, true, 1]);
      expect(await isSeen('two')).toEqual([0, false, 0]);
      expect(await commitAs('two', 3000, '1')).toBe(false);
      expect(await claim(3000, { owner: 'two' })).toEqual([]);
      await store.saveReadingOutcomes('two', [{ id: 's', problem: 'no', at: 9000 }]);
      expect(await find()).toMatchObject({ readAt: 2000, problem: null });
      await store.limitWaits({ owner: 'two', now: 0, claimMs: 1, retryMs: 1 });
      await store.advanceWaits([7], 0, 1000);
      expect(await store.findNextDue('one', [])).toBe(2000);
      await store.advanceWaits([0], 0, 1000);
      expect(await store.findNextDue('one', [])).toBe(1000);
    });

    test('a process that was stopped until its lease ended stores nothing, and claims nothing', async () => {
      await hold('stopped', 50);
      await expect.poll(() => hold('other')).toEqual(ALL);
      expect(await commitAs('stopped', 2000, '1')).toBe(false);
      expect(await commitAs('other', 3000, '1')).toBe(true);
      expect(await claim(4000, { owner: 'stopped' })).toEqual([]);
      expect(idsOf(await claim(4000, { owner: 'other' }))).toEqual(['1@3000']);
    });

    test('are about as large as each other, for subscriptions with random ids', async () => {
      await hold(OWNER);
      for (let index = 0; index < 320; index++) {
        const id = crypto.randomUUID();
        await store.insert(buildSubscription({ id, name: id }), 1000);
      }
      const counts = new Map<number, number>();
      for (const { shard } of await store.listActive(OWNER, 1000))
        counts.set(shard, (counts.get(shard) ?? 0) + 1);
      expect([...counts.keys()].sort((one, other) => one - other)).toEqual(ALL);
      expect(Math.max(...counts.values())).toBeLessThan(60);
    });
  });

  test('a process whose deliveries were all claimed by another one does not change the receiver', async () => {
    await commit(2000, '1');
    await claim(2000);
    await claim(40_000);
    await record('c2000', 41_000, [{ id: '1@2000', state: 'waiting', nextAt: 50_000 }], {
      failures: 1,
      failingSince: 41_000,
      retryAt: 50_000,
      lastFailure: 'late',
    });
    expect(await find()).toMatchObject({ failures: 0, retryAt: null, lastFailure: null });
  });

  test('removes ended deliveries by age and number, never waiting ones', async () => {
    await commit(2000, '1', '2', '3', '4');
    await claim(2000);
    await record('c2000', 3000, [{ id: '1@2000' }]);
    await record('c2000', 4000, [{ id: '2@2000' }, { id: '3@2000' }]);
    expect(await store.prune(3000, 10, 10)).toBe(0);
    expect(await store.prune(3001, 10, 10)).toBe(1);
    expect(await listStates()).toEqual(['4@2000 waiting', '3@2000 delivered', '2@2000 delivered']);
    expect(await store.prune(0, 1, 10)).toBe(1);
    expect(await listStates()).toEqual(['4@2000 waiting', '3@2000 delivered']);
    await commit(5000, '5', '6', '7');
    await claim(5000);
    await record('c5000', 6000, [{ id: '5@5000' }, { id: '6@5000' }, { id: '7@5000' }]);
    // One call removes at most the given number, so that it does not take long.
    expect(await store.prune(0, 1, 2)).toBe(2);
    expect(await store.prune(0, 1, 2)).toBe(1);
    expect(await store.prune(0, 1, 2)).toBe(0);
  });

  test('behaves as the store in memory, whatever is done to it', async () => {
    const action = fc.record({
      kind: fc.constantFrom(
        'commit',
        'claim',
        'record',
        'fail',
        'pause',
        'resume',
        'replay',
        'ping',
        'limit',
        'prune',
      ),
      records: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
      wait: fc.constantFrom(0, 1, 1000, 40_000, -30_000),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
        const id = `r${++round}`;
        const stores = [store, openMemoryStore().subscriptions];
        for (const each of stores) await each.holdShards(OWNER, HELD);
        for (const each of stores) await each.insert(buildSubscription({ id, name: id }), 10_000);
        let now = 1_000_000;
        let claimed: DeliveryBatch | undefined;
        let name = '';
        const both = async (run: (each: SubscriptionStore) => unknown) => {
          const [one, other] = await Promise.all(stores.map(async (each) => run(each)));
          expect(withoutSeq(one)).toEqual(withoutSeq(other));
          return one;
        };
        for (const [index, { kind, records, wait }] of actions.entries()) {
          now += wait;
          const row = (await store.findByName(id)) as StoredSubscription;
          switch (kind) {
            case 'commit': {
              const progress = await store.readProgress(id, 0);
              await both((each) =>
                each.commitReading(OWNER, id, progress?.progressVersion ?? 0, {
                  progress: `${index}`,
                  now,
                  deliveries: records.map((it) => ({
                    id: `${id}-${index}-${it}`,
                    record: String(it),
                    type: 't',
                    body: '{}',
                  })),
                }),
              );
              break;
            }
            case 'claim': {
              name = `${id}-${index}`;
              // The store of the suite also has the rows of earlier rounds.
              const others = (await store.listActive(OWNER, 10_000))
                .map((it) => it.id)
                .filter((it) => it !== id);
              const wanted = {
                owner: OWNER,
                now,
                endsAt: now + 30_000,
                claim: name,
                subscriptionsMax: 5,
                deliveriesMax: 2,
                except: others,
                receivers: row.failures > 0 ? ('failing' as const) : ('working' as const),
              };
              claimed = ((await both((each) => each.claimDeliveries(wanted))) as DeliveryBatch[])[0];
              const heads = claimed?.deliveries.map((it) => it.record) ?? [];
              expect(new Set(heads).size).toBe(heads.length);
              break;
            }
            case 'record':
            case 'fail': {
              const isTaken = kind === 'record';
              const results = (claimed?.deliveries ?? []).map(
                (it): DeliveryResult => ({
                  id: it.id,
                  state: isTaken ? 'delivered' : it.attempts > 3 ? 'failed' : 'waiting',
                  nextAt: now + 5000,
                  status: isTaken ? 200 : 500,
                  failure: isTaken ? null : 'no',
                  durationMs: 1,
                }),
              );
              const outcome: AttemptOutcome = {
                now,
                results,
                failures: isTaken ? 0 : row.failures + 1,
                failingSince: isTaken ? null : (row.failingSince ?? now),
                retryAt: isTaken ? null : now + 5000,
                lastFailure: isTaken ? row.lastFailure : 'no',
                deliveredAt: isTaken ? now : row.deliveredAt,
                wakesAll: isTaken && row.failures > 2,
                disables: null,
              };
              if (claimed !== undefined) await both((each) => each.recordAttempts(id, name, outcome));
              claimed = undefined;
              break;
            }
            case 'pause':
              await both((each) => each.setState(id, row.version, { state: 'paused', reason: 'r', now }));
              break;
            case 'resume':
              await both((each) => each.setState(id, row.version, { state: 'active', reason: null, now }));
              break;
            case 'replay':
              await both((each) => each.replaySince(id, now - 40_000, now));
              break;
            case 'limit':
              await both((each) => each.limitWaits({ owner: OWNER, now, claimMs: 30_000, retryMs: 60_000 }));
              await both((each) => each.advanceWaits(ALL, now + 30_000, 7000));
              break;
            case 'ping': {
              const ping = {
                id: `${id}-${index}`,
                type: 'ping',
                body: '{}',
                status: 200,
                failure: null,
                durationMs: 1,
              };
              await both((each) => each.logDelivery(id, { ...ping, state: 'delivered' }, now));
              break;
            }
            default:
              await Promise.all(stores.map(async (each) => each.prune(now - 60_000, 2, 100)));
          }
          await both((each) => each.listDeliveries(id, { beforeSeq: null, limit: 100 }));
          await both((each) => each.findByName(id));
        }
        await store.remove(id, ((await store.findByName(id)) as StoredSubscription).version);
      }),
      { numRuns: countCases(40) },
    );
  });
}

/** Numbers of deliveries differ between stores. Their order does not. */
function withoutSeq(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (name, member) => (name === 'seq' ? undefined : member)));
}

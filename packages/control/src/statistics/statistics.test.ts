import type { CallRecord } from '@erp-proxy/observe/events';
import type { Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { beforeEach, expect, test } from 'vitest';
import { createStatistics } from './statistics.ts';

const NOON = Date.UTC(2026, 10, 25, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let store: Store;
let now: number;
let queued: number;
const errors: unknown[] = [];
beforeEach(() => {
  store = openMemoryStore();
  now = NOON;
  queued = 0;
  errors.length = 0;
});

function open(process: string) {
  const statistics = createStatistics({
    store: store.statistics,
    leases: store.leases,
    process,
    clock: () => now,
    countQueued: () => queued,
    onError: (error) => errors.push(error),
  });
  const call = (changes: Partial<CallRecord> = {}) =>
    statistics.events.callEnded!({
      instance: 'prod',
      upstream: 'https://erp.example.com',
      clientId: 'c1',
      model: 'res.partner',
      method: 'read',
      outcome: 'ok',
      sharedFrom: null,
      totalMs: 11,
      upstreamMs: 10,
      ...changes,
    } as CallRecord);
  return { ...statistics, call };
}

test('adds the calls of all processes, by minute and by hour', async () => {
  const [one, two] = [open('one'), open('two')];
  one.call();
  one.call({ outcome: 'access_error' });
  two.call({ sharedFrom: 'flight', upstreamMs: null, totalMs: 1 });
  two.events.requestRefused!({ clientId: 'c2', outcome: 'rate_limited' } as never);
  two.events.requestsShed!(5);
  now += MINUTE;
  two.call({ outcome: 'replayed' });
  await two.flush();
  const minutes = await one.query({ since: NOON, until: NOON + HOUR });
  expect(minutes).toMatchObject({ step: 'minute', total: { calls: 10, shared: 1, replayed: 1, refused: 6 } });
  expect(minutes.total.errors).toEqual({ overloaded: 5, access_error: 1, rate_limited: 1 });
  expect(minutes.periods.map(({ at, calls }) => [at, calls])).toEqual([
    ['2026-11-25T12:00:00.000Z', 9],
    ['2026-11-25T12:01:00.000Z', 1],
  ]);
  now += HOUR;
  one.call();
  await Promise.all([one.flush(), two.flush()]);
  const hours = await one.query({ since: NOON, until: now + 1, step: 'hour' });
  expect(hours.periods.map(({ calls }) => calls)).toEqual([10, 1]);
  expect(errors).toEqual([]);
});

test('groups and filters calls', async () => {
  const statistics = open('one');
  for (let count = 0; count < 3; count++) statistics.call({ method: 'write', clientId: 'c2' });
  statistics.call();
  statistics.call({ instance: null });
  const by = await statistics.query({ by: 'action' });
  expect(by.groups.map(({ name, calls }) => [name, calls])).toEqual([
    ['write', 3],
    ['read', 2],
  ]);
  expect((await statistics.query({ by: 'action', limit: 1 })).groups).toHaveLength(1);
  expect((await statistics.query({ key: 'c1' })).total.calls).toBe(2);
  const own = await statistics.query({ key: 'c1', instance: 'https://erp.example.com' });
  expect(own.total.calls).toBe(1);
  expect((await statistics.query({ model: 'sale.order' })).total).toMatchObject({ calls: 0, odoo_ms: null });
});

test('shows what is in progress and the peaks', async () => {
  const statistics = open('one');
  for (let count = 0; count < 4; count++) statistics.events.requestStarted!();
  for (let count = 0; count < 3; count++) statistics.events.requestEnded!();
  queued = 9;
  statistics.call();
  const { now: current, periods } = await statistics.query({});
  expect(current).toEqual({ in_flight: 1, queued: 9 });
  expect(periods[0]).toMatchObject({ in_flight_max: 4, queued_max: 9 });
});

test('counts go on while the store is away, and are written afterwards', async () => {
  const failing = { ...store.statistics };
  const statistics = createStatistics({
    store: { ...failing, put: (rows) => put(rows) },
    leases: store.leases,
    process: 'one',
    clock: () => now,
    countQueued: () => 0,
    onError: (error) => errors.push(error),
  });
  let put: typeof failing.put = () => {
    throw new Error('away');
  };
  const record = { outcome: 'ok', totalMs: 1, upstreamMs: null, sharedFrom: null } as CallRecord;
  for (let minute = 0; minute < 3; minute++) {
    statistics.events.callEnded!(record);
    await expect(statistics.flush()).rejects.toThrow('away');
    now += MINUTE;
  }
  expect(errors).toHaveLength(1);
  put = failing.put;
  await statistics.flush();
  expect((await statistics.query({ since: NOON, until: NOON + HOUR })).total.calls).toBe(3);
});

test('a clock that is set back loses no counts', async () => {
  const statistics = open('one');
  statistics.call();
  now += MINUTE;
  statistics.call();
  await statistics.flush();
  now -= MINUTE;
  statistics.call();
  await statistics.flush();
  expect((await statistics.query({ since: NOON - HOUR, until: NOON + HOUR })).total.calls).toBe(3);
});

test('old periods are removed', async () => {
  const rows = [NOON - 25 * HOUR, NOON - 23 * HOUR].map((startsAt) => ({
    startsAt,
    process: 'old',
    body: '{}',
  }));
  await store.statistics.put(rows.map((row) => ({ ...row, step: 'minute' as const })));
  await store.statistics.put([{ startsAt: NOON - 31 * 24 * HOUR, process: 'old', body: '{}', step: 'hour' }]);
  const statistics = open('one');
  statistics.start();
  const list = (step: 'minute' | 'hour') =>
    store.statistics.list({ step, since: 0, until: NOON, after: null, limit: 10 });
  await expect.poll(async () => (await list('minute')).length).toBe(1);
  await expect.poll(async () => (await list('hour')).length).toBe(0);
  await statistics.close();
});

test('damaged rows count as empty', async () => {
  const bodies = ['', '{', 'null', '{"cells":3}', '{"cells":[3,[],[1,2,3,4,5,6,7,8]]}', '{"most":["x",-1]}'];
  await store.statistics.put(
    bodies.map((body, index) => ({ step: 'minute' as const, startsAt: NOON, process: `p${index}`, body })),
  );
  const { total } = await open('one').query({ since: NOON, until: NOON + HOUR });
  expect(total.calls).toBe(0);
});

test('lists the methods that clients have called, each once, of all processes', async () => {
  const [one, two] = [open('one'), open('two')];
  one.call();
  two.call();
  two.call({ method: 'x_sync', model: 'crm.lead' });
  one.call({ method: 'x_denied', outcome: 'policy_denied' });
  await two.flush();
  const called = [
    { client: 'c1', model: 'res.partner', method: 'read' },
    { client: 'c1', model: 'crm.lead', method: 'x_sync' },
  ];
  expect(await one.listCalled(now - HOUR)).toEqual(called);
  now += 2 * HOUR;
  expect(await one.listCalled(now)).toEqual([]);
});

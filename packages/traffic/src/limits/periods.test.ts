import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreError, UnknownOutcomeError } from '@erp-proxy/stores';
import type { CallCountStore } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { PERIODS, PeriodCounts, type PeriodLimit } from './periods.ts';

const HOUR_MS = 3_600_000;
const LAST_HOUR = Date.UTC(2026, 11, 31, 23);

let now: number;
let store: CallCountStore;
let opened: PeriodCounts[];
const errors: unknown[] = [];

beforeEach(() => {
  now = LAST_HOUR;
  store = openMemoryStore().callCounts;
  opened = [];
  errors.length = 0;
});
afterEach(async () => {
  for (const counts of opened) await counts.close();
});

/** Opens the counts of one process. */
function open(changes: Partial<CallCountStore> = {}): PeriodCounts {
  const counts = new PeriodCounts({
    clock: () => now,
    store: { ...store, ...changes },
    onError: (error) => errors.push(error),
  });
  opened.push(counts);
  return counts;
}

test('counts until the end of the month in UTC, which can be the end of the year', () => {
  const counts = new PeriodCounts({ clock: () => now });
  counts.add('per_month', 'a', 2);
  expect(counts.check('per_month', 'a', 3, 1)).toEqual({
    ok: true,
    remaining: 0,
    resetSeconds: 3600,
    seconds: 31 * 86_400,
  });
  expect(counts.check('per_month', 'a', 3, 2)).toMatchObject({
    ok: false,
    remaining: 1,
    retryAfterSeconds: 3600,
  });
  expect(counts.check('per_month', 'a', 3, 4)).toMatchObject({ ok: false, retryAfterSeconds: null });
  now += HOUR_MS;
  expect(counts.read('per_month', 'a')).toEqual({ period: '2027-01', calls: 0, endsAt: Date.UTC(2027, 1) });
  now -= 1;
  expect(counts.read('per_month', 'a').period).toBe('2026-12');
});

test('counts until midnight UTC', () => {
  const counts = new PeriodCounts({ clock: () => now });
  counts.add('per_day', 'a', 2);
  expect(counts.check('per_day', 'a', 3, 1)).toEqual({
    ok: true,
    remaining: 0,
    resetSeconds: 3600,
    seconds: 86_400,
  });
  expect(counts.check('per_day', 'b', 3, 3).ok).toBe(true);
  now += HOUR_MS - 1;
  expect(counts.check('per_day', 'a', 3, 2)).toMatchObject({ ok: false, remaining: 1, retryAfterSeconds: 1 });
  now += 1;
  expect(counts.check('per_day', 'a', 3, 2)).toMatchObject({ ok: true, resetSeconds: 86_400 });
  expect(counts.read('per_day', 'a')).toEqual({ period: '2027-01-01', calls: 0, endsAt: now + 24 * HOUR_MS });
});

test.each([
  ['forward', 31],
  ['back', -31],
])('starts new counts when the clock jumps %s to another period', (_direction, days) => {
  const counts = new PeriodCounts({ clock: () => now });
  for (const { limit } of PERIODS) counts.add(limit, 'a', 3);
  now += days * 24 * HOUR_MS;
  for (const { limit } of PERIODS)
    expect(counts.check(limit, 'a', 3, 1)).toMatchObject({ ok: true, remaining: 2 });
});

test('the calls of a day and of a month are counted apart', async () => {
  const first = open();
  first.add('per_day', 'a', 1);
  first.add('per_month', 'a', 2);
  await first.close();
  expect([await store.read('2026-12-31', 'a'), await store.read('2026-12', 'a')]).toEqual([1, 2]);
  const second = open();
  for (const { limit } of PERIODS) await second.load(limit, 'a');
  expect([second.read('per_day', 'a').calls, second.read('per_month', 'a').calls]).toEqual([1, 2]);
});

test('a process that starts knows the calls of those before', async () => {
  const first = open();
  await first.load('per_month', 'a');
  first.add('per_month', 'a', 5);
  await first.close();
  const second = open();
  await second.load('per_month', 'a');
  expect(second.read('per_month', 'a').calls).toBe(5);
  const read = vi.spyOn(store, 'read');
  await second.load('per_month', 'a');
  expect(read).not.toHaveBeenCalled();
});

test('writes within a second, without being asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const counts = open();
  await counts.load('per_month', 'a');
  counts.add('per_month', 'a', 5);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await store.read('2026-12', 'a')).toBe(5);
});

test('processes learn the calls of each other when they write', async () => {
  const [one, other] = [open(), open()];
  for (const counts of [one, other]) await counts.load('per_month', 'a');
  one.add('per_month', 'a', 5);
  await one.flush();
  expect(other.read('per_month', 'a').calls).toBe(0);
  other.add('per_month', 'a', 1);
  await other.flush();
  expect(other.read('per_month', 'a').calls).toBe(6);
});

test('calls of the month before are written to that month', async () => {
  const counts = open();
  await counts.load('per_month', 'a');
  counts.add('per_month', 'a', 5);
  now += HOUR_MS;
  await counts.load('per_month', 'a');
  counts.add('per_month', 'a', 1);
  await counts.flush();
  expect([await store.read('2026-12', 'a'), await store.read('2027-01', 'a')]).toEqual([5, 1]);
  expect(counts.read('per_month', 'a').calls).toBe(1);
});

test('while the store is away, counts go on and are written afterwards; one error is reported', async () => {
  let isAway = true;
  const present = () => {
    if (isAway) throw new StoreError('away');
    return store;
  };
  store.add([{ period: '2026-12', clientId: 'a', calls: 10 }]);
  const counts = open({
    read: (period, clientId) => present().read(period, clientId),
    add: (added) => present().add(added),
  });
  await counts.load('per_month', 'a');
  for (let call = 0; call < 3; call++) {
    counts.add('per_month', 'a', 1);
    await expect(counts.flush()).rejects.toThrow('away');
  }
  expect(counts.read('per_month', 'a').calls).toBe(3);
  expect(errors).toHaveLength(1);
  isAway = false;
  await counts.flush();
  expect(counts.read('per_month', 'a').calls).toBe(13);
  expect(await store.read('2026-12', 'a')).toBe(13);
});

test('calls that may have been written are not written again', async () => {
  let isLost = true;
  const counts = open({
    add(added) {
      const sums = store.add(added);
      if (isLost) throw new UnknownOutcomeError('the answer is lost');
      return sums;
    },
  });
  await counts.load('per_month', 'a');
  counts.add('per_month', 'a', 5);
  await expect(counts.flush()).rejects.toThrow('lost');
  isLost = false;
  counts.add('per_month', 'a', 1);
  await counts.flush();
  expect(counts.read('per_month', 'a').calls).toBe(6);
});

test('writes many keys in batches of 200', async () => {
  const sizes: number[] = [];
  const counts = open({
    add(added) {
      sizes.push(added.length);
      return store.add(added);
    },
  });
  for (let key = 0; key < 450; key++) counts.add('per_month', `${key}`, 1);
  await counts.flush();
  expect(sizes).toEqual([200, 200, 50]);
});

test('no call is lost or counted twice, however processes, writes and restarts alternate', async () => {
  const step = fc.record({
    process: fc.nat({ max: 2 }),
    kind: fc.constantFrom('add', 'add', 'flush', 'start', 'restart', 'wait'),
    limit: fc.constantFrom(...PERIODS.map(({ limit }) => limit)),
    key: fc.constantFrom('a', 'b'),
    calls: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      store = openMemoryStore().callCounts;
      const late: Partial<CallCountStore> = {
        async add(added) {
          await nextTurn();
          return store.add(added);
        },
        async read(period, clientId) {
          await nextTurn();
          return store.read(period, clientId);
        },
      };
      const processes = [open(late), open(late), open(late)];
      const made = new Map<string, number>();
      const readMade = (limit: PeriodLimit, key: string) => made.get(`${limit} ${key}`) ?? 0;
      const waits: Promise<unknown>[] = [];
      for (const { process, kind, limit, key, calls } of steps) {
        const counts = processes[process] as PeriodCounts;
        if (kind === 'add') {
          await counts.load(limit, key);
          counts.add(limit, key, calls);
          made.set(`${limit} ${key}`, readMade(limit, key) + calls);
        } else if (kind === 'flush') waits.push(counts.flush());
        else if (kind === 'wait') await nextTurn();
        else if (kind === 'restart') {
          waits.push(counts.close());
          processes[process] = open(late);
        } else waits.push(counts.load(limit, key));
        // A process never knows more calls than were made.
        for (const each of processes)
          expect(each.read(limit, key).calls).toBeLessThanOrEqual(readMade(limit, key));
      }
      for (const counts of processes) await counts.flush();
      await Promise.all(waits);
      for (const key of ['a', 'b']) {
        expect(await store.read('2026-12', key)).toBe(readMade('per_month', key));
        expect(await store.read('2026-12-31', key)).toBe(readMade('per_day', key));
      }
    }),
    { numRuns: countCases(200) },
  );
});

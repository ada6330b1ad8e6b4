import type { Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { createExpiryNotices, type ExpiryNotice, type ExpiryNotices } from './expiry-notices.ts';
import { createKeys, type Keys, type NewKey } from './keys.ts';

const DAY_MS = 86_400_000;
/** The real time, because leases use the clock of the store. */
const START = Date.now();

let now: number;
let store: Store;
let keys: Keys;
let given: ExpiryNotice[];

beforeEach(async () => {
  now = START;
  store = openMemoryStore();
  keys = await createKeys({ store, clock: () => now });
  given = [];
});

function open(noticeDays = 14): ExpiryNotices {
  return createExpiryNotices({
    store: store.keys,
    leases: store.leases,
    clock: () => now,
    noticeDays,
    onNotice: (notice) => given.push(notice),
    onError: (error) => {
      throw error;
    },
  });
}

const create = (days: number): Promise<NewKey> =>
  keys.create({ name: 'shop', expiresAt: START + days * DAY_MS });

async function rotate(id: string, overlapDays: number): Promise<NewKey> {
  const fresh = await keys.rotate(id, { overlapMs: overlapDays * DAY_MS });
  if (typeof fresh === 'object' && 'key' in fresh) return fresh;
  throw new Error('not rotated');
}

/** Checks on each of these days, and returns the kinds of the notices with their days. */
async function checkOn(notices: ExpiryNotices, days: readonly number[]): Promise<[number, string][]> {
  const found: [number, string][] = [];
  for (const day of days) {
    now = START + day * DAY_MS;
    given = [];
    await notices.check();
    found.push(...given.map(({ kind }): [number, string] => [day, kind]));
  }
  return found;
}

test('gives a notice 14 days before, 3 days before and at the end, once each', async () => {
  const { record } = await create(30);
  const days = [0, 15.9, 16, 17, 26.9, 27, 28, 29.9, 30, 30.5, 31, 40];
  expect(await checkOn(open(), days)).toEqual([
    [16, 'expiring'],
    [27, 'expiring'],
    [30, 'expired'],
  ]);
  now = START + 30 * DAY_MS;
  await open().check();
  expect(given).toEqual([]);
  const { id, clientId, expiresAt } = record;
  now = START + 16 * DAY_MS;
  const notices = open();
  await notices.check();
  expect(notices.states()).toEqual([{ kind: 'expiring', keyId: id, clientId, name: 'shop', expiresAt }]);
});

test('a clock that goes back and forth repeats no notice', async () => {
  await create(30);
  expect((await checkOn(open(), [16, 15, 16, 27, 26, 27])).map(([day]) => day)).toEqual([16, 27]);
});

test('several processes give each notice once', async () => {
  await Promise.all([create(30), create(30)]);
  now = START + 20 * DAY_MS;
  const processes = [open(), open(), open()];
  for (let round = 0; round < 3; round++) await Promise.all(processes.map((each) => each.check()));
  expect(given).toHaveLength(2);
  for (const each of processes) expect(each.states()).toHaveLength(2);
});

test('a notice is given once although the answer about its lease was lost', async () => {
  await Promise.all([create(30), create(30)]);
  const { acquire } = store.leases;
  let lost = 0;
  store.leases.acquire = async (...lease) => {
    const isAcquired = await acquire(...lease);
    if (lost === 2) return isAcquired;
    lost++;
    throw new Error('The connection was closed.');
  };
  const one = open();
  const other = open();
  now = START + 20 * DAY_MS;
  await expect(one.check()).rejects.toThrow('closed');
  await expect(one.check()).rejects.toThrow('closed');
  for (let round = 0; round < 3; round++) for (const each of [other, one]) await each.check();
  expect(given).toHaveLength(2);
  expect(new Set(given.map(({ keyId }) => keyId)).size).toBe(2);
});

test('the time of the first notice is a setting, and 0 turns notices off', async () => {
  await create(100);
  const days = [10, 40, 69.9, 70, 97, 100];
  expect((await checkOn(open(30), days)).map(([day]) => day)).toEqual([70, 97, 100]);
  store = openMemoryStore();
  keys = await createKeys({ store, clock: () => now });
  now = START;
  await create(100);
  expect(await checkOn(open(2), [97, 98, 99, 100])).toEqual([
    [98, 'expiring'],
    [100, 'expired'],
  ]);
  expect(await checkOn(open(0), days)).toEqual([]);
});

test('a key that is made for a shorter time than a notice gives only the later ones', async () => {
  await create(2);
  expect(await checkOn(open(), [0, 1, 1.9, 2])).toEqual([[2, 'expired']]);
});

test('an expiry that is brought forward gives a notice at once, and one that is put off gives none', async () => {
  const { record } = await create(100);
  const notices = open();
  expect(await checkOn(notices, [50])).toEqual([]);
  await keys.update(record.id, 1, { expiresAt: START + 55 * DAY_MS });
  expect(await checkOn(notices, [50.1])).toEqual([[50.1, 'expiring']]);
  expect(notices.warning()).toMatch(/0 expired within a day, 1 to expire within 14 days/);
  await keys.update(record.id, 2, { expiresAt: null });
  expect(await checkOn(notices, [50.2, 55])).toEqual([]);
  expect(notices.warning()).toBeNull();
});

test('a revoked key gives no notice', async () => {
  const { record } = await create(30);
  await keys.revoke(record.id);
  expect(await checkOn(open(), [20, 30])).toEqual([]);
});

describe('a rotated key', () => {
  test('gives no notice while its successor works, unless it is in use until its end', async () => {
    const [unused, used] = [await keys.create({ name: 'a' }), await keys.create({ name: 'b' })];
    for (const { record } of [unused, used]) await rotate(record.id, 2);
    const notices = open();
    expect(await checkOn(notices, [0, 1])).toEqual([]);
    now = START + 1.5 * DAY_MS;
    await keys.authenticate(used.key);
    await keys.flush();
    expect(await checkOn(notices, [1.9, 2, 2.1])).toEqual([[2, 'expired']]);
    expect(notices.states().map(({ keyId }) => keyId)).toEqual([used.record.id]);
  });

  test('passes its expiry on, of which the successor gives notice', async () => {
    const { record } = await create(30);
    now = START + 28 * DAY_MS;
    const fresh = await rotate(record.id, 1);
    expect(await checkOn(open(), [28, 29])).toEqual([[28, 'expiring']]);
    now = START + 29 * DAY_MS;
    const notices = open();
    await notices.check();
    expect(notices.states()).toMatchObject([{ keyId: fresh.record.id, clientId: record.id }]);
  });

  test('gives notice if its successor was revoked', async () => {
    const { record } = await create(30);
    now = START + 15 * DAY_MS;
    const fresh = await rotate(record.id, 10);
    await keys.revoke(fresh.record.id);
    expect((await checkOn(open(), [15, 16])).map(([day]) => day)).toEqual([15]);
  });
});

import type { Store } from '@erp-proxy/stores/ports';
import { CHAIN_KEY, openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeAdminAction, makeCall } from './audit.fixture.ts';
import { type Audit, createAudit } from './audit.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-31T08:00:00Z');

let store: Store;
let now: number;
let audits: Audit[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  store = openMemoryStore();
  now = START;
  audits = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(audits.map((audit) => audit.close()));
});

function open(retentionDays: number | null, errors: unknown[] = []): Audit {
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => now,
    retentionMs: retentionDays === null ? null : retentionDays * DAY_MS,
    onError: (error) => errors.push(error),
    onLost: (records) => expect.unreachable(`${records} lost`),
  });
  audits.push(audit);
  return audit;
}

/** Records calls, one every hour. */
async function record(audit: Audit, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    audit.recordCall(makeCall());
    now += HOUR_MS;
  }
  await audit.flush();
}

const readFirstSeq = async () => (await store.audit.readAfter(0, 1))[0]?.seq ?? null;

test('removes only records older than the retention time; the rest verifies', async () => {
  const before = open(null);
  await record(before, 500);
  const { head } = await before.verify();
  const audit = open(10);
  await expect.poll(readFirstSeq).toBe(500 - 10 * 24 + 1);
  expect(await audit.verify()).toMatchObject({ intact: true, first_seq: 261, last_seq: 500, head });
  expect(await audit.verify(head ?? undefined)).toMatchObject({ intact: true });
});

test('runs every hour', async () => {
  const audit = open(1);
  await record(audit, 1);
  now = START + DAY_MS;
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(await readFirstSeq(), 'kept for a day to the end').toBe(1);
  now += 1;
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  await expect.poll(readFirstSeq).toBeNull();
  expect(await audit.verify()).toMatchObject({ intact: true, first_seq: 2, last_seq: 1 });
  await audit.recordAdminAction(makeAdminAction());
  expect(await audit.verify()).toMatchObject({ intact: true, first_seq: 2, last_seq: 2 });
});

test('removes nothing without a retention time', async () => {
  const audit = open(null);
  await record(audit, 1);
  now += 10_000 * DAY_MS;
  await vi.advanceTimersByTimeAsync(48 * HOUR_MS);
  expect(await readFirstSeq()).toBe(1);
});

test('does nothing while another process holds the lease', async () => {
  await record(open(null), 2);
  now += 100 * DAY_MS;
  expect(await store.leases.acquire('audit-retention', 'other', 60_000)).toBe(true);
  open(1);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(await readFirstSeq()).toBe(1);
  await store.leases.release('audit-retention', 'other');
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  await expect.poll(readFirstSeq).toBeNull();
  expect(await store.leases.acquire('audit-retention', 'other', 60_000), 'given back').toBe(true);
});

test('reports an unavailable store, and tries again an hour later', async () => {
  await record(open(null), 1);
  now += 100 * DAY_MS;
  const { leases } = store;
  const errors: unknown[] = [];
  store = {
    ...store,
    leases: {
      ...leases,
      acquire: (...lease) => {
        if (errors.length === 0) throw new Error('the store is away');
        return leases.acquire(...lease);
      },
    },
  };
  open(1, errors);
  await expect.poll(() => errors).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  await expect.poll(readFirstSeq).toBeNull();
  expect(errors).toHaveLength(1);
});

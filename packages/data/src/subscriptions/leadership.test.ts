import type { LeaseStore } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Leadership } from './leadership.ts';

test('tells of a lease that was lost and acquired again in between, as after a stop of the process', async () => {
  let nowMs = 0;
  const held: boolean[] = [];
  const leases: LeaseStore = { acquire: async () => true, release: async () => {} };
  const leadership = new Leadership({
    leases,
    owner: 'this',
    nowMs: () => nowMs,
    ttlMs: 60,
    onChange: () => held.push(leadership.isHeld),
    onError: (error) => {
      throw error;
    },
  });
  leadership.start();
  await expect.poll(() => held).toEqual([true]);
  nowMs = 1000;
  expect(leadership.isHeld).toBe(false);
  await expect.poll(() => held).toEqual([true, true]);
  await leadership.close();
  expect(leadership.isHeld).toBe(false);
});

describe('after the clock of the store was set back by an hour', () => {
  const HOUR_MS = 3_600_000;

  // The clock of the store stands still, so that no lease ends.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  function open(leases: LeaseStore) {
    const changes: boolean[] = [];
    const leadership = new Leadership({
      leases,
      owner: 'this',
      nowMs: () => 0,
      ttlMs: 60,
      onChange: () => changes.push(leadership.isHeld),
      onError: (error) => {
        throw error;
      },
    });
    onTestFinished(() => leadership.close());
    leadership.start();
    return changes;
  }

  test('a process takes over from one that has died', async () => {
    const { leases } = openMemoryStore();
    await leases.acquire('subscriptions', 'dead', HOUR_MS);
    const changes = open(leases);
    await expect.poll(() => changes).toEqual([true]);
  });

  test('a process that has lost the lease knows so at its next renewal', async () => {
    const { leases } = openMemoryStore();
    const changes = open(leases);
    await expect.poll(() => changes).toEqual([true]);
    await leases.release('subscriptions', 'this');
    expect(await leases.acquire('subscriptions', 'other', 1000)).toBe(true);
    await expect.poll(() => changes[1]).toBe(false);
  });
});

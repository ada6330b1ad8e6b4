import { openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Shards, type ShardsOptions } from './shards.ts';

const ALL = Array.from({ length: 16 }, (_, shard) => shard);
const HOUR_MS = 3_600_000;
const TTL_MS = 60;
/** Long enough that a slow machine renews in time. */
const LONGER_MS = 3000;

function start(options: Pick<ShardsOptions, 'store'> & Partial<ShardsOptions>) {
  const changes: (readonly number[])[] = [];
  const shards = new Shards({
    owner: 'this',
    nowMs: () => 0,
    ttlMs: TTL_MS,
    onChange: () => changes.push(shards.held),
    onError: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(() => shards.close());
  shards.start();
  return { shards, changes };
}

test('tells of shards that were lost and acquired again in between, as after a stop of the process', async () => {
  let nowMs = 0;
  const store = { holdShards: async () => [3, 4], releaseShards: async () => {} };
  const { shards, changes } = start({ store, nowMs: () => nowMs });
  await expect.poll(() => changes).toEqual([[3, 4]]);
  expect([shards.holds(3), shards.holds(5), shards.holdsAny]).toEqual([true, false, true]);
  nowMs = 1000;
  expect([shards.holds(3), shards.holdsAny, shards.held]).toEqual([false, false, []]);
  await expect
    .poll(() => changes)
    .toEqual([
      [3, 4],
      [3, 4],
    ]);
  await shards.close();
  expect(shards.holds(3)).toBe(false);
});

test('holds no shard that another process gets, from the answer of the store on', async () => {
  const { subscriptions } = openMemoryStore();
  const one = start({ store: subscriptions, owner: 'one', ttlMs: LONGER_MS });
  await expect.poll(() => one.changes).toEqual([ALL]);
  // The second process gets shards when the first one has learned of it.
  const two = start({ store: subscriptions, owner: 'two', ttlMs: LONGER_MS });
  await expect.poll(() => two.shards.held.length).toBe(8);
  expect(one.shards.held.filter((shard) => two.shards.holds(shard))).toEqual([]);
  await one.shards.close();
  await expect.poll(() => two.shards.held).toEqual(ALL);
});

describe('after the clock of the store was set back by an hour', () => {
  // The clock of the store stands still, so that no lease ends.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  test('a process takes over from one that has died', async () => {
    const { subscriptions } = openMemoryStore();
    await subscriptions.holdShards('dead', { ttlMs: HOUR_MS, latestMs: HOUR_MS });
    const { changes } = start({ store: subscriptions });
    await expect.poll(() => changes).toEqual([ALL]);
  });

  test('a process that has lost its shards knows so at its next renewal', async () => {
    const { subscriptions } = openMemoryStore();
    const { changes } = start({ store: subscriptions });
    await expect.poll(() => changes).toEqual([ALL]);
    await subscriptions.releaseShards('this');
    await subscriptions.holdShards('other', { ttlMs: 1000, latestMs: 1000 });
    await expect.poll(() => changes[1]).toEqual([]);
  });
});

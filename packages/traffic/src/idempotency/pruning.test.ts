import type { IdempotencyStore } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPruning } from './pruning.ts';

const MINUTE_MS = 60_000;
const KEYS_MAX = 50;
let now: number;
let store: IdempotencyStore;
let errors: unknown[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 0;
  store = openMemoryStore({
    clock: () => now,
    bounds: { keysMax: KEYS_MAX, answerBytesMax: 0 },
  }).idempotency;
  errors = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** Claims `count` keys of the current minute. False if the store has no room for all of them. */
async function claimMany(count: number): Promise<boolean> {
  try {
    for (let index = 0; index < count; index++) {
      const row = { client: 'c', fingerprint: 'f', attempt: 'one', runsForMs: 1, expiresInMs: MINUTE_MS };
      await store.claim({ id: `${now} ${index}`, ...row });
    }
    return true;
  } catch {
    return false;
  }
}

async function passMinute(): Promise<void> {
  now += MINUTE_MS;
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
}

test('removes all expired keys every minute, until it is closed', async () => {
  const pruning = startPruning(store, (error) => errors.push(error));
  for (let minute = 0; minute < 3; minute++) {
    await expect.poll(() => claimMany(KEYS_MAX)).toBe(true);
    expect(await claimMany(KEYS_MAX + 1)).toBe(false);
    await passMinute();
  }
  await pruning.close();
  const left = await store.prune(KEYS_MAX);
  expect(await claimMany(KEYS_MAX)).toBe(true);
  await passMinute();
  expect(left, 'pruning was closed while it ran').toBeLessThan(KEYS_MAX);
  expect(await store.prune(KEYS_MAX)).toBe(KEYS_MAX);
  expect(errors).toEqual([]);
});

test('reports a store that is away, and tries again a minute later', async () => {
  const { prune } = store;
  const failing: Pick<IdempotencyStore, 'prune'> = {
    prune: (limit) => {
      if (errors.length === 0) throw new Error('the store is away');
      return prune(limit);
    },
  };
  const pruning = startPruning(failing, (error) => errors.push(error));
  expect(await claimMany(1)).toBe(true);
  await passMinute();
  await expect.poll(() => errors).toHaveLength(1);
  await passMinute();
  await expect.poll(() => store.prune(1)).toBe(0);
  expect(errors).toHaveLength(1);
  await pruning.close();
});

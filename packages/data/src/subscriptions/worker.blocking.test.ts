import { openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, onTestFinished, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import { BODY, NOTHING, startWorker } from '../../../server/test/subscriptions/start-worker.ts';
import { passTurns } from '../../../server/test/time.ts';
import { printBody } from './row.ts';

const SUBSCRIPTIONS = 10_000;
/** Turns of the event loop in which the rows are read and the subscriptions are begun, in slices. */
const SLICES_MAX = 200;

test('thousands of subscriptions that wait for one instance keep no other work waiting', async () => {
  const prepare = async () => {
    const store = openMemoryStore();
    const body = printBody({ ...BODY, interval_seconds: 5 });
    for (let index = 0; index < SUBSCRIPTIONS; index++) {
      const row = { id: `s${index}`, name: `s${index}`, body, createdAt: 0 };
      await store.subscriptions.insert(row, SUBSCRIPTIONS);
    }
    const { listActive } = store.subscriptions;
    let isListed = false;
    store.subscriptions.listActive = (...args) => {
      isListed = true;
      return listActive(...args);
    };
    const state = { nowMs: 0, readings: 0 };
    const ended = Promise.withResolvers<void>();
    startWorker(
      store,
      async () => {
        state.readings++;
        await ended.promise;
        return NOTHING;
      },
      { nowMs: () => state.nowMs },
    );
    onTestFinished(() => ended.resolve());
    await expect.poll(() => isListed).toBe(true);
    await passTurns(SLICES_MAX);
    return state;
  };
  const blockedMs = await measureBlocking(async (state) => {
    // All subscriptions are due now.
    state.nowMs = 1000;
    await expect.poll(() => state.readings).toBe(2);
    await passTurns(SLICES_MAX);
  }, prepare);
  // On the build machine: 25 ms if all subscriptions are begun in one turn, and 200 ms if the list is copied for each.
  expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
});

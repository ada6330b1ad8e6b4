import { expect, test } from 'vitest';
import type { LeaseStore } from '../stores/ports.ts';
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

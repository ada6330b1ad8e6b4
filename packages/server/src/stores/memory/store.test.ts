import { expect, test } from 'vitest';
import { describeStore } from '../../../test/stores/store-suite.ts';
import { pause } from '../../../test/time.ts';
import { createMemoryLeases } from './leases.ts';
import { openMemoryStore } from './store.ts';

/** A lease of this time has expired after twice of it. */
const SHORT_MS = 5;

describeStore({ name: 'memory', open: openMemoryStore });

test('a new lease removes those that have expired', async () => {
  const rows = new Map();
  const leases = createMemoryLeases(rows);
  for (let index = 0; index < 100; index++) await leases.acquire(`notice ${index}`, 'one', SHORT_MS);
  await pause(2 * SHORT_MS);
  await leases.acquire('later', 'two', 60_000);
  expect([...rows.keys()]).toEqual(['later']);
});

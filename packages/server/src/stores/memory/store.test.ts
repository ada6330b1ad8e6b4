import { expect, test } from 'vitest';
import { describeStore } from '../../../test/stores/store-suite.ts';
import { createMemoryLeases } from './leases.ts';
import { openMemoryStore } from './store.ts';

describeStore({ name: 'memory', open: openMemoryStore });

test('a new lease removes those that have expired', async () => {
  const rows = new Map();
  const leases = createMemoryLeases(rows);
  for (let index = 0; index < 100; index++) await leases.acquire(`notice ${index}`, 'one', 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await leases.acquire('later', 'two', 60_000);
  expect([...rows.keys()]).toEqual(['later']);
});

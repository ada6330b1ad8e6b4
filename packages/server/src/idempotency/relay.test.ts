import { expect, test } from 'vitest';
import { openMemoryStore } from '../stores/sqlite/memory.ts';
import { createRelay } from './relay.ts';

test('a text reaches another process, and the first one counts', async () => {
  const store = openMemoryStore({ clock: () => 0 }).idempotency;
  const [one, other] = [createRelay(store), createRelay(store)];
  expect(await other.find('a')).toBeNull();
  expect(await one.put('a', 'key', 'yes')).toBe(true);
  expect(await one.put('a', 'key', 'no')).toBe(false);
  expect(await other.find('a')).toBe('yes');
});

test('a text is forgotten after some minutes', async () => {
  let now = 0;
  const relay = createRelay(openMemoryStore({ clock: () => now }).idempotency);
  await relay.put('a', 'key', 'yes');
  now = 9 * 60_000;
  expect(await relay.find('a')).toBe('yes');
  now = 11 * 60_000;
  expect(await relay.find('a')).toBeNull();
});

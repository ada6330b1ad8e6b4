import type { KeyRecord } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { BLOCKED_MS_MAX, measureBlocking } from '../../server/test/measure-blocking.ts';
import { type Listing, readPage } from './page.ts';
import { showKey } from './views.ts';

test('a page of keys with long policies does not keep the event loop', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `sale.model.number${index}`);
  const policy = JSON.stringify({
    instances: ['prod'],
    models: Object.fromEntries(names.map((name) => [name, ['read', 'search_read']])),
  });
  const dates = { createdAt: 0, createdBy: null, expiresAt: null, revokedAt: null, lastUsedAt: null };
  const identity = { id: 'a', clientId: 'a', name: 'a', person: null };
  const key: KeyRecord = { ...identity, replaces: null, policy, version: 1, ...dates };
  const listing: Listing<KeyRecord, number, unknown> = {
    place: z.int(),
    placeOf: () => 0,
    list: async (_, limit) => Array.from({ length: limit }, () => key),
    show: (row) => showKey(row, 0),
    lengthOf: () => policy.length,
  };
  const read = async () => JSON.stringify(await readPage({ limit: 500 }, listing));
  expect(await measureBlocking(read)).toBeLessThan(BLOCKED_MS_MAX);
});

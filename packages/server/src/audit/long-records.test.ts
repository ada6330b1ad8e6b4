/** Records of keys with long policies: they are read in slices, and pages of them end early. */
import type { AuditView } from '@erp-proxy/contract';
import { beforeAll, expect, test } from 'vitest';
import { measureBlocking } from '../../test/measure-blocking.ts';
import { CHAIN_KEY } from '../stores/audit-batch.fixture.ts';
import { openMemoryStore } from '../stores/memory/store.ts';
import { makeAct } from './audit.fixture.ts';
import { type Audit, createAudit } from './audit.ts';
import { formatAudit } from './format.ts';

const BLOCKED_MS_MAX = 20;
const RUNS = 4;
const ACTS = 500;

let audit: Audit;
beforeAll(async () => {
  const store = openMemoryStore();
  audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => Date.parse('2026-03-31T08:00:00.000Z'),
    retentionMs: null,
    onError: (error) => expect.unreachable(String(error)),
    onLost: (records) => expect.unreachable(`${records} lost`),
  });
  const names = Array.from({ length: 300 }, (_, index) => `sale.model.number${index}`);
  const policy = {
    instances: ['prod'],
    models: Object.fromEntries(names.map((name) => [name, ['read', 'search_read']])),
  };
  const act = makeAct({ action: 'key.create', changes: { policy: { from: null, to: policy } } });
  for (let acts = 0; acts < ACTS; acts++) await audit.recordAct(act);
  return () => audit.close();
});

async function print(format: 'ndjson' | 'csv'): Promise<number> {
  let lines = 0;
  for await (const _ of formatAudit(audit.export({}), format)) lines++;
  return lines;
}

test.each([
  { reading: 'a page', read: async () => JSON.stringify(await audit.search({ limit: ACTS })) },
  { reading: 'a search for a rare value', read: () => audit.search({ limit: 10, client_id: 'nobody' }) },
  { reading: 'an export as NDJSON', read: async () => expect(await print('ndjson')).toBe(ACTS) },
  { reading: 'an export as CSV', read: async () => expect(await print('csv')).toBe(ACTS + 1) },
  { reading: 'a verification', read: async () => expect((await audit.verify()).intact).toBe(true) },
])('$reading does not keep the event loop', async ({ read }) => {
  let blockedMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) blockedMs = Math.min(blockedMs, await measureBlocking(read));
  expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
});

test('the pages have each record once, the newest first', async () => {
  const found: number[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query = { limit: ACTS, ...(cursor === null ? {} : { cursor }) };
    const page: { items: AuditView[]; next: string | null } = await audit.search(query);
    found.push(...page.items.map(({ seq }) => seq));
    cursor = page.next;
    pages++;
  } while (cursor !== null);
  expect(found).toEqual(Array.from({ length: ACTS }, (_, index) => ACTS - index));
  expect(pages).toBeGreaterThan(5);
});

/** Records of keys with long policies are read in slices. */
import { beforeAll, expect, test } from 'vitest';
import { ACTIONS, openLongRecords } from '../../../server/test/audit/long-records.ts';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import type { Audit } from './audit.ts';
import { formatAudit } from './format.ts';

let audit: Audit;
beforeAll(async () => {
  audit = await openLongRecords();
  return () => audit.close();
});

async function print(format: 'ndjson' | 'csv'): Promise<number> {
  let lines = 0;
  for await (const _ of formatAudit(audit.export({}), format)) lines++;
  return lines;
}

test.each([
  { reading: 'a page', read: async () => JSON.stringify(await audit.search({ limit: ACTIONS })) },
  { reading: 'a search for a rare value', read: () => audit.search({ limit: 10, client_id: 'nobody' }) },
  { reading: 'an export as NDJSON', read: async () => expect(await print('ndjson')).toBe(ACTIONS) },
  { reading: 'an export as CSV', read: async () => expect(await print('csv')).toBe(ACTIONS + 1) },
  { reading: 'a verification', read: async () => expect((await audit.verify()).intact).toBe(true) },
])('$reading does not keep the event loop', async ({ read }) => {
  expect(await measureBlocking(read)).toBeLessThan(BLOCKED_MS_MAX);
});

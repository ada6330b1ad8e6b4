/** Pages of records of keys with long policies end early. */
import type { AuditView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { ACTIONS, openLongRecords } from '../../../server/test/audit/long-records.ts';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';

test('the pages have each record once, the newest first', async () => {
  const audit = closeAfterTest(await openLongRecords());
  const found: number[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query = { limit: ACTIONS, ...(cursor === null ? {} : { cursor }) };
    const page: { items: AuditView[]; next: string | null } = await audit.search(query);
    found.push(...page.items.map(({ seq }) => seq));
    cursor = page.next;
    pages++;
  } while (cursor !== null);
  expect(found).toEqual(Array.from({ length: ACTIONS }, (_, index) => ACTIONS - index));
  expect(pages).toBeGreaterThan(5);
});

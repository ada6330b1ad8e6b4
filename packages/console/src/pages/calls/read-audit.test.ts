import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { PAGE_ROWS, searchAudit } from './read-audit.ts';

/** An audit of 1,000 records, of which the API scans 100 per request. Every `distance`th record matches. */
function describeAudit(distance: number) {
  const queries: AuditQuery[] = [];
  const ask = async (query: AuditQuery): Promise<Page<AuditView>> => {
    queries.push(query);
    const before = query.cursor === undefined ? 1_001 : Number(query.cursor);
    const items: AuditView[] = [];
    let seq = before;
    while (seq > Math.max(1, before - 100) && items.length < (query.limit ?? 50)) {
      seq--;
      if (query.model === undefined || seq % distance === 0) items.push(makeRecord(seq));
    }
    return { items, next: seq === 1 ? null : String(seq) };
  };
  return { ask, queries };
}

function makeRecord(seq: number): AuditView {
  return { kind: 'damaged', seq, time: new Date(seq).toISOString(), request_id: null, problem: 'none' };
}

test('goes on after empty pages until the audit ends', async () => {
  const { ask } = describeAudit(450);
  const page = await searchAudit({ ask, clock: () => 0 }, { model: 'x' }, undefined);
  expect(page.items.map(({ seq }) => seq)).toEqual([900, 450]);
  expect(page).toMatchObject({ next: null, searchedTo: null });
});

test('ends with a full page, and the next one continues it', async () => {
  const { ask } = describeAudit(2);
  const first = await searchAudit({ ask, clock: () => 0 }, { model: 'x' }, undefined);
  expect(first.items).toHaveLength(PAGE_ROWS);
  expect(first.searchedTo).toBe(first.items.at(-1)?.time);
  const second = await searchAudit({ ask, clock: () => 0 }, { model: 'x' }, first.next ?? '');
  expect(second.items[0]?.seq).toBe((first.items.at(-1)?.seq ?? 0) - 2);
});

test('tells after its time how far it has come', async () => {
  const { ask, queries } = describeAudit(5_000);
  let now = 0;
  const page = await searchAudit({ ask, clock: () => (now += 900) }, { model: 'x' }, undefined);
  expect(page.items).toEqual([]);
  expect(page.searchedTo).toBe(new Date(Number(page.next) - 1).toISOString());
  expect(queries.at(-1)).toEqual({ cursor: page.next, limit: 1 });
});

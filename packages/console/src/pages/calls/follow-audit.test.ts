import type { AuditQuery, AuditView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { type AskAudit, type Followed, followAudit, ROWS_MAX } from './follow-audit.ts';

const START = Date.parse('2026-03-31T12:00:00Z');

/** An audit that grows by one record each millisecond. */
function growAudit() {
  const audit = { count: 0, queries: [] as AuditQuery[] };
  const ask: AskAudit = async (query) => {
    audit.queries.push(query);
    const before = query.cursor === undefined ? audit.count + 1 : Number(query.cursor);
    const items: AuditView[] = [];
    for (let seq = before - 1; seq >= 1 && items.length < (query.limit ?? 50); seq--)
      items.push(makeRecord(seq));
    const last = items.at(-1)?.seq ?? 1;
    return { page: { items, next: last === 1 ? null : String(last) }, answeredAt: START + audit.count };
  };
  return { audit, ask };
}

function makeRecord(seq: number): AuditView {
  return {
    kind: 'damaged',
    seq,
    time: new Date(START + seq).toISOString(),
    request_id: null,
    problem: 'none',
  };
}

test('shows each record once, the newest first, also when more than a page is new', async () => {
  const { audit, ask } = growAudit();
  let followed: Followed | undefined;
  for (const count of [0, 3, 3, 253, 260]) {
    audit.count = count;
    followed = await followAudit(ask, {}, followed);
    const seqs = followed.rows.map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: count }, (_, index) => count - index));
  }
});

test('keeps a bounded number of rows, and reads a bounded number of pages', async () => {
  const { audit, ask } = growAudit();
  audit.count = 10;
  const first = await followAudit(ask, {}, undefined);
  audit.count = 100_000;
  audit.queries = [];
  const second = await followAudit(ask, {}, first);
  expect(second.rows).toHaveLength(ROWS_MAX);
  expect(second.rows[0]?.seq).toBe(100_000);
  expect(audit.queries.length).toBeLessThan(10);
});

test('asks only for the time since the last reading, unless the search begins later', async () => {
  const { audit, ask } = growAudit();
  const first = await followAudit(ask, { since: '2026-03-30' }, undefined);
  await followAudit(ask, { since: '2026-03-30' }, first);
  await followAudit(ask, { since: '2026-03-31T11:59:30Z' }, first);
  expect(audit.queries.map(({ since }) => since)).toEqual([
    '2026-03-30',
    '2026-03-31T11:59:00.000Z',
    '2026-03-31T11:59:30Z',
  ]);
});

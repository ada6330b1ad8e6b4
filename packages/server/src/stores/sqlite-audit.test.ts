import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashRow } from './contract.ts';
import type { AuditSearch, AuditStore } from './ports.ts';
import { createSqliteAudit } from './sqlite-audit.ts';
import { migrate } from './sqlite-migrations.ts';

const HOUR_MS = 3_600_000;

let database: DatabaseSync;
let audit: AuditStore;

beforeEach(async () => {
  database = new DatabaseSync(':memory:');
  migrate(database);
  audit = createSqliteAudit(database);
  const times = Array.from({ length: 1000 }, (_, index) => Math.floor(index / 10) * HOUR_MS + index);
  await audit.append(
    times.map((at) => ({ at, record: '{"model":"res.partner"}' })),
    hashRow,
  );
});
afterEach(() => database.close());

test('looks only at the hours that a search is about, however many there are before and behind', async () => {
  expect(await search({ since: 50 * HOUR_MS, until: 51 * HOUR_MS, scanMax: 20 })).toEqual({
    seqs: [510, 509, 508, 507, 506, 505, 504, 503, 502, 501],
    next: null,
  });
  expect(await search({ since: 1000 * HOUR_MS, scanMax: 20 })).toEqual({ seqs: [], next: null });
});

test('forgets the hours that retention has removed', async () => {
  expect(await audit.prune(50 * HOUR_MS, 1000)).toBe(500);
  expect(database.prepare('SELECT min(hour) AS first, count(*) AS count FROM audit_hours').get()).toEqual({
    first: 50,
    count: 50,
  });
  expect(await search({ until: 50 * HOUR_MS, scanMax: 20 })).toEqual({ seqs: [], next: null });
});

async function search(query: Partial<AuditSearch>) {
  const found = await audit.search({ beforeSeq: null, filters: {}, limit: 100, scanMax: 1000, ...query });
  return { seqs: found.rows.map((row) => row.seq), next: found.next };
}

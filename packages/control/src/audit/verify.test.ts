import { createSecretKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AuditStore, Store } from '@erp-proxy/stores/ports';
import { CHAIN_KEY, makeBatch, openMemoryStore, openSqliteStore } from '@erp-proxy/stores/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeAdminAction, makeCall } from './audit.fixture.ts';
import { createAudit } from './audit.ts';
import { printAdminAction, printCall } from './record.ts';
import { AuditQueryError } from './search.ts';
import { verifyChain } from './verify.ts';

const ROWS = 10;

let folder: string;
let file: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-audit-'));
  file = join(folder, 'audit.db');
  store = await openSqliteStore(file);
  await append(store.audit, ROWS);
  tamper('CREATE TABLE kept AS SELECT * FROM audit; CREATE TABLE kept_chain AS SELECT * FROM audit_chain');
});
beforeEach(() => {
  tamper(`
    DELETE FROM audit;
    DELETE FROM audit_chain;
    INSERT INTO audit SELECT * FROM kept;
    INSERT INTO audit_chain SELECT * FROM kept_chain`);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Appends rows with the times 1, 2, 3, …; every third is an action of an administrator. */
async function append(audit: AuditStore, count: number): Promise<void> {
  const seq = (await audit.readHead())?.seq ?? 0;
  const rows = Array.from({ length: count }, (_, index) => {
    const at = seq + index + 1;
    return { at, record: at % 3 === 0 ? printAdminAction(makeAdminAction(), at) : printCall(makeCall(), at) };
  });
  await audit.append(makeBatch(...rows));
}

/** Changes the file directly, as anyone with access to it can. */
function tamper(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const verify = (head?: string) => verifyChain(store.audit, CHAIN_KEY, head);

test('an unchanged audit is intact', async () => {
  const verification = await verify();
  expect(verification).toEqual({
    intact: true,
    first_seq: 1,
    last_seq: ROWS,
    head: verification.head,
    fault: null,
  });
  expect(verification.head).toMatch(/^10:[0-9a-f]{64}$/);
  expect(await verify(verification.head ?? '')).toEqual(verification);
});

test('an empty audit is intact, and its head can be given later', async () => {
  const { audit } = openMemoryStore();
  const empty = await verifyChain(audit, CHAIN_KEY);
  expect(empty).toMatchObject({ intact: true, first_seq: 1, last_seq: 0, fault: null });
  await append(audit, 3);
  expect(await verifyChain(audit, CHAIN_KEY, empty.head ?? '')).toMatchObject({ intact: true, last_seq: 3 });
});

const EDIT = 'UPDATE audit SET record = replace(record, \'"ok"\', \'"access_error"\')';
const CUT = 'DELETE FROM audit WHERE seq > 8';

test.each([
  ['an edited record', `${EDIT} WHERE seq = 5`, 5, /record was changed/],
  ['an edited first record', `${EDIT} WHERE seq = 1`, 1, /first record was changed/],
  ['a record edited with its hash', `${EDIT}, hash = randomblob(32) WHERE seq = 5`, 5, /was changed/],
  [
    'a record with an additional blank',
    "UPDATE audit SET record = record || ' ' WHERE seq = 5",
    5,
    /was changed/,
  ],
  ['an edited hash', 'UPDATE audit SET hash = zeroblob(32) WHERE seq = 5', 5, /was changed/],
  ['an edited last hash', 'UPDATE audit SET hash = zeroblob(32) WHERE seq = 10', 10, /was changed/],
  ['another time beside the record', 'UPDATE audit SET at = 999 WHERE seq = 5', 5, /time beside/],
  ['a missing record', 'DELETE FROM audit WHERE seq = 5', 5, /^The record is missing/],
  ['missing records', 'DELETE FROM audit WHERE seq IN (4, 5, 8)', 4, /4 to 5 are missing/],
  ['a missing first record', 'DELETE FROM audit WHERE seq = 1', 1, /missing/],
  ['missing records at the end', CUT, 9, /9 to 10 are missing/],
  ['an emptied table', 'DELETE FROM audit', 1, /1 to 10 are missing/],
  [
    'records in another order',
    'UPDATE audit SET seq = 99 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6; UPDATE audit SET seq = 6 WHERE seq = 99',
    5,
    /was changed/,
  ],
  [
    'a record replaced by a copy of another',
    'UPDATE audit SET (at, record, hash) = (SELECT at, record, hash FROM audit WHERE seq = 4) WHERE seq = 5',
    5,
    /was changed/,
  ],
  [
    'a record put behind the last',
    'INSERT INTO audit SELECT 11, at, record, hash FROM audit WHERE seq = 10',
    11,
    /behind/,
  ],
  [
    'a record put behind the last, with the end moved',
    `INSERT INTO audit SELECT 11, at, record, hash FROM audit WHERE seq = 10;
     UPDATE audit_chain SET head_seq = 11`,
    11,
    /was changed/,
  ],
  ['an end moved forward', 'UPDATE audit_chain SET head_seq = 12', 11, /11 to 12 are missing/],
  ['an end moved back', `${CUT}; UPDATE audit_chain SET head_seq = 8`, 8, /end of the chain was changed/],
  [
    'an end moved before the last',
    'UPDATE audit_chain SET head_seq = 0, head_hash = zeroblob(32)',
    1,
    /behind/,
  ],
  [
    'another hash of the end',
    'UPDATE audit_chain SET head_hash = zeroblob(32)',
    10,
    /end of the chain was changed/,
  ],
  [
    'first records removed, with the beginning moved',
    'DELETE FROM audit WHERE seq <= 3; UPDATE audit_chain SET floor_seq = 3',
    4,
    /first record was changed, or the stored place/,
  ],
  [
    'another hash of the beginning',
    'UPDATE audit_chain SET floor_hash = randomblob(32)',
    1,
    /place where the chain begins/,
  ],
  [
    'a beginning behind the end',
    'UPDATE audit_chain SET floor_seq = 99',
    10,
    /ends of the chain were changed/,
  ],
])('finds %s', async (_what, sql, seq, problem) => {
  tamper(sql);
  const verification = await verify();
  expect(verification).toMatchObject({ intact: false, fault: { seq } });
  expect(verification.fault?.problem).toMatch(problem);
});

test('finds changes also after retention removed records', async () => {
  await store.audit.prune(4, 100);
  expect(await verify()).toMatchObject({ intact: true, first_seq: 4, last_seq: ROWS });
  tamper(`${EDIT} WHERE seq = 5`);
  expect(await verify()).toMatchObject({ intact: false, first_seq: 4, fault: { seq: 5 } });
  tamper('DELETE FROM audit WHERE seq IN (4, 5)');
  expect(await verify()).toMatchObject({ intact: false, fault: { seq: 4 } });
});

test('names the first of several changes', async () => {
  tamper(`${EDIT} WHERE seq IN (7, 8); DELETE FROM audit WHERE seq = 9`);
  expect(await verify()).toMatchObject({ intact: false, fault: { seq: 7 } });
});

test('a kept head reveals that the end was cut off', async () => {
  const { head } = await verify();
  tamper(
    `${CUT}; UPDATE audit_chain SET (head_seq, head_hash) = (SELECT seq, hash FROM audit WHERE seq = 8)`,
  );
  expect(await verify()).toMatchObject({ intact: true, last_seq: 8 });
  const verification = await verify(head ?? undefined);
  expect(verification).toMatchObject({ intact: false, fault: { seq: 10 } });
  expect(verification.fault?.problem).toContain('ends at 8');
});

test('a kept head reveals that the end was rewritten, even with the key', async () => {
  const { head } = await verify();
  tamper(
    `${CUT}; UPDATE audit_chain SET (head_seq, head_hash) = (SELECT seq, hash FROM audit WHERE seq = 8)`,
  );
  await store.audit.append(makeBatch({ at: 9, record: printCall(makeCall({ model: 'x' }), 9) }));
  await append(store.audit, 5);
  expect(await verify()).toMatchObject({ intact: true, last_seq: 14 });
  expect(await verify(head ?? undefined)).toMatchObject({ intact: false, fault: { seq: 10 } });
});

test('accepts a kept head as old as the last record that retention removed', async () => {
  const heads: string[] = [];
  for (let count = 0; count < 3; count++) {
    heads.push((await verify()).head ?? '');
    await append(store.audit, 2);
  }
  for (const head of heads)
    expect(await verify(head ?? undefined)).toMatchObject({ intact: true, last_seq: 16 });
  await store.audit.prune(13, 100);
  const [first, second, third] = heads;
  const verification = await verify(first);
  expect(verification).toMatchObject({ intact: false, first_seq: 13, fault: { seq: 10 } });
  expect(verification.fault?.problem).toContain('Retention has removed');
  expect(await verify(second)).toMatchObject({ intact: true });
  expect(await verify(third)).toMatchObject({ intact: true });
});

test('names the key as a possible cause if nothing verifies', async () => {
  const otherKey = createSecretKey(Buffer.alloc(32, 2));
  const { intact, fault } = await verifyChain(store.audit, otherKey);
  expect(intact).toBe(false);
  expect(fault?.seq).toBe(1);
  expect(fault?.problem).toContain('keys.hashSecret');
});

test.each([
  '',
  '10',
  `10:${'a'.repeat(63)}`,
  `10:${'A'.repeat(64)}`,
  `-1:${'a'.repeat(64)}`,
  `1.5:${'a'.repeat(64)}`,
])('refuses the head "%s", which cannot be one', async (head) => {
  await expect(verify(head ?? undefined)).rejects.toThrow(AuditQueryError);
  await expect(verify(head ?? undefined)).rejects.toThrow('<number>:<64 hex digits>');
});

test('reads page by page, and yields between pages', async () => {
  const { audit } = openMemoryStore();
  await append(audit, 5000);
  let turns = 0;
  let isDone = false;
  const countTurns = () => {
    turns++;
    if (!isDone) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  let most = 0;
  const counted: AuditStore = {
    ...audit,
    async readAfter(seq, limit) {
      const rows = await audit.readAfter(seq, limit);
      most = Math.max(most, rows.length);
      return rows;
    },
  };
  expect(await verifyChain(counted, CHAIN_KEY)).toMatchObject({ intact: true, last_seq: 5000 });
  isDone = true;
  expect(most).toBeLessThanOrEqual(500);
  expect(turns).toBeGreaterThanOrEqual(10);
});

test.each([
  ['appended', (audit: AuditStore) => append(audit, 100), { first_seq: 1 }],
  ['removed behind it', async (audit: AuditStore) => void (await audit.prune(50, 1000)), { first_seq: 1 }],
  ['removed before it', async (audit: AuditStore) => void (await audit.prune(701, 1000)), { first_seq: 701 }],
  [
    'removed and appended',
    async (audit: AuditStore) => {
      await audit.prune(701, 1000);
      await append(audit, 100);
    },
    { first_seq: 701, last_seq: 1100 },
  ],
  ['removed all', async (audit: AuditStore) => void (await audit.prune(9999, 9999)), { first_seq: 1001 }],
])('is intact if records are %s during the check', async (_what, change, found) => {
  const { audit } = openMemoryStore();
  await append(audit, 1000);
  let reads = 0;
  const busy: AuditStore = {
    ...audit,
    async readAfter(seq, limit) {
      // Runs once, between the first page and the second.
      if (++reads === 2) await change(audit);
      return audit.readAfter(seq, limit);
    },
  };
  expect(await verifyChain(busy, CHAIN_KEY)).toMatchObject({ intact: true, last_seq: 1000, ...found });
});

test.each([
  ['a record that is not JSON', "UPDATE audit SET record = 'not json' WHERE seq = 4", 4],
  ['an empty record', "UPDATE audit SET record = '' WHERE seq = 4", 4],
  ['an invalid time', 'UPDATE audit SET at = 9e18 WHERE seq = 4', 4],
  [
    'a hash of another length',
    "PRAGMA ignore_check_constraints = ON; UPDATE audit SET hash = x'00' WHERE seq = 4",
    4,
  ],
  ['a lost row of the ends', 'DELETE FROM audit_chain', 1],
  ['a lost first row and lost ends', 'DELETE FROM audit WHERE seq = 1; DELETE FROM audit_chain', 2],
])('verify, search and export still work with %s', async (_, sql, seq) => {
  tamper(sql);
  const verification = await verify();
  expect(verification).toMatchObject({ intact: false, last_seq: ROWS, fault: { seq } });
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: Date.now,
    retentionMs: null,
    onError: () => {},
    onLost: () => {},
  });
  const rows = sql.includes('seq = 1;') ? ROWS - 1 : ROWS;
  expect((await audit.search({})).items).toHaveLength(rows);
  const exported: unknown[] = [];
  for await (const view of audit.export({})) exported.push(view);
  expect(exported).toHaveLength(rows);
  expect((await audit.search({ kind: 'call' })).items.length).toBeGreaterThan(4);
  await audit.close();
});

test('appends and removes fail with the reason if the row of the ends is lost', async () => {
  tamper('DELETE FROM audit_chain');
  await expect((async () => append(store.audit, 1))()).rejects.toThrow();
  await expect((async () => store.audit.append(makeBatch({ at: 1, record: '{}' })))()).rejects.toThrow(
    'audit_chain has lost its row',
  );
  expect(await store.audit.prune(1e15, 100)).toBe(0);
  expect(await store.audit.readAfter(0, 100)).toHaveLength(ROWS);
});

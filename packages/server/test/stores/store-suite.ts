/**
 * The store suite: the tests that every store engine must pass. Test support: only tests of stores import it, and tests
 * that need a key or a chain.
 */

import { hashRow } from '@erp-proxy/stores/audit-chain';
import type {
  AuditBatch,
  AuditPosition,
  AuditRow,
  AuditSearch,
  AuditStore,
  CallCountStore,
  InstanceStore,
  KeyListQuery,
  KeyStore,
  Store,
  StoreChange,
  StoredConnection,
  StoredInstance,
  StoredKey,
  StoredOperatorToken,
} from '@erp-proxy/stores/ports';
import { CHAIN_KEY, makeBatch } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { APPROVE, buildRequest, describeApprovals, describeSharedApprovals } from './approval-suite.ts';
import { describeConsents, describeSignInObjects } from './consent-suite.ts';
import {
  describeIdempotency,
  describeIdempotencyPruning,
  describeSharedIdempotency,
} from './idempotency-suite.ts';
import { describeJobReports, describeJobs } from './job-suite.ts';
import { describeStatistics } from './statistics-suite.ts';
import { buildSubscription, describeSubscriptions } from './subscription-suite.ts';

export interface SuiteStore {
  /** The name of the store in the documentation, for the names of the tests. */
  name: string;
  /** Opens the store, which is empty when a test calls this for the first time. */
  open: () => Store | Promise<Store>;
  /** Absent if only one process can have the store open, and closing it loses its rows. */
  shared?: {
    /** Makes the store refuse records of the audit with the message `no audit today`. */
    refuseAudit: () => unknown | Promise<unknown>;
  };
}

/** The store suite: everything that packages/stores/src/ports/ promises. The test of each engine runs it. */
export function describeStore({ name, open, shared }: SuiteStore): void {
  describeOpenedStore(name, open);
  if (shared === undefined) return;
  describeSharedStore(name, open);
  describeRefusedAuditRecords(name, open, shared.refuseAudit);
}

function describeOpenedStore(name: string, open: () => Store | Promise<Store>): void {
  describe(`${name} store`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    describe('keys', () => describeKeys(() => store.keys));
    describe('instances', () => describeInstances(() => store.instances));
    describe('connections of persons', () => describeConnections(() => store));
    describe('consents of persons', () => describeConsents(() => store));
    describe('objects of sign-ins', () => describeSignInObjects(() => store));
    describe('audit', () => describeAudit(() => store.audit));
    describe('audit records', () => describeAuditRecords(() => store));
    describe('rotations of keys', () => describeRotations(() => store));
    describe('idempotency', () => {
      describeIdempotency(() => store.idempotency);
      describeIdempotencyPruning(() => store.idempotency);
    });
    describe('counts of calls', () => describeCallCounts(() => store.callCounts));
    describe('approvals', () => describeApprovals(() => store.approvals));
    describe('statistics', () => describeStatistics(() => store.statistics));
    describe('jobs', () => {
      describeJobs(() => store.jobs);
      describeJobReports(() => store);
    });
    describe('subscriptions', () => describeSubscriptions(() => store.subscriptions));
    describe('denied subjects', () => describeDeniedSubjects(() => store));
    describe('tokens of operators', () => describeOperatorTokens(() => store));
    describe('operators', () => describeOperators(() => store));
    describe('leases', () => describeLeases(() => store));
    describe('changes', () => describeOwnChanges(() => store));

    test('can be probed, and has a label', async () => {
      await store.probe();
      expect(store.label).toMatch(/^(memory|sqlite .|postgres .)/);
    });

    test('can be closed twice', async () => {
      await store.close();
      await store.close();
    });
  });
}

/** Tests a store that can be opened several times: each call of `open` in one test opens the same rows. */
function describeSharedStore(name: string, open: () => Store | Promise<Store>): void {
  describe(`${name} store, opened twice`, () => {
    let one: Store;
    let two: Store;

    beforeEach(async () => {
      one = await open();
      two = await open();
    });
    afterEach(async () => {
      await one.close();
      await two.close();
    });

    test('each process sees what the other wrote', async () => {
      await one.keys.insert(buildKey({ id: 'a' }));
      expect((await two.keys.findById('a'))?.revokedAt).toBeNull();
      await two.keys.revoke('a', 9);
      expect((await one.keys.findById('a'))?.revokedAt).toBe(9);
      await one.instances.insert(buildInstance({ name: 'prod' }));
      expect((await two.instances.findByName('prod'))?.version).toBe(1);
      expect(await two.instances.insert(buildInstance({ id: 'other', name: 'prod' }))).toBe('conflict');
    });

    test('everything is still there after it was closed and opened again', async () => {
      await one.keys.insert(buildKey({ id: 'a', policy: '{"models":{}}' }));
      await one.keys.getOrCreateHashSecret(new Uint8Array(32).fill(3));
      await one.instances.insert(buildInstance({ name: 'prod' }));
      await one.audit.append(makeBatch({ at: 1, record: '{}' }));
      const head = plain(await one.audit.readHead());
      await one.close();
      await two.close();
      one = await open();
      expect((await one.keys.findById('a'))?.policy).toBe('{"models":{}}');
      expect([...(await one.keys.getOrCreateHashSecret(new Uint8Array(32)))]).toEqual(Array(32).fill(3));
      expect((await one.instances.findByName('prod'))?.name).toBe('prod');
      expect(plain(await one.audit.readHead())).toEqual(head);
    });

    test('only one of several changes of the same version is made', async () => {
      await one.keys.insert(buildKey({ id: 'a' }));
      await one.instances.insert(buildInstance({ id: 'i' }));
      const keyChanges = await Promise.all(
        [one, two, one, two].map(async ({ keys }, index) => keys.update('a', 1, { name: `name ${index}` })),
      );
      expect(keyChanges.sort()).toEqual(['conflict', 'conflict', 'conflict', 'done']);
      const next = { masterKeyId: 'm2', body: '{}' };
      const instanceChanges = await Promise.all(
        [one, two, one, two].map(async ({ instances }) => instances.replace('i', 1, next)),
      );
      expect(instanceChanges.sort()).toEqual(['conflict', 'conflict', 'conflict', 'done']);
    });

    test('all processes append to one chain of audit rows', async () => {
      const batches = Array.from({ length: 20 }, (_, batch) => ({
        audit: batch % 2 === 0 ? one.audit : two.audit,
        records: Array.from({ length: 5 }, (_, index) => ({
          at: batch,
          record: `{"n":${batch * 5 + index}}`,
        })),
      }));
      await Promise.all(batches.map(async ({ audit, records }) => audit.append(makeBatch(...records))));
      const rows = await two.audit.readAfter(0, 1000);
      expectChain(rows);
      // A batch is one transaction: its rows are adjacent.
      const numbers = rows.map((row) => Number(JSON.parse(row.record).n));
      for (let start = 0; start < 100; start += 5) {
        const first = numbers[start] ?? Number.NaN;
        expect(numbers.slice(start, start + 5)).toEqual([0, 1, 2, 3, 4].map((index) => first + index));
      }
      expect(new Set(numbers).size).toBe(100);
      expect(plain(await one.audit.readHead())).toEqual(plain(await two.audit.readHead()));
    });

    describeSharedIdempotency(() => [one.idempotency, two.idempotency]);
    describeSharedApprovals(() => [one.approvals, two.approvals]);

    test('only one process gets a lease, until it releases it', async () => {
      const taken = await Promise.all(
        [one, two, one, two].map(async ({ leases }, index) => leases.acquire('job', `o${index}`, 60_000)),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      await one.leases.release('job', `o${taken.indexOf(true)}`);
      expect(await two.leases.acquire('job', 'late', 60_000)).toBe(true);
    });

    test('each process is notified of changes that the other makes', async () => {
      const notified: (StoreChange | null)[] = [];
      await one.keys.insert(buildKey({ id: 'a' }));
      two.watch((change) => notified.push(change));
      await expect.poll(() => two.isWatching).toBe(true);
      await expectNotified(notified, 'key', 'a', () => one.keys.revoke('a', 5));
      await expectNotified(notified, 'key', 'b', () => one.keys.insert(buildKey({ id: 'b' })));
      await expectNotified(notified, 'key', 'b', () => one.keys.update('b', 1, { name: 'new' }));
      await expectNotified(notified, 'instance', 'prod', () =>
        one.instances.insert(buildInstance({ id: 'i', name: 'prod' })),
      );
      await expectNotified(notified, 'instance', 'prod', () =>
        one.instances.replace('i', 1, { masterKeyId: 'm2', body: '{}' }),
      );
      await expectNotified(notified, 'instance', 'prod', () => one.instances.remove('i', 2));
    });

    test('a closed store cannot be probed or read, and the other one can', async () => {
      await one.close();
      await expect((async () => one.probe())()).rejects.toThrow();
      await expect((async () => one.keys.findById('a'))()).rejects.toThrow();
      await two.probe();
    });
  });
}

function describeKeys(use: () => KeyStore): void {
  let keys: KeyStore;

  beforeEach(() => {
    keys = use();
  });

  test('returns a key as it was inserted', async () => {
    const plain = buildKey({ id: 'plain' });
    const full = buildKey({
      id: 'full',
      createdBy: '{"type":"token"}',
      createdAt: 2 ** 44,
      expiresAt: 2 ** 45,
      revokedAt: 3,
      lastUsedAt: 4,
      name: 'Zoë’s shop 🛒',
      policy: '{"models":{"res.partner":["réad"]}}',
      replaces: 'plain',
      clientId: 'plain',
    });
    await keys.insert(plain);
    await keys.insert(full);
    expect(readable(await keys.findById('plain'))).toEqual(readable(plain));
    expect(readable(await keys.findById('full'))).toEqual(readable(full));
  });

  test('lists the keys that expire in a period, and tells which of them have a key that works longer', async () => {
    const ending: (Partial<StoredKey> & { id: string })[] = [
      { id: 'early', expiresAt: 9 },
      { id: 'b', expiresAt: 10 },
      { id: 'a', expiresAt: 10 },
      { id: 'revoked', expiresAt: 12, revokedAt: 1 },
      { id: 'replaced', expiresAt: 13 },
      { id: 'for ever', clientId: 'replaced', replaces: 'replaced' },
      { id: 'lost', expiresAt: 14 },
      { id: 'lost too', clientId: 'lost', expiresAt: 99, revokedAt: 1 },
      { id: 'one', expiresAt: 15 },
      { id: 'later', clientId: 'one', expiresAt: 16 },
      { id: 'late', expiresAt: 20 },
      { id: 'never' },
    ];
    for (const key of ending) await keys.insert(buildKey(key));
    const list = async (limit: number) =>
      (await keys.listEnding(10, 20, limit)).map(({ id, isReplaced }) =>
        isReplaced ? `${id} (replaced)` : id,
      );
    expect(await list(100)).toEqual(['a', 'b', 'replaced (replaced)', 'lost', 'one (replaced)', 'later']);
    expect(await list(2)).toEqual(['a', 'b']);
    const { isReplaced: _, ...record } = (await keys.listEnding(16, 17, 1))[0] ?? { isReplaced: null };
    const { secretHash: __, ...stored } = buildKey({ id: 'later', clientId: 'one', expiresAt: 16 });
    expect(record).toEqual(stored);
  });

  test('finds no key by an unknown id, another case or a pattern', async () => {
    await keys.insert(buildKey({ id: 'aB' }));
    for (const id of ['', 'ab', 'AB', 'a%', 'aB ', "' OR 1=1 --"]) {
      expect(await keys.findById(id)).toBeNull();
    }
  });

  test('refuses an id that is taken, and keeps the first key', async () => {
    await keys.insert(buildKey({ id: 'taken', name: 'first' }));
    await expect((async () => keys.insert(buildKey({ id: 'taken', name: 'second' })))()).rejects.toThrow();
    expect((await keys.findById('taken'))?.name).toBe('first');
  });

  test('lists the oldest key first, without its hash', async () => {
    await keys.insert(buildKey({ id: 'b', createdAt: 20 }));
    await keys.insert(buildKey({ id: 'B', createdAt: 20 }));
    await keys.insert(buildKey({ id: 'c', createdAt: 10 }));
    await keys.insert(buildKey({ id: 'a', createdAt: 20 }));
    const listed = await keys.list({ after: null, limit: 10 });
    expect(listed.map((key) => key.id)).toEqual(['c', 'B', 'a', 'b']);
    const { secretHash: _, ...record } = buildKey({ id: 'c', createdAt: 10 });
    expect(listed[0]).toEqual(record);
  });

  test('lists page by page, each key once', async () => {
    for (let index = 0; index < 7; index++) {
      await keys.insert(buildKey({ id: `k${index}`, createdAt: index >> 1 }));
    }
    const pages: string[][] = [];
    let after: KeyListQuery['after'] = null;
    for (;;) {
      const page = await keys.list({ after, limit: 3 });
      const last = page.at(-1);
      if (!last) break;
      pages.push(page.map((key) => key.id));
      after = { createdAt: last.createdAt, id: last.id };
    }
    expect(pages).toEqual([['k0', 'k1', 'k2'], ['k3', 'k4', 'k5'], ['k6']]);
  });

  test('lists the names of the given keys, each once, and skips unknown ids', async () => {
    for (const id of ['a', 'b', 'c']) await keys.insert(buildKey({ id, name: `Name of ${id}` }));
    const names = await keys.listNames(['c', 'a', 'c', 'd', '', '\0', '"', 'A']);
    expect(names.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
      { id: 'a', name: 'Name of a' },
      { id: 'c', name: 'Name of c' },
    ]);
    expect(await keys.listNames([])).toEqual([]);
  });

  test('continues after a key that does not exist', async () => {
    await keys.insert(buildKey({ id: 'a', createdAt: 1 }));
    await keys.insert(buildKey({ id: 'c', createdAt: 1 }));
    expect(await listIds({ after: { createdAt: 1, id: 'b' } })).toEqual(['c']);
    expect(await listIds({ after: { createdAt: 0, id: 'z' } })).toEqual(['a', 'c']);
  });

  test('lists by state: a key expires at exactly its time, and a revoked key has no other state', async () => {
    await keys.insert(buildKey({ id: 'forever' }));
    await keys.insert(buildKey({ id: 'later', expiresAt: 101 }));
    await keys.insert(buildKey({ id: 'now', expiresAt: 100 }));
    await keys.insert(buildKey({ id: 'revoked', revokedAt: 50 }));
    await keys.insert(buildKey({ id: 'revokedAndOver', expiresAt: 60, revokedAt: 50 }));
    expect(await listIds({ state: { is: 'active', now: 100 } })).toEqual(['forever', 'later']);
    expect(await listIds({ state: { is: 'expired', now: 100 } })).toEqual(['now']);
    expect(await listIds({ state: { is: 'revoked', now: 100 } })).toEqual(['revoked', 'revokedAndOver']);
  });

  test('searches by part of the id or the name in any case, and treats no character as a pattern', async () => {
    await keys.insert(buildKey({ id: 'aB1', name: 'Shop Rome' }));
    await keys.insert(buildKey({ id: 'cD2', name: '100%_of*the\\Crm' }));
    expect(await listIds({ search: 'Ab' })).toEqual(['aB1']);
    expect(await listIds({ search: 'p rO' })).toEqual(['aB1']);
    for (const search of ['%', '_', '*', '\\', '0%_o', '\\c'])
      expect(await listIds({ search })).toEqual(['cD2']);
    for (const search of ['a%1', 'S_op', 'B1S', "' OR 1=1 --"]) expect(await listIds({ search })).toEqual([]);
    expect(await listIds({ search: '' })).toEqual(['aB1', 'cD2']);
  });

  test('finds by the whole name, in its case, and with all filters at once', async () => {
    await keys.insert(buildKey({ id: 'a', name: 'shop' }));
    await keys.insert(buildKey({ id: 'b', name: 'shop', revokedAt: 3 }));
    await keys.insert(buildKey({ id: 'c', name: 'Shop' }));
    await keys.insert(buildKey({ id: 'd', name: 'shop 2' }));
    await keys.insert(buildKey({ id: 'e', name: 'shop' }));
    expect(await listIds({ name: 'shop' })).toEqual(['a', 'b', 'e']);
    expect(
      await listIds({
        name: 'shop',
        search: 'HO',
        state: { is: 'active', now: 1 },
        after: { createdAt: 1, id: 'a' },
      }),
    ).toEqual(['e']);
  });

  test('is empty until the first key, and a revoked key counts', async () => {
    expect(await keys.isEmpty()).toBe(true);
    await keys.insert(buildKey({ id: 'first' }));
    await keys.revoke('first', 5);
    expect(await keys.isEmpty()).toBe(false);
  });

  test('changes only the given members, and raises the version', async () => {
    await keys.insert(buildKey({ id: 'a', name: 'old', policy: '{}', expiresAt: 9 }));
    const untouched = buildKey({ id: 'b' });
    await keys.insert(untouched);
    expect(await keys.update('a', 1, { name: 'new' })).toBe('done');
    expect(await keys.findById('a')).toMatchObject({ name: 'new', policy: '{}', expiresAt: 9, version: 2 });
    expect(await keys.update('a', 2, { policy: null, expiresAt: null })).toBe('done');
    expect(await keys.findById('a')).toMatchObject({
      name: 'new',
      policy: null,
      expiresAt: null,
      version: 3,
      createdAt: 1,
    });
    expect(await keys.update('a', 3, { policy: '{"a":1}', expiresAt: 77 })).toBe('done');
    expect(await keys.findById('a')).toMatchObject({ policy: '{"a":1}', expiresAt: 77, version: 4 });
    expect(readable(await keys.findById('b'))).toEqual(readable(untouched));
  });

  test('does not raise the version if nothing changes', async () => {
    await keys.insert(buildKey({ id: 'a', name: 'same', policy: null, expiresAt: 9 }));
    expect(await keys.update('a', 1, {})).toBe('done');
    expect(await keys.update('a', 1, { name: 'same', policy: null, expiresAt: 9 })).toBe('done');
    expect((await keys.findById('a'))?.version).toBe(1);
  });

  test('changes only the given version', async () => {
    await keys.insert(buildKey({ id: 'a', name: 'old' }));
    expect(await keys.update('a', 2, { name: 'new' })).toBe('conflict');
    expect(await keys.update('a', 0, {})).toBe('conflict');
    expect(await keys.update('gone', 1, { name: 'new' })).toBe('missing');
    expect(await keys.findById('a')).toMatchObject({ name: 'old', version: 1 });
  });

  test('revokes one key, and keeps the time of the first revocation', async () => {
    await keys.insert(buildKey({ id: 'revoked' }));
    await keys.insert(buildKey({ id: 'other' }));
    expect(await keys.revoke('revoked', 50)).toBe(true);
    expect(await keys.revoke('revoked', 60)).toBe(true);
    expect(await keys.findById('revoked')).toMatchObject({ revokedAt: 50, version: 2 });
    expect(await keys.findById('other')).toMatchObject({ revokedAt: null, version: 1 });
  });

  test('reports that an unknown key cannot be revoked', async () => {
    expect(await keys.revoke('nobody', 50)).toBe(false);
  });

  test('moves the last use forward, never back, and skips unknown ids', async () => {
    await keys.insert(buildKey({ id: 'a' }));
    await keys.insert(buildKey({ id: 'b', lastUsedAt: 90 }));
    await keys.touch(
      new Map([
        ['a', 80],
        ['gone', 80],
        ['b', 80],
      ]),
    );
    expect(await keys.findById('a')).toMatchObject({ lastUsedAt: 80, version: 1 });
    expect((await keys.findById('b'))?.lastUsedAt).toBe(90);
    expect(await keys.findById('gone')).toBeNull();
    await keys.touch(new Map([['b', 100]]));
    await keys.touch(new Map());
    expect((await keys.findById('b'))?.lastUsedAt).toBe(100);
  });

  test('keeps the first hash secret forever', async () => {
    const first = await keys.getOrCreateHashSecret(new Uint8Array(32).fill(1));
    const second = await keys.getOrCreateHashSecret(new Uint8Array(32).fill(2));
    expect([...first]).toEqual(Array(32).fill(1));
    expect([...second]).toEqual([...first]);
  });

  test('is not affected when a caller changes the bytes of a key', async () => {
    const key = buildKey({ id: 'a' });
    await keys.insert(key);
    key.secretHash.fill(0);
    (await keys.findById('a'))?.secretHash.fill(0);
    expect([...((await keys.findById('a'))?.secretHash ?? [])]).toEqual(Array(32).fill(7));
  });

  async function listIds(query: Partial<KeyListQuery>): Promise<string[]> {
    return (await keys.list({ after: null, limit: 100, ...query })).map((key) => key.id);
  }
}

function describeInstances(use: () => InstanceStore): void {
  let instances: InstanceStore;

  beforeEach(() => {
    instances = use();
  });

  test('returns an instance as it was inserted, as version 1', async () => {
    const instance = buildInstance({ id: 'i', name: 'prod', body: '{"url":"https://é.example","n":1}' });
    expect(await instances.insert(instance)).toBe('done');
    expect(await instances.findByName('prod')).toEqual({ ...instance, version: 1 });
    for (const name of ['', 'Prod', 'pro', 'prod ', 'pro%', 'i'])
      expect(await instances.findByName(name)).toBeNull();
  });

  test('reports a name that is taken and keeps the first instance; refuses an id that is taken', async () => {
    await instances.insert(buildInstance({ id: 'one', name: 'prod', body: '{"first":true}' }));
    expect(await instances.insert(buildInstance({ id: 'two', name: 'prod' }))).toBe('conflict');
    expect(await instances.findByName('prod')).toMatchObject({ id: 'one', body: '{"first":true}' });
    await expect(
      (async () => instances.insert(buildInstance({ id: 'one', name: 'test' })))(),
    ).rejects.toThrow();
    expect(await instances.findByName('test')).toBeNull();
  });

  test('lists by name in the order of code points, page by page', async () => {
    const sorted = ['A', 'B', 'a', 'ab', 'b', 'é', '～', '🛒'];
    for (const name of [...sorted].reverse()) await instances.insert(buildInstance({ name }));
    expect(await listNames({})).toEqual(sorted);
    expect(await listNames({ limit: 3 })).toEqual(['A', 'B', 'a']);
    expect(await listNames({ after: 'a', limit: 3 })).toEqual(['ab', 'b', 'é']);
    expect(await listNames({ after: 'aa' })).toEqual(sorted.slice(3));
    expect(await listNames({ after: '🛒' })).toEqual([]);
  });

  test('searches by part of the name or the body in any case, and treats no character as a pattern', async () => {
    await instances.insert(buildInstance({ name: 'prod', body: '{"url":"https://ERP.example.com"}' }));
    await instances.insert(buildInstance({ name: 'test_1', body: '{"note":"50%*"}' }));
    expect(await listNames({ search: 'PRO' })).toEqual(['prod']);
    expect(await listNames({ search: 'erp.EXAMPLE' })).toEqual(['prod']);
    for (const search of ['%', '_', '*']) expect(await listNames({ search })).toEqual(['test_1']);
    expect(await listNames({ search: 'pr_d' })).toEqual([]);
    expect(await listNames({ search: 't', after: 'prod' })).toEqual(['test_1']);
  });

  test('replaces master key and body of the given version, and raises the version', async () => {
    await instances.insert(buildInstance({ id: 'i', name: 'prod' }));
    await instances.insert(buildInstance({ id: 'other', name: 'test' }));
    const next = { masterKeyId: 'm2', body: '{"new":true}' };
    expect(await instances.replace('i', 1, next)).toBe('done');
    expect(await instances.findByName('prod')).toEqual({ id: 'i', name: 'prod', ...next, version: 2 });
    expect(await instances.replace('i', 1, { masterKeyId: 'm3', body: '{}' })).toBe('conflict');
    expect(await instances.replace('gone', 1, next)).toBe('missing');
    expect(await instances.findByName('prod')).toMatchObject(next);
    expect(await instances.findByName('test')).toEqual({
      ...buildInstance({ id: 'other', name: 'test' }),
      version: 1,
    });
  });

  test('removes the given version, and frees its name', async () => {
    await instances.insert(buildInstance({ id: 'i', name: 'prod' }));
    expect(await instances.remove('i', 2)).toBe('conflict');
    expect(await instances.remove('gone', 1)).toBe('missing');
    expect(await instances.findByName('prod')).not.toBeNull();
    expect(await instances.remove('i', 1)).toBe('done');
    expect(await instances.findByName('prod')).toBeNull();
    expect(await instances.remove('i', 1)).toBe('missing');
    expect(await instances.insert(buildInstance({ id: 'i2', name: 'prod' }))).toBe('done');
  });

  test('counts the instances of each master key', async () => {
    expect([...(await instances.countByMasterKey())]).toEqual([]);
    await instances.insert(buildInstance({ name: 'a', masterKeyId: 'm1' }));
    await instances.insert(buildInstance({ name: 'b', masterKeyId: 'm2' }));
    await instances.insert(buildInstance({ name: 'c', masterKeyId: 'm1' }));
    expect([...(await instances.countByMasterKey())].sort()).toEqual([
      ['m1', 2],
      ['m2', 1],
    ]);
  });

  async function listNames(query: Partial<Parameters<InstanceStore['list']>[0]>): Promise<string[]> {
    return (await instances.list({ after: null, limit: 100, ...query })).map((instance) => instance.name);
  }
}

function describeAudit(use: () => AuditStore): void {
  let audit: AuditStore;

  beforeEach(() => {
    audit = use();
  });

  test('begins empty, with number 0 and zero bytes at both ends', async () => {
    const nothing = { seq: 0, hash: new Uint8Array(32) };
    expect(plain(await audit.readHead())).toEqual(plain(nothing));
    expect(plain(await audit.readFloor())).toEqual(plain(nothing));
    expect(await audit.readAfter(0, 10)).toEqual([]);
    expect(await search({})).toEqual({ seqs: [], next: null });
    expect(await audit.prune(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
  });

  test('numbers and chains appended records, and keeps each text byte for byte', async () => {
    const texts = ['{"a": 1}', '{"name":"Zoë 🛒"}', '{ }'];
    await audit.append(makeBatch({ at: 2 ** 44, record: texts[0] ?? '' }));
    await audit.append(makeBatch());
    await audit.append(makeBatch(...texts.slice(1).map((record) => ({ at: 5, record }))));
    const rows = await audit.readAfter(0, 10);
    expect(rows.map((row) => [row.at, row.record])).toEqual([
      [2 ** 44, texts[0]],
      [5, texts[1]],
      [5, texts[2]],
    ]);
    expectChain(rows);
    const last = rows.at(-1);
    expect(plain(await audit.readHead())).toEqual({ seq: 3, hash: [...(last?.hash ?? [])] });
    expect((await audit.readAfter(1, 1)).map((row) => row.seq)).toEqual([2]);
    expect(await audit.readAfter(3, 10)).toEqual([]);
  });

  test('appends all records or none', async () => {
    await appendAt(1, 2);
    // The third record has no text that could be hashed.
    const batch = makeBatch(...[1, 2].map((at) => ({ at, record: '{}' })), { at: 3, record: null as never });
    await expect((async () => audit.append(batch))()).rejects.toThrow(/must be of type string/);
    expect((await audit.readHead())?.seq).toBe(2);
    await appendAt(3);
    expectChain(await audit.readAfter(0, 10));
  });

  test('appends a batch once, however often it is passed', async () => {
    const batch = makeBatch({ at: 1, record: '{"n":1}' }, { at: 1, record: '{"n":2}' });
    await audit.append(batch);
    await audit.append(batch);
    await appendAt(2);
    await audit.append({ ...batch });
    const rows = await audit.readAfter(0, 10);
    expect(rows.map((row) => row.at)).toEqual([1, 1, 2]);
    expectChain(rows);
  });

  test('keeps one chain if appends are made at once', async () => {
    await Promise.all([1, 2, 3, 4, 5].map((at) => appendAt(at, at)));
    const rows = await audit.readAfter(0, 100);
    expect(rows).toHaveLength(10);
    expectChain(rows);
  });

  test('removes the oldest rows up to the first newer one, at most the given number', async () => {
    await appendAt(10, 11, 12, 30, 13);
    const rows = await audit.readAfter(0, 10);
    expect(await audit.prune(10, 10)).toBe(0);
    expect(await audit.prune(20, 2)).toBe(2);
    expect(plain(await audit.readFloor())).toEqual({ seq: 2, hash: [...(rows[1]?.hash ?? [])] });
    // Row 5 is older than the time, but comes after a row that is newer.
    expect(await audit.prune(20, 10)).toBe(1);
    expect((await audit.readAfter(0, 10)).map((row) => row.seq)).toEqual([4, 5]);
    expect(await audit.prune(20, 10)).toBe(0);
  });

  test('keeps the position of each sink, which only the process that knows it moves', async () => {
    const position = (seq: number) => ({ seq, hash: new Uint8Array(32).fill(seq) });
    expect(await audit.readSink('one')).toBeNull();
    expect(await audit.moveSink('one', 3, position(4))).toBe(false);
    expect(await audit.moveSink('one', null, position(4))).toBe(true);
    expect(await audit.moveSink('one', null, position(5))).toBe(false);
    expect(await audit.moveSink('one', 3, position(5))).toBe(false);
    expect(await audit.moveSink('one', 4, position(9))).toBe(true);
    expect(plain(await audit.readSink('one'))).toEqual(plain(position(9)));
    expect(await audit.readSink('two')).toBeNull();
  });

  test('keeps both ends when all rows are removed, and continues from there', async () => {
    await appendAt(1, 2);
    const head = plain(await audit.readHead());
    expect(await audit.prune(100, 10)).toBe(2);
    expect(plain(await audit.readHead())).toEqual(head);
    expect(plain(await audit.readFloor())).toEqual(head);
    await appendAt(3);
    const rows = await audit.readAfter(0, 10);
    expect(rows.map((row) => row.seq)).toEqual([3]);
    expectChain(rows, (await audit.readFloor()) ?? undefined);
    expect(await search({})).toEqual({ seqs: [3], next: null });
  });

  test('searches newest first, page by page to the end', async () => {
    await appendAt(1, 2, 3, 4, 5);
    expect(await search({ limit: 2 })).toEqual({ seqs: [5, 4], next: 4 });
    expect(await search({ limit: 2, beforeSeq: 4 })).toEqual({ seqs: [3, 2], next: 2 });
    expect(await search({ limit: 2, beforeSeq: 2 })).toEqual({ seqs: [1], next: null });
    expect(await search({ limit: 5 })).toEqual({ seqs: [5, 4, 3, 2, 1], next: null });
    expect(await search({ beforeSeq: 1 })).toEqual({ seqs: [], next: null });
    expect((await search({ beforeSeq: 1000 })).seqs).toEqual([5, 4, 3, 2, 1]);
    await audit.prune(4, 10);
    expect(await search({ limit: 2 })).toEqual({ seqs: [5, 4], next: null });
    expect(await search({ beforeSeq: 2 })).toEqual({ seqs: [], next: null });
  });

  test('searches from one time to before another, even if clocks went back', async () => {
    const hour = 3_600_000;
    await appendAt(9 * hour, 1 * hour, 7 * hour, 2 * hour, 8 * hour, 2 * hour - 1);
    expect((await searchAll({ since: 2 * hour })).seqs).toEqual([5, 4, 3, 1]);
    expect((await searchAll({ until: 2 * hour })).seqs).toEqual([6, 2]);
    expect((await searchAll({ since: 2 * hour, until: 8 * hour })).seqs).toEqual([4, 3]);
    expect((await searchAll({ since: 10 * hour })).seqs).toEqual([]);
    expect((await searchAll({ until: 1 * hour })).seqs).toEqual([]);
    expect((await searchAll({ since: 3 * hour, until: 6 * hour })).seqs).toEqual([]);
  });

  test('compares each given member as a whole text', async () => {
    const members = [
      'kind',
      'key_id',
      'client_id',
      'approval',
      'instance',
      'model',
      'action',
      'outcome',
      'actor',
    ] as const;
    const full = Object.fromEntries(members.map((member) => [member, `${member} é"1`]));
    const records = [
      full,
      ...members.map((member) => ({ ...full, [member]: null })),
      { deep: full },
      { kind: 7 },
    ];
    await audit.append(makeBatch(...records.map((record) => ({ at: 1, record: JSON.stringify(record) }))));
    for (const [index, member] of members.entries()) {
      const seqs = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].filter((seq) => seq !== index + 2);
      expect((await search({ filters: { [member]: `${member} é"1` } })).seqs).toEqual(seqs);
      expect((await search({ filters: { [member]: `${member} é"` } })).seqs).toEqual([]);
    }
    expect((await search({ filters: full })).seqs).toEqual([1]);
    expect((await search({ filters: { kind: '7' } })).seqs).toEqual([]);
    expect((await search({ filters: { kind: undefined } })).seqs).toHaveLength(12);
  });

  test('finds an actor by the id, also in the records of before actors had more', async () => {
    const records = [
      { actor: { type: 'token', id: 'a1', name: 'Ada' } },
      { actor: 'a1' },
      { actor: { type: 'token', id: 'b2', name: 'a1' } },
      { actor: { name: 'a1' } },
      { model: 'a1' },
    ];
    await audit.append(makeBatch(...records.map((record) => ({ at: 1, record: JSON.stringify(record) }))));
    expect((await search({ filters: { actor: 'a1' } })).seqs).toEqual([2, 1]);
    expect((await search({ filters: { actor: 'b2', model: undefined } })).seqs).toEqual([3]);
    expect((await search({ filters: { actor: 'Ada' } })).seqs).toEqual([]);
  });

  test('compares numbers, and leaves out records by their outcome', async () => {
    const records = [
      { outcome: 'ok', code: null, http_status: 200 },
      { outcome: 'policy_denied', code: -32010, http_status: 403 },
      { outcome: 'replayed', code: null, http_status: 200 },
      { action: 'key.create' },
      { outcome: 'rate_limited', code: -32012, http_status: 429 },
      { outcome: null, http_status: '403' },
    ];
    const texts = [...records.map((record) => JSON.stringify(record)), 'no json', '{"outcome":'];
    await audit.append(makeBatch(...texts.map((record) => ({ at: 1, record }))));
    expect((await search({ filters: { code: -32010 } })).seqs).toEqual([2]);
    expect((await search({ filters: { http_status: 200 } })).seqs).toEqual([3, 1]);
    expect((await search({ filters: { http_status: 403 } })).seqs).toEqual([2]);
    const exceptOutcomes = ['ok', 'replayed'];
    expect((await search({ exceptOutcomes })).seqs).toEqual([5, 2]);
    expect((await search({ exceptOutcomes, filters: { http_status: 429 } })).seqs).toEqual([5]);
    expect((await search({ exceptOutcomes, limit: 1 })).seqs).toEqual([5]);
  });

  test('continues past records that are not JSON, which match no filter', async () => {
    const texts = [
      '{"model":"a"}',
      '['.repeat(50_000),
      'no json',
      '',
      '{"model":"a"',
      '[1]',
      '"\\ud800"',
      '{"model":"a"}',
    ];
    await audit.append(makeBatch(...texts.map((record) => ({ at: 1, record }))));
    expect((await search({})).seqs).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect((await search({ filters: { model: 'a' } })).seqs).toEqual([8, 1]);
    expect(await search({ filters: { model: 'a' }, limit: 1 })).toEqual({ seqs: [8], next: 8 });
  });

  test('reads at most the given number of rows, and returns where to continue', async () => {
    await audit.append(
      makeBatch(
        ...Array.from({ length: 100 }, (_, index) => ({ at: index, record: `{"model":"m${index % 50}"}` })),
      ),
    );
    expect(await search({ filters: { model: 'm0' }, scanMax: 30 })).toEqual({ seqs: [], next: 71 });
    const whole = await searchAll({ filters: { model: 'm0' }, scanMax: 30 });
    expect(whole).toEqual({ seqs: [51, 1], searches: 4 });
    expect((await search({ scanMax: 3 })).seqs).toEqual([100, 99, 98]);
  });

  async function appendAt(...times: number[]): Promise<void> {
    await audit.append(makeBatch(...times.map((at) => ({ at, record: `{"at":${at}}` }))));
  }

  async function search(query: Partial<AuditSearch>): Promise<{ seqs: number[]; next: number | null }> {
    const found = await audit.search({ beforeSeq: null, filters: {}, limit: 100, scanMax: 1000, ...query });
    return { seqs: found.rows.map((row) => row.seq), next: found.next };
  }

  async function searchAll(query: Partial<AuditSearch>): Promise<{ seqs: number[]; searches: number }> {
    const seqs: number[] = [];
    let beforeSeq: number | null = null;
    for (let searches = 1; ; searches++) {
      const page = await search({ ...query, beforeSeq });
      seqs.push(...page.seqs);
      if (page.next === null) return { seqs, searches };
      expect(page.next).toBeLessThan(beforeSeq ?? Number.POSITIVE_INFINITY);
      beforeSeq = page.next;
    }
  }
}

/** Tests personal tokens of operators. */
function describeOperatorTokens(use: () => Store): void {
  const find = async (id: string) => {
    const token = await use().operatorTokens.findById(id);
    return token && { ...token, secretHash: Uint8Array.from(token.secretHash) };
  };

  test('returns a token as it was inserted, and refuses a second one with its id', async () => {
    const { operatorTokens } = use();
    const token = buildToken({ id: 'a', name: 'Ünïcode 𝄞', instances: '["a"]', expiresAt: 9, lastUsedAt: 3 });
    await operatorTokens.insert(token);
    expect(await find('a')).toEqual(token);
    expect(await find('b')).toBeNull();
    expect(await find('a\0')).toBeNull();
    await expect(operatorTokens.insert(token)).rejects.toThrow();
  });

  test('lists tokens by age in pages, without their hashes', async () => {
    const { operatorTokens } = use();
    for (const [id, createdAt] of [
      ['b', 2],
      ['c', 1],
      ['a', 2],
    ] as const)
      await operatorTokens.insert(buildToken({ id, createdAt }));
    const first = await operatorTokens.list(null, 2);
    expect(first.map(({ id }) => id)).toEqual(['c', 'a']);
    expect(first[0]).not.toHaveProperty('secretHash');
    expect((await operatorTokens.list(first[1]!, 2)).map(({ id }) => id)).toEqual(['b']);
  });

  test('revokes a token once', async () => {
    const { operatorTokens } = use();
    await operatorTokens.insert(buildToken({ id: 'a' }));
    expect(await operatorTokens.revoke('a', 5)).toBe(true);
    expect(await operatorTokens.revoke('a', 6)).toBe(false);
    expect(await operatorTokens.revoke('b', 6)).toBe(false);
    expect(await find('a')).toMatchObject({ revokedAt: 5 });
  });

  test('notes later uses only', async () => {
    const { operatorTokens } = use();
    await operatorTokens.insert(buildToken({ id: 'a' }));
    await operatorTokens.touch(
      new Map([
        ['a', 7],
        ['unknown', 7],
      ]),
    );
    await operatorTokens.touch(new Map([['a', 6]]));
    await operatorTokens.touch(new Map());
    expect(await find('a')).toMatchObject({ lastUsedAt: 7 });
  });
}

/** Tests persons who sign in by an identity provider. */
function describeOperators(use: () => Store): void {
  const ADA = { id: 'corp/ada', name: 'Ünïcode 𝄞', granted: '{"role":"admin"}', confirmedAt: 5 };

  test('keeps what was confirmed last, lists persons by id, and takes a grant away', async () => {
    const { operators } = use();
    await operators.confirm({ ...ADA, name: 'old' });
    await operators.confirm(ADA);
    await operators.confirm({ ...ADA, id: 'corp/bob', granted: null });
    expect(await operators.find('corp/ada')).toEqual({ ...ADA, endedUntil: 0 });
    expect(await operators.find('corp/ada\0')).toBeNull();
    expect((await operators.list(null, 1)).map(({ id }) => id)).toEqual(['corp/ada']);
    expect((await operators.list('corp/ada', 9)).map(({ id }) => id)).toEqual(['corp/bob']);
    await operators.withdraw('corp/ada');
    expect(await operators.find('corp/ada')).toMatchObject({ granted: null, name: ADA.name });
  });

  test('ends the sessions of a person until a time that only grows, with a record', async () => {
    const { operators, audit } = use();
    await operators.confirm(ADA);
    const batch = makeBatch({ at: 1, record: '{"ended":1}' });
    expect(await operators.endSessions('corp/ada', 9, batch)).toBe(true);
    expect(await operators.endSessions('corp/ada', 8)).toBe(true);
    expect(await operators.endSessions('corp/eve', 9, makeBatch({ at: 1, record: '{}' }))).toBe(false);
    expect(await operators.endSessions('corp/ada\0', 9)).toBe(false);
    await operators.confirm(ADA);
    expect(await operators.find('corp/ada')).toMatchObject({ endedUntil: 9 });
    expect((await audit.readAfter(0, 9)).map(({ record }) => record)).toEqual(['{"ended":1}']);
  });

  test('knows ended sessions until they would have ended anyway', async () => {
    const { operators } = use();
    await operators.endSession({ session: 'one', keptUntil: 10, now: 1 });
    await operators.endSession({ session: 'one', keptUntil: 10, now: 1 });
    expect(await operators.hasEnded(['other', 'one'])).toBe(true);
    expect(await operators.hasEnded(['other'])).toBe(false);
    await operators.endSession({ session: 'two', keptUntil: 90, now: 11 });
    expect(await operators.hasEnded(['one'])).toBe(false);
  });
}

/** Tests connections of persons. */
function describeConnections(use: () => Store): void {
  beforeEach(async () => {
    await use().instances.insert(buildInstance({ id: 'i', name: 'prod' }));
    await use().instances.insert(buildInstance({ id: 'j', name: 'test' }));
  });

  test('returns a connection as it was put, and replaces it', async () => {
    const { connections } = use();
    const connection = buildConnection({ person: 'corp/a|x' });
    expect(await connections.put(connection)).toBe('done');
    expect(await connections.find('prod', 'corp/a|x')).toEqual({ ...connection, version: 1 });
    expect(await connections.put({ ...connection, masterKeyId: 'm2', body: '{"a":2}' })).toBe('done');
    expect(await connections.find('prod', 'corp/a|x')).toMatchObject({ masterKeyId: 'm2', version: 2 });
    for (const [instance, person] of [
      ['prod', 'corp/a'],
      ['test', 'corp/a|x'],
      ['prod\0', 'corp/a|x'],
    ] as const)
      expect(await connections.find(instance, person)).toBeNull();
  });

  test('puts no connection to an instance that is missing, or is another one of the same name', async () => {
    const { connections } = use();
    expect(await connections.put(buildConnection({ instance: 'gone' }))).toBe('missing');
    expect(await connections.put(buildConnection({ instanceId: 'j' }))).toBe('missing');
    expect(await connections.list({ after: null, limit: 9 })).toEqual([]);
  });

  test('lists connections by instance and person, in pages', async () => {
    const { connections } = use();
    for (const person of ['corp/b', 'corp/B', 'corp/a']) {
      await connections.put(buildConnection({ person }));
      await connections.put(buildConnection({ person, instance: 'test', instanceId: 'j' }));
    }
    const list = async (query: Partial<Parameters<typeof connections.list>[0]>) =>
      (await connections.list({ after: null, limit: 9, ...query })).map(
        (it) => `${it.instance} ${it.person}`,
      );
    expect(await list({ limit: 4 })).toEqual(['prod corp/B', 'prod corp/a', 'prod corp/b', 'test corp/B']);
    expect(await list({ after: { instance: 'prod', person: 'corp/b' }, limit: 2 })).toEqual([
      'test corp/B',
      'test corp/a',
    ]);
    expect(await list({ instance: 'test', person: 'corp/b' })).toEqual(['test corp/b']);
    expect(await list({ person: 'corp/B' })).toEqual(['prod corp/B', 'test corp/B']);
    expect(await list({ person: 'corp/\0' })).toEqual([]);
  });

  test('replaces the body of one version, and removes a connection once', async () => {
    const { connections } = use();
    const connection = buildConnection({});
    await connections.put(connection);
    const next = { masterKeyId: 'm2', body: '{"b":1}' };
    expect(await connections.replace(connection, 2, next)).toBe(false);
    expect(await connections.replace(connection, 1, next)).toBe(true);
    expect(await connections.find('prod', 'corp/ada')).toMatchObject({ ...next, version: 2 });
    expect(await connections.remove('prod', 'corp/bob')).toBe(false);
    expect(await connections.remove('prod', 'corp/ada')).toBe(true);
    expect(await connections.remove('prod', 'corp/ada')).toBe(false);
    expect(await connections.replace(connection, 2, next)).toBe(false);
  });

  test('removes the connections of an instance with it, and of no other one', async () => {
    const { connections, instances } = use();
    await connections.put(buildConnection({}));
    await connections.put(buildConnection({ instance: 'test', instanceId: 'j' }));
    expect(await instances.remove('i', 1)).toBe('done');
    expect((await connections.list({ after: null, limit: 9 })).map(({ instance }) => instance)).toEqual([
      'test',
    ]);
  });

  test('tells watchers of each change', async () => {
    const store = use();
    const told: unknown[] = [];
    store.watch((change) => change?.kind === 'connection' && told.push(change.id));
    await store.connections.put(buildConnection({}));
    await store.connections.put(buildConnection({ body: '{"b":1}' }));
    await store.connections.put(buildConnection({ person: 'corp/bob' }));
    await store.connections.remove('prod', 'corp/ada');
    await store.instances.remove('i', 1);
    const [ada, bob] = ['prod corp/ada', 'prod corp/bob'];
    await expect.poll(() => told).toEqual([ada, ada, bob, ada, bob]);
  });
}

/** Tests the changes of denied subjects. */
function describeDeniedSubjects(use: () => Store): void {
  test('denies a subject once, and allows it again', async () => {
    const { deniedSubjects } = use();
    expect(await deniedSubjects.find('corp/ada')).toBeNull();
    expect(await deniedSubjects.deny({ id: 'corp/ada', deniedAt: 5 })).toBe(true);
    expect(await deniedSubjects.deny({ id: 'corp/ada', deniedAt: 6 })).toBe(false);
    expect(await deniedSubjects.find('corp/ada')).toEqual({ id: 'corp/ada', deniedAt: 5 });
    expect(await deniedSubjects.allow('corp/ada')).toBe(true);
    expect(await deniedSubjects.allow('corp/ada')).toBe(false);
    expect(await deniedSubjects.find('corp/ada')).toBeNull();
  });

  test('lists subjects by the code points of their ids, in pages', async () => {
    const { deniedSubjects } = use();
    for (const id of ['corp/b', 'corp/B', 'corp/a|x', 'a/z']) await deniedSubjects.deny({ id, deniedAt: 1 });
    const ids = async (after: string | null, limit: number) =>
      (await deniedSubjects.list(after, limit)).map((subject) => subject.id);
    expect(await ids(null, 9)).toEqual(['a/z', 'corp/B', 'corp/a|x', 'corp/b']);
    expect(await ids('corp/B', 1)).toEqual(['corp/a|x']);
    expect(await ids('corp/b', 9)).toEqual([]);
    const asked = ['corp/b', 'corp/c', 'corp/a|x'];
    expect((await deniedSubjects.findAll(asked)).map(({ id }) => id).toSorted()).toEqual([
      'corp/a|x',
      'corp/b',
    ]);
    expect(await deniedSubjects.findAll([])).toEqual([]);
  });

  test('tells watchers of each change', async () => {
    const store = use();
    const told: unknown[] = [];
    store.watch((change) => change?.kind === 'subject' && told.push(change.id));
    await store.deniedSubjects.deny({ id: 'corp/a b', deniedAt: 1 });
    await store.deniedSubjects.allow('corp/a b');
    await expect.poll(() => told).toEqual(['corp/a b', 'corp/a b']);
  });
}

type Run = (store: Store, auditBatch: AuditBatch) => unknown | Promise<unknown>;

const PING = {
  id: 'p2',
  type: 'ping',
  body: '{}',
  state: 'failed',
  status: null,
  failure: 'no',
  durationMs: 1,
} as const;

/** A subscription `s` with a delivery `m` that was taken, and a ping `p`. */
async function insertDelivered({ subscriptions }: Store): Promise<void> {
  await subscriptions.insert(buildSubscription(), 9);
  await subscriptions.holdShards('this', { ttlMs: 60_000, latestMs: 60_000 });
  const delivery = { id: 'm', record: '7', type: 't', body: '{}' };
  await subscriptions.commitReading('this', 's', 0, { progress: '{}', now: 1, deliveries: [delivery] });
  const bounds = {
    claim: 'c',
    receivers: 'working',
    subscriptionsMax: 1,
    deliveriesMax: 1,
    except: [],
  } as const;
  await subscriptions.claimDeliveries({ owner: 'this', now: 1, endsAt: 2, ...bounds });
  const receiver = { failures: 0, failingSince: null, retryAt: null, lastFailure: null, deliveredAt: 1 };
  await subscriptions.recordAttempts('s', 'c', {
    now: 1,
    results: [{ id: 'm', state: 'delivered', nextAt: 1, status: 200, failure: null, durationMs: 1 }],
    ...receiver,
    wakesAll: false,
    disables: null,
  });
  await subscriptions.logDelivery('s', { ...PING, id: 'p' }, 1);
}

function subscriptionChanges(version: number, delivery: string, outcome: string): [string, Run, unknown][] {
  const paused = { state: 'paused', reason: 'r', now: 1 } as const;
  const next = { body: '{}', restarts: false };
  return [
    [
      'subscriptions.replace',
      (all, auditBatch) => all.subscriptions.replace('s', version, next, auditBatch),
      outcome,
    ],
    [
      'subscriptions.setState',
      (all, auditBatch) => all.subscriptions.setState('s', version, paused, auditBatch),
      outcome,
    ],
    [
      'subscriptions.remove',
      (all, auditBatch) => all.subscriptions.remove('s', version, auditBatch),
      outcome,
    ],
    [
      'subscriptions.replay',
      (all, auditBatch) => all.subscriptions.replay('s', delivery, 9, auditBatch),
      outcome,
    ],
  ];
}

function describeAuditRecords(use: () => Store): void {
  let store: Store;

  beforeEach(async () => {
    store = use();
    await store.keys.insert(buildKey({ id: 'a' }));
    await store.instances.insert(buildInstance({ id: 'i', name: 'prod' }));
    await store.approvals.ask(buildRequest(), { clientMax: 1, totalMax: 1 });
    await store.deniedSubjects.deny({ id: 'corp/a', deniedAt: 1 });
    await store.operatorTokens.insert(buildToken({ id: 't' }));
    await store.connections.put(buildConnection({}));
    await insertDelivered(store);
  });

  const successor = buildKey({ id: 'c', replaces: 'a' });
  const rotation = { now: 5, expiresAt: 9, successor };
  const next = { masterKeyId: 'm2', body: '{}' };
  const done: [string, Run, unknown][] = [
    ['keys.insert', ({ keys }, auditBatch) => keys.insert(buildKey({ id: 'b' }), auditBatch), undefined],
    ['keys.update', ({ keys }, auditBatch) => keys.update('a', 1, { name: 'other' }, auditBatch), 'done'],
    ['keys.revoke', ({ keys }, auditBatch) => keys.revoke('a', 5, auditBatch), true],
    ['keys.rotate', ({ keys }, auditBatch) => keys.rotate('a', 1, rotation, auditBatch), 'done'],
    [
      'instances.insert',
      ({ instances }, auditBatch) => instances.insert(buildInstance({ name: 'b' }), auditBatch),
      'done',
    ],
    ['instances.replace', ({ instances }, auditBatch) => instances.replace('i', 1, next, auditBatch), 'done'],
    ['instances.remove', ({ instances }, auditBatch) => instances.remove('i', 1, auditBatch), 'done'],
    [
      'connections.put',
      ({ connections }, auditBatch) => connections.put(buildConnection({ person: 'corp/bob' }), auditBatch),
      'done',
    ],
    [
      'connections.replace',
      ({ connections }, auditBatch) => connections.replace(buildConnection({}), 1, next, auditBatch),
      true,
    ],
    [
      'connections.remove',
      ({ connections }, auditBatch) => connections.remove('prod', 'corp/ada', auditBatch),
      true,
    ],
    ['approvals.decide', ({ approvals }, auditBatch) => approvals.decide('a', APPROVE, auditBatch), 'done'],
    [
      'deniedSubjects.deny',
      (all, auditBatch) => all.deniedSubjects.deny({ id: 'corp/b', deniedAt: 1 }, auditBatch),
      true,
    ],
    ['deniedSubjects.allow', (all, auditBatch) => all.deniedSubjects.allow('corp/a', auditBatch), true],
    [
      'operatorTokens.insert',
      (all, auditBatch) => all.operatorTokens.insert(buildToken({ id: 'u' }), auditBatch),
      undefined,
    ],
    ['operatorTokens.revoke', (all, auditBatch) => all.operatorTokens.revoke('t', 5, auditBatch), true],
    ...subscriptionChanges(1, 'm', 'done'),
    [
      'subscriptions.insert',
      (all, auditBatch) =>
        all.subscriptions.insert(buildSubscription({ id: 't', name: 'other' }), 9, auditBatch),
      'done',
    ],
    [
      'subscriptions.replaySince',
      (all, auditBatch) => all.subscriptions.replaySince('s', 0, 9, auditBatch),
      1,
    ],
    [
      'subscriptions.logDelivery',
      (all, auditBatch) => all.subscriptions.logDelivery('s', PING, 9, auditBatch),
      undefined,
    ],
  ];
  const undone: [string, Run, unknown][] = [
    ['keys.update', ({ keys }, auditBatch) => keys.update('a', 2, { name: 'other' }, auditBatch), 'conflict'],
    ['keys.revoke', ({ keys }, auditBatch) => keys.revoke('missing', 5, auditBatch), false],
    [
      'deniedSubjects.deny',
      (all, auditBatch) => all.deniedSubjects.deny({ id: 'corp/a', deniedAt: 1 }, auditBatch),
      false,
    ],
    ['deniedSubjects.allow', (all, auditBatch) => all.deniedSubjects.allow('corp/b', auditBatch), false],
    [
      'connections.put',
      (all, auditBatch) => all.connections.put(buildConnection({ instance: 'gone' }), auditBatch),
      'missing',
    ],
    [
      'connections.replace',
      (all, auditBatch) => all.connections.replace(buildConnection({}), 2, next, auditBatch),
      false,
    ],
    ['connections.remove', (all, auditBatch) => all.connections.remove('prod', 'corp/x', auditBatch), false],
    ['operatorTokens.revoke', (all, auditBatch) => all.operatorTokens.revoke('u', 5, auditBatch), false],
    ['keys.rotate', ({ keys }, auditBatch) => keys.rotate('a', 2, rotation, auditBatch), 'conflict'],
    ...subscriptionChanges(2, 'p', 'conflict'),
    [
      'subscriptions.insert',
      (all, auditBatch) => all.subscriptions.insert(buildSubscription({ id: 't' }), 9, auditBatch),
      'conflict',
    ],
    [
      'instances.insert',
      ({ instances }, auditBatch) => instances.insert(buildInstance({ id: 'j', name: 'prod' }), auditBatch),
      'conflict',
    ],
    [
      'instances.replace',
      ({ instances }, auditBatch) => instances.replace('i', 2, next, auditBatch),
      'conflict',
    ],
    [
      'instances.remove',
      ({ instances }, auditBatch) => instances.remove('missing', 1, auditBatch),
      'missing',
    ],
    [
      'approvals.decide',
      ({ approvals }, auditBatch) => approvals.decide('missing', APPROVE, auditBatch),
      'missing',
    ],
    [
      'approvals.decide too late',
      ({ approvals }, auditBatch) => approvals.decide('a', { ...APPROVE, now: 2000 }, auditBatch),
      'conflict',
    ],
  ];

  test.each(done)('%s appends its audit record', async (_, run, outcome) => {
    expect(await run(store, makeBatch({ at: 1, record: '{"n":1}' }))).toBe(outcome);
    const rows = await store.audit.readAfter(0, 10);
    expect(rows.map((row) => row.record)).toEqual(['{"n":1}']);
    expectChain(rows);
  });

  test.each(undone)('%s appends no auditBatch if it changes nothing', async (_, run, outcome) => {
    expect(await run(store, makeBatch({ at: 1, record: '{"n":1}' }))).toBe(outcome);
    expect(await store.audit.readAfter(0, 10)).toEqual([]);
  });

  test('revoking a revoked key appends no second audit record', async () => {
    await store.keys.revoke('a', 5, makeBatch({ at: 1, record: '{"n":1}' }));
    expect(await store.keys.revoke('a', 6, makeBatch({ at: 1, record: '{"n":2}' }))).toBe(true);
    expect(await store.audit.readAfter(0, 10)).toHaveLength(1);
  });

  test('a rotation changes both keys, or neither', async () => {
    expect(await store.keys.rotate('a', 7, rotation)).toBe('conflict');
    expect(await store.keys.findById('c')).toBeNull();
    expect(await store.keys.rotate('missing', 1, rotation)).toBe('missing');
    expect(await store.keys.rotate('a', 1, rotation)).toBe('done');
    expect(await store.keys.findById('a')).toMatchObject({ expiresAt: 9, version: 2 });
    expect(await store.keys.findById('c')).toMatchObject({ replaces: 'a', version: 1 });
    expect(await store.audit.readAfter(0, 10)).toEqual([]);
  });
}

function describeCallCounts(use: () => CallCountStore): void {
  const add = (period: string, calls: Record<string, number>) =>
    use().add(Object.entries(calls).map(([clientId, count]) => ({ period, clientId, calls: count })));

  test('adds calls by client and month, and returns the sums', async () => {
    expect(await use().read('2026-11', 'a')).toBe(0);
    expect(await add('2026-11', { a: 3 })).toEqual([{ period: '2026-11', clientId: 'a', calls: 3 }]);
    const both = await use().add([
      { period: '2026-11', clientId: 'a', calls: 2 },
      { period: '2026-12', clientId: 'a', calls: 7 },
    ]);
    expect(both.toSorted((one, other) => one.calls - other.calls)).toEqual([
      { period: '2026-11', clientId: 'a', calls: 5 },
      { period: '2026-12', clientId: 'a', calls: 7 },
    ]);
    expect(await use().read('2026-11', 'a')).toBe(5);
    expect(await use().read('2026-11', 'b')).toBe(0);
    expect(await use().add([])).toEqual([]);
  });

  test('counts beyond 32 bits', async () => {
    await add('2026-11', { a: 2 ** 40 });
    expect(await add('2026-11', { a: 1 })).toMatchObject([{ calls: 2 ** 40 + 1 }]);
  });

  test('adds the calls of several writers to the same clients', async () => {
    const clients = Array.from({ length: 50 }, (_, index) => `client ${index}`);
    const calls = Object.fromEntries(clients.map((client) => [client, 1]));
    const reversed = Object.fromEntries(clients.toReversed().map((client) => [client, 2]));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => add('2026-11', index % 2 === 0 ? calls : reversed)),
    );
    for (const client of clients) expect(await use().read('2026-11', client)).toBe(30);
  });

  test('removes counts of more than a year before', async () => {
    for (const month of ['2025-10', '2025-11', '2026-10']) await add(month, { a: 1 });
    await add('2026-11', { b: 1 });
    const read = async (period: string) => await use().read(period, 'a');
    expect([await read('2025-10'), await read('2025-11'), await read('2026-10')]).toEqual([0, 1, 1]);
  });

  test('removes counts of days before the day before, and keeps those of months', async () => {
    const read = async (periods: string[]) =>
      await Promise.all(periods.map((period) => use().read(period, 'a')));
    for (const period of ['2026-10', '2026-10-30', '2026-10-31', '2026-11', '2026-11-01'])
      await add(period, { a: 1 });
    await add('2026-11', { b: 1 });
    expect(await read(['2026-10-30', '2026-10-31', '2026-11', '2026-11-01'])).toEqual([0, 1, 1, 1]);
    await add('2026-11-03', { b: 1 });
    expect(await read(['2026-10', '2026-11', '2026-11-01'])).toEqual([1, 1, 0]);
  });
}

/** Tests rotations: a key has at most one successor at a time. */
function describeRotations(use: () => Store): void {
  const build = (id: string, changes: Partial<StoredKey> = {}) => buildKey({ id, replaces: 'a', ...changes });

  beforeEach(async () => {
    await use().keys.insert(buildKey({ id: 'a', expiresAt: 20 }));
    await use().keys.insert(buildKey({ id: 'other', replaces: 'b' }));
  });

  /** Rotates key `a`. Its version does not change if its expiry does not. */
  const rotate = (id: string, now = 5, changes: Partial<StoredKey> = {}) =>
    use().keys.rotate('a', 1, { now, expiresAt: 20, successor: build(id, changes) });

  test('are refused with the id of the successor while that works', async () => {
    expect(await rotate('c', 5, { expiresAt: 10 })).toBe('done');
    const before = await use().keys.findById('a');
    expect(await rotate('d', 9)).toEqual({ successorId: 'c' });
    expect(await use().keys.findById('d')).toBeNull();
    expect(await use().keys.findById('a')).toEqual(before);
  });

  test('are possible again when the successor has expired', async () => {
    expect(await rotate('c', 5, { expiresAt: 10 })).toBe('done');
    expect(await rotate('d', 10)).toBe('done');
  });

  test('are possible again when the successor is revoked', async () => {
    expect(await rotate('c')).toBe('done');
    await use().keys.revoke('c', 6);
    expect(await rotate('d', 7)).toBe('done');
    expect(await rotate('e', 7)).toEqual({ successorId: 'd' });
  });

  test('that run at once leave one successor', async () => {
    const results = await Promise.all(['c', 'd', 'e', 'f'].map(async (id) => rotate(id)));
    expect(results.filter((result) => result === 'done')).toHaveLength(1);
    expect(results.filter((result) => typeof result === 'object')).toHaveLength(3);
  });

  test('append no auditBatch if they are refused', async () => {
    const auditBatch = () => makeBatch({ at: 1, record: '{"n":1}' });
    const successors = [build('c'), build('d')];
    for (const successor of successors)
      await use().keys.rotate('a', 1, { now: 5, expiresAt: 20, successor }, auditBatch());
    expect(await use().audit.readAfter(0, 10)).toHaveLength(1);
  });
}

function describeRefusedAuditRecords(
  name: string,
  open: () => Store | Promise<Store>,
  refuseAudit: () => unknown | Promise<unknown>,
): void {
  test(`${name} store: a change is not made if the audit refuses its auditBatch`, async () => {
    const store = await open();
    const { keys, instances, approvals, subscriptions } = store;
    await keys.insert(buildKey({ id: 'a' }));
    await instances.insert(buildInstance({ id: 'i', name: 'prod' }));
    await insertDelivered(store);
    await approvals.ask(buildRequest(), { clientMax: 1, totalMax: 1 });
    const readAll = async () => [
      await keys.findById('a'),
      await instances.findByName('prod'),
      await approvals.find('a'),
      await subscriptions.findByName('orders'),
      await subscriptions.listDeliveries('s', { beforeSeq: null, limit: 9 }),
    ];
    const before = await readAll();
    await refuseAudit();
    const auditBatch = () => makeBatch({ at: 1, record: '{}' });
    const successor = buildKey({ id: 'c', replaces: 'a' });
    const changes: (() => unknown | Promise<unknown>)[] = [
      () => keys.insert(buildKey({ id: 'b' }), auditBatch()),
      () => keys.update('a', 1, { name: 'other' }, auditBatch()),
      () => keys.revoke('a', 5, auditBatch()),
      () => keys.rotate('a', 1, { now: 5, expiresAt: 9, successor }, auditBatch()),
      () => instances.insert(buildInstance({ name: 'b' }), auditBatch()),
      () => instances.replace('i', 1, { masterKeyId: 'm2', body: '{}' }, auditBatch()),
      () => instances.remove('i', 1, auditBatch()),
      () => store.connections.put(buildConnection({}), auditBatch()),
      () => approvals.decide('a', APPROVE, auditBatch()),
      () => store.deniedSubjects.deny({ id: 'corp/a', deniedAt: 1 }, auditBatch()),
      () => store.operatorTokens.insert(buildToken({ id: 't' }), auditBatch()),
      () => subscriptions.insert(buildSubscription({ id: 't', name: 'other' }), 9, auditBatch()),
      ...subscriptionChanges(1, 'm', 'done').map(
        ([, run]) =>
          () =>
            run(store, auditBatch()),
      ),
      () => subscriptions.replaySince('s', 0, 9, auditBatch()),
      () => subscriptions.logDelivery('s', PING, 9, auditBatch()),
    ];
    for (const change of changes) await expect((async () => change())()).rejects.toThrow('no audit today');
    expect(await readAll()).toEqual(before);
    expect(await keys.list({ after: null, limit: 9 })).toHaveLength(1);
    expect(await instances.list({ after: null, limit: 9 })).toHaveLength(1);
    expect(await store.deniedSubjects.list(null, 9)).toEqual([]);
    expect(await store.operatorTokens.list(null, 9)).toEqual([]);
    expect(await store.connections.list({ after: null, limit: 9 })).toEqual([]);
    await store.close();
  });
}

function describeLeases(use: () => Store): void {
  test('belong to one owner at a time, who can acquire them again', async () => {
    const { leases } = use();
    expect(await leases.acquire('job', 'one', 60_000)).toBe(true);
    expect(await leases.acquire('job', 'two', 60_000)).toBe(false);
    expect(await leases.acquire('job', 'one', 60_000)).toBe(true);
    expect(await leases.acquire('other job', 'two', 60_000)).toBe(true);
  });

  test('are released by their owner only', async () => {
    const { leases } = use();
    await leases.acquire('job', 'one', 60_000);
    await leases.release('job', 'two');
    await leases.release('no job', 'two');
    expect(await leases.acquire('job', 'two', 60_000)).toBe(false);
    await leases.release('job', 'one');
    expect(await leases.acquire('job', 'two', 60_000)).toBe(true);
  });

  test('expire unless they are renewed', async () => {
    const { leases } = use();
    await leases.acquire('short', 'one', 50);
    await leases.acquire('renewed', 'one', 50);
    await leases.acquire('renewed', 'one', 60_000);
    await expect.poll(() => leases.acquire('short', 'two', 60_000)).toBe(true);
    expect(await leases.acquire('renewed', 'two', 60_000)).toBe(false);
  });

  test('count as expired if they end later than they may, as after a clock that was set back', async () => {
    const { leases } = use();
    await leases.acquire('job', 'one', 3_600_000);
    expect(await leases.acquire('job', 'two', 15_000)).toBe(false);
    expect(await leases.acquire('job', 'two', 15_000, null)).toBe(false);
    expect(await leases.acquire('job', 'two', 15_000, 3_600_000)).toBe(false);
    expect(await leases.acquire('job', 'two', 15_000, 16_000)).toBe(true);
    expect(await leases.acquire('job', 'one', 15_000, 16_000)).toBe(false);
  });
}

function describeOwnChanges(use: () => Store): void {
  test('are reported to every watcher, with the id of the key or the name of the instance', async () => {
    const store = use();
    const notified: (StoreChange | null)[] = [];
    const notifiedSecond: (StoreChange | null)[] = [];
    store.watch((change) => notified.push(change));
    store.watch((change) => notifiedSecond.push(change));
    await expect.poll(() => store.isWatching).toBe(true);
    await expectNotified(notified, 'key', 'a', () => store.keys.insert(buildKey({ id: 'a' })));
    await expectNotified(notified, 'key', 'a', () => store.keys.update('a', 1, { name: 'new' }));
    await expectNotified(notified, 'key', 'a', () => store.keys.revoke('a', 5));
    await expectNotified(notified, 'instance', 'prod', () =>
      store.instances.insert(buildInstance({ id: 'i', name: 'prod' })),
    );
    await expectNotified(notified, 'instance', 'prod', () =>
      store.instances.replace('i', 1, { masterKeyId: 'm2', body: '{}' }),
    );
    await expectNotified(notifiedSecond, 'instance', 'prod', () => store.instances.remove('i', 2));
  });

  test('do not include uses of keys, the audit and leases', async () => {
    const store = use();
    await store.keys.insert(buildKey({ id: 'used' }));
    await store.keys.insert(buildKey({ id: 'changed' }));
    const notified = vi.fn<(change: StoreChange | null) => void>();
    store.watch(notified);
    await expect.poll(() => store.isWatching).toBe(true);
    // Changes are reported in order: once this one has arrived, no earlier change can follow.
    await store.keys.insert(buildKey({ id: 'last' }));
    await expect.poll(() => notified.mock.calls.map(([change]) => change?.id)).toContain('last');
    notified.mockClear();
    await store.keys.touch(new Map([['used', 99]]));
    await store.audit.append(makeBatch({ at: 1, record: '{}' }));
    await store.leases.acquire('job', 'one', 1000);
    await store.keys.revoke('changed', 5);
    await expect.poll(() => notified.mock.calls.length).toBeGreaterThan(0);
    expect(new Set(notified.mock.calls.map(([change]) => change?.id))).toEqual(new Set(['changed']));
  });
}

async function expectNotified(
  notified: (StoreChange | null)[],
  kind: StoreChange['kind'],
  id: string,
  run: () => unknown | Promise<unknown>,
): Promise<void> {
  notified.length = 0;
  await run();
  await expect
    .poll(() => notified.some((change) => change === null || (change.kind === kind && change.id === id)))
    .toBe(true);
}

/** Expects that each row follows the one before it, by number and by hash. */
export function expectChain(
  rows: readonly AuditRow[],
  floor: AuditPosition = { seq: 0, hash: new Uint8Array(32) },
): void {
  let before: AuditPosition = floor;
  for (const row of rows) {
    expect(row.seq).toBe(before.seq + 1);
    expect([...row.hash]).toEqual([...hashRow(CHAIN_KEY, before.hash, row.seq, row.record)]);
    before = row;
  }
}

export function buildKey(overrides: Partial<StoredKey> & { id: string }): StoredKey {
  return {
    clientId: overrides.id,
    name: 'test',
    person: null,
    policy: null,
    secretHash: new Uint8Array(32).fill(7),
    createdAt: 1,
    createdBy: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replaces: null,
    version: 1,
    ...overrides,
  };
}

function buildConnection(overrides: Partial<StoredConnection>): Omit<StoredConnection, 'version'> {
  return {
    instance: 'prod',
    person: 'corp/ada',
    instanceId: 'i',
    masterKeyId: 'm1',
    body: '{"a":1}',
    ...overrides,
  };
}

export function buildToken(overrides: Partial<StoredOperatorToken> & { id: string }): StoredOperatorToken {
  return {
    name: 'test',
    role: 'approver',
    instances: null,
    secretHash: new Uint8Array(32).fill(7),
    createdAt: 1,
    createdBy: '{"type":"token","id":"token","name":"admin.token"}',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...overrides,
  };
}

/**
 * Keys of a store from before it had clients. One client was rotated twice, and the first key of another client is
 * missing.
 */
export const ROTATED_KEYS: readonly (Partial<StoredKey> & { id: string })[] = [
  { id: 'c', replaces: 'b' },
  { id: 'b', replaces: 'a' },
  { id: 'a', revokedAt: 5 },
  { id: 'x' },
  { id: 'y', replaces: 'missing' },
  { id: 'z', replaces: 'y' },
];

export const CLIENTS_OF_ROTATED_KEYS = { a: 'a', b: 'a', c: 'a', x: 'x', y: 'y', z: 'y' };

/** The client of each key, by the id of the key. */
export async function listClients({ keys }: Pick<Store, 'keys'>): Promise<Record<string, string>> {
  const list = await keys.list({ after: null, limit: 100 });
  return Object.fromEntries(list.map(({ id, clientId }) => [id, clientId]));
}

/** The id is derived from the name by default. */
function buildInstance(overrides: Partial<Omit<StoredInstance, 'version'>>): Omit<StoredInstance, 'version'> {
  const name = overrides.name ?? 'prod';
  return { id: `id of ${name}`, name, masterKeyId: 'm1', body: '{}', ...overrides };
}

function readable(key: StoredKey | null) {
  return key && { ...key, secretHash: [...key.secretHash] };
}

function plain(place: AuditPosition | null) {
  return place && { seq: place.seq, hash: [...place.hash] };
}

/** What every store promises, as one test suite that each store's test runs. Test support: nothing else imports it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KeyStore, Store, StoredKey } from './ports.ts';

export function describeStore(name: string, open: () => Store | Promise<Store>): void {
  describe(`${name} store`, () => {
    let store: Store;
    let keys: KeyStore;

    beforeEach(async () => {
      store = await open();
      keys = store.keys;
    });
    afterEach(() => store.close());

    test('gives back a key as it was put in', async () => {
      const plain = buildKey({ id: 'plain' });
      const full = buildKey({
        id: 'full',
        expiresAt: 2 ** 45,
        revokedAt: 3,
        lastUsedAt: 4,
        name: 'Zoë’s shop 🛒',
      });
      await keys.insert(plain);
      await keys.insert(full);
      expect(readable(await keys.findById('plain'))).toEqual(readable(plain));
      expect(readable(await keys.findById('full'))).toEqual(readable(full));
    });

    test('finds no key under an unknown id, in another case, or by a pattern', async () => {
      await keys.insert(buildKey({ id: 'aB' }));
      for (const id of ['', 'ab', 'AB', 'a%', 'aB ', "' OR 1=1 --", 'aB\0']) {
        expect(await keys.findById(id)).toBeNull();
      }
    });

    test('refuses an id that is taken and keeps the first key', async () => {
      await keys.insert(buildKey({ id: 'taken', name: 'first' }));
      await expect((async () => keys.insert(buildKey({ id: 'taken', name: 'second' })))()).rejects.toThrow();
      expect((await keys.findById('taken'))?.name).toBe('first');
    });

    test('lists the oldest key first, without its hash', async () => {
      await keys.insert(buildKey({ id: 'b', createdAt: 20 }));
      await keys.insert(buildKey({ id: 'c', createdAt: 10 }));
      await keys.insert(buildKey({ id: 'a', createdAt: 20 }));
      const listed = await keys.list();
      expect(listed.map((key) => key.id)).toEqual(['c', 'a', 'b']);
      expect(Object.keys(listed[0] ?? {}).sort()).toEqual([
        'createdAt',
        'expiresAt',
        'id',
        'lastUsedAt',
        'name',
        'revokedAt',
      ]);
    });

    test('is empty until the first key, and not again when that is revoked', async () => {
      expect(await keys.isEmpty()).toBe(true);
      await keys.insert(buildKey({ id: 'first' }));
      await keys.revoke('first', 5);
      expect(await keys.isEmpty()).toBe(false);
    });

    test('revokes one key, and keeps the time of the first revocation', async () => {
      await keys.insert(buildKey({ id: 'revoked' }));
      await keys.insert(buildKey({ id: 'other' }));
      expect(await keys.revoke('revoked', 50)).toBe(true);
      expect(await keys.revoke('revoked', 60)).toBe(true);
      expect((await keys.findById('revoked'))?.revokedAt).toBe(50);
      expect((await keys.findById('other'))?.revokedAt).toBeNull();
    });

    test('says that a key it does not have cannot be revoked', async () => {
      expect(await keys.revoke('nobody', 50)).toBe(false);
    });

    test('moves the last use forward, never back, and skips ids that are gone', async () => {
      await keys.insert(buildKey({ id: 'a' }));
      await keys.insert(buildKey({ id: 'b', lastUsedAt: 90 }));
      await keys.touch(
        new Map([
          ['a', 80],
          ['gone', 80],
          ['b', 80],
        ]),
      );
      expect((await keys.findById('a'))?.lastUsedAt).toBe(80);
      expect((await keys.findById('b'))?.lastUsedAt).toBe(90);
      expect(await keys.findById('gone')).toBeNull();
      await keys.touch(new Map([['b', 100]]));
      await keys.touch(new Map());
      expect((await keys.findById('b'))?.lastUsedAt).toBe(100);
    });

    test('keeps the first hash secret for good', async () => {
      const first = await keys.getOrCreateHashSecret(new Uint8Array(32).fill(1));
      const second = await keys.getOrCreateHashSecret(new Uint8Array(32).fill(2));
      expect([...first]).toEqual(Array(32).fill(1));
      expect([...second]).toEqual([...first]);
    });

    test('is not changed through a key that it was given or has given', async () => {
      const key = buildKey({ id: 'a' });
      await keys.insert(key);
      key.secretHash.fill(0);
      (await keys.findById('a'))?.secretHash.fill(0);
      expect([...((await keys.findById('a'))?.secretHash ?? [])]).toEqual(Array(32).fill(7));
    });

    test('can be closed twice', async () => {
      await store.close();
      await store.close();
    });
  });
}

export function buildKey(overrides: Partial<StoredKey> & { id: string }): StoredKey {
  return {
    name: 'test',
    secretHash: new Uint8Array(32).fill(7),
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...overrides,
  };
}

function readable(key: StoredKey | null) {
  return key && { ...key, secretHash: [...key.secretHash] };
}

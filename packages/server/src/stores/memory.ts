/**
 * The store that forgets at exit: for tests, demos and trials. Must behave as the lasting ones do; the contract suite
 * holds it to that.
 */
import type { KeyRecord, KeyStore, Store, StoredKey } from './ports.ts';

export function openMemoryStore(): Store {
  return { keys: createKeyStore(), close: () => {} };
}

function createKeyStore(): KeyStore {
  const keys = new Map<string, StoredKey>();
  let hashSecret: Uint8Array | undefined;

  return {
    insert(key) {
      if (keys.has(key.id)) throw new Error(`A key with the id ${key.id} exists already.`);
      keys.set(key.id, copyKey(key));
    },
    findById(id) {
      const key = keys.get(id);
      return key ? copyKey(key) : null;
    },
    list() {
      return [...keys.values()].map(withoutHash).sort(compareByAge);
    },
    isEmpty() {
      return keys.size === 0;
    },
    revoke(id, revokedAt) {
      const key = keys.get(id);
      if (!key) return false;
      if (key.revokedAt === null) keys.set(id, { ...key, revokedAt });
      return true;
    },
    touch(uses) {
      for (const [id, usedAt] of uses) {
        const key = keys.get(id);
        if (key && usedAt > (key.lastUsedAt ?? -Infinity)) keys.set(id, { ...key, lastUsedAt: usedAt });
      }
    },
    getOrCreateHashSecret(candidate) {
      hashSecret ??= candidate.slice();
      return hashSecret.slice();
    },
  };
}

function copyKey(key: StoredKey): StoredKey {
  return { ...key, secretHash: key.secretHash.slice() };
}

function withoutHash({ secretHash: _, ...record }: StoredKey): KeyRecord {
  return record;
}

function compareByAge(a: KeyRecord, b: KeyRecord): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

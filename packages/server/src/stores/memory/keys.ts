/** Client keys in memory. Copies keys in both directions, so that callers cannot change the store. */
import { isDeepStrictEqual } from 'node:util';
import type {
  AuditBatch,
  Change,
  ChangeListener,
  KeyListQuery,
  KeyRecord,
  KeyStore,
  StoredKey,
} from '../ports.ts';
import { compareCodePoints, containsInAnyCase } from './text.ts';

export function createMemoryKeys(
  tell: ChangeListener,
  appendAct: (act: AuditBatch | undefined) => void,
): KeyStore {
  const keys = new Map<string, StoredKey>();
  let hashSecret: Uint8Array | undefined;

  function put(key: StoredKey): void {
    keys.set(key.id, copyKey(key));
    tell({ kind: 'key', id: key.id });
  }

  function insert(key: StoredKey): void {
    if (keys.has(key.id)) throw new Error(`A key with the id ${key.id} exists already.`);
    put(key);
  }

  function update(id: string, version: number, changes: Partial<KeyRecord>): Change {
    const key = keys.get(id);
    if (!key) return 'missing';
    if (key.version !== version) return 'conflict';
    const next = { ...key, ...changes };
    if (!isDeepStrictEqual(next, key)) put({ ...next, version: version + 1 });
    return 'done';
  }

  return {
    insert(key, act) {
      insert(key);
      appendAct(act);
    },
    findById(id) {
      const key = keys.get(id);
      return key ? copyKey(key) : null;
    },
    list(query) {
      return [...keys.values()]
        .filter((key) => isListed(key, query))
        .sort(compareByAge)
        .slice(0, query.limit)
        .map(withoutHash);
    },
    listNames(ids) {
      return [...new Set(ids)].flatMap((id) => {
        const key = keys.get(id);
        return key === undefined ? [] : [{ id, name: key.name }];
      });
    },
    listEnding(from, until, limit) {
      return [...keys.values()]
        .filter(({ expiresAt, revokedAt }) => revokedAt === null && isBetween(expiresAt, from, until))
        .sort((a, b) => Number(a.expiresAt) - Number(b.expiresAt) || compareCodePoints(a.id, b.id))
        .slice(0, limit)
        .map((key) => ({
          ...withoutHash(key),
          expiresAt: Number(key.expiresAt),
          isReplaced: [...keys.values()].some((other) => worksLonger(other, key)),
        }));
    },
    isEmpty() {
      return keys.size === 0;
    },
    update(id, version, changes, act) {
      const result = update(id, version, changes);
      if (result === 'done') appendAct(act);
      return result;
    },
    revoke(id, revokedAt, act) {
      const key = keys.get(id);
      if (key?.revokedAt === null) {
        put({ ...key, revokedAt, version: key.version + 1 });
        appendAct(act);
      }
      return key !== undefined;
    },
    rotate(id, version, { now, expiresAt, successor }, act) {
      if (keys.get(id)?.version === version) {
        const successorNow = [...keys.values()].find(
          (key) => key.replaces === id && readState(key, now) === 'active',
        );
        if (successorNow !== undefined) return { successorId: successorNow.id };
      }
      const result = update(id, version, { expiresAt });
      if (result !== 'done') return result;
      insert(successor);
      appendAct(act);
      return result;
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

function isListed(key: StoredKey, { after, state, search, name }: KeyListQuery): boolean {
  return (
    (after === null || compareByAge(key, after) > 0) &&
    (state === undefined || readState(key, state.now) === state.is) &&
    (name === undefined || key.name === name) &&
    (search === undefined || containsInAnyCase([key.id, key.name], search))
  );
}

function isBetween(time: number | null, from: number, until: number): boolean {
  return time !== null && time >= from && time < until;
}

function worksLonger(other: KeyRecord, key: KeyRecord): boolean {
  if (other.clientId !== key.clientId || other.revokedAt !== null) return false;
  return (other.expiresAt ?? Infinity) > (key.expiresAt ?? Infinity);
}

function readState({ revokedAt, expiresAt }: KeyRecord, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

function compareByAge(
  a: Pick<KeyRecord, 'createdAt' | 'id'>,
  b: Pick<KeyRecord, 'createdAt' | 'id'>,
): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.id, b.id);
}

function copyKey(key: StoredKey): StoredKey {
  return { ...key, secretHash: key.secretHash.slice() };
}

function withoutHash({ secretHash: _, ...record }: StoredKey): KeyRecord {
  return record;
}

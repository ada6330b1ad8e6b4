/**
 * Client keys: makes them, revokes them, and tells whether a text that a caller sent is a valid one. Why a key is
 * refused is for the operator's log only. Knows neither HTTP nor what a key may do.
 */
import { createHmac, createSecretKey, hash, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Awaitable, KeyRecord, KeyStore, Store, StoredKey } from '../stores/ports.ts';
import { generateKey, parseKey } from './format.ts';
import { createLastUsed } from './last-used.ts';

/** Half of the second in which a key that another process revoked must stop working. */
const FRESH_MS = 500;
/** About 5 MB when full; a key beyond costs one store lookup and one HMAC a call. */
const CACHED_KEYS_MAX = 10_000;
const NAME_LENGTH_MAX = 200;
const HASH_SECRET_LENGTH_MIN = 32;
/** An unknown id is compared with this, so that it takes as long as a wrong secret. */
const NO_HASH = new Uint8Array(32);

export interface KeyRefusal {
  readonly refused: 'missing' | 'malformed' | 'unknown' | 'expired' | 'revoked';
  /** The id that the text claimed, where it had one. `unknown` is also a known id with a wrong secret. */
  readonly keyId: string | null;
}

export interface NewKey {
  id: string;
  /** The text to send in `x-proxy-api`. It exists here and nowhere else. */
  key: string;
  name: string;
  createdAt: number;
  expiresAt: number | null;
}

export interface KeysOptions {
  store: Store;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** The secret under which keys are hashed; another one makes all keys unknown. Left out: one kept in the store. */
  hashSecret?: string | undefined;
  /** Told of failed writes in the background. */
  onError?: (error: unknown) => void;
}

export interface Keys {
  /** Throws (or rejects) where the store fails: a key that cannot be looked up is not let in. */
  authenticate(text: string | undefined): Awaitable<KeyRecord | KeyRefusal>;
  create(options: { name: string; expiresAt?: number | null | undefined }): Promise<NewKey>;
  list(): Awaitable<KeyRecord[]>;
  isEmpty(): Awaitable<boolean>;
  /** False where there is no such key. */
  revoke(id: string): Promise<boolean>;
  flush(): Promise<void>;
  /** Writes what is left to write; the store stays open. */
  close(): Promise<void>;
}

interface CachedKey {
  record: KeyRecord;
  /** SHA-256 of the text that was found valid: to know it again without the HMAC, and without keeping the text. */
  textHash: Uint8Array;
  readAt: number;
}

export async function createKeys({
  store,
  clock,
  hashSecret,
  onError = () => {},
}: KeysOptions): Promise<Keys> {
  const hashKey = await openHashKey(store.keys, hashSecret);
  const cache = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  const lastUsed = createLastUsed(store.keys, onError);

  function authenticate(text: string | undefined): Awaitable<KeyRecord | KeyRefusal> {
    if (text === undefined || text === '') return { refused: 'missing', keyId: null };
    const parts = parseKey(text);
    if (!parts) return { refused: 'malformed', keyId: null };

    const { id, secret } = parts;
    const now = clock();
    const textHash = hash('sha256', text, 'buffer');
    const cached = cache.get(id);
    if (cached && isFresh(cached, now) && timingSafeEqual(cached.textHash, textHash)) {
      return judge(cached.record, now);
    }
    // A wrong secret of a cached key comes here too: it takes the same work as an unknown id.
    const found = store.keys.findById(id);
    const verify = (stored: StoredKey | null) => verifySecret(stored, id, secret, textHash, now);
    return found instanceof Promise ? found.then(verify) : verify(found);
  }

  function verifySecret(
    stored: StoredKey | null,
    id: string,
    secret: string,
    textHash: Uint8Array,
    readAt: number,
  ): KeyRecord | KeyRefusal {
    const matches = timingSafeEqual(hashSecretOf(secret, hashKey), stored?.secretHash ?? NO_HASH);
    if (!stored || !matches) return { refused: 'unknown', keyId: id };
    const { secretHash: _, ...record } = stored;
    cache.set(id, { record, textHash, readAt });
    return judge(record, clock());
  }

  function judge(record: KeyRecord, now: number): KeyRecord | KeyRefusal {
    if (record.revokedAt !== null) return { refused: 'revoked', keyId: record.id };
    if (record.expiresAt !== null && now >= record.expiresAt) return { refused: 'expired', keyId: record.id };
    lastUsed.note(record, now);
    return record;
  }

  async function create({ name, expiresAt = null }: { name: string; expiresAt?: number | null | undefined }) {
    const createdAt = clock();
    checkName(name);
    checkExpiry(expiresAt, createdAt);
    const { id, secret, text } = generateKey();
    const secretHash = hashSecretOf(secret, hashKey);
    await store.keys.insert({
      id,
      name,
      secretHash,
      createdAt,
      expiresAt,
      revokedAt: null,
      lastUsedAt: null,
    });
    return { id, key: text, name, createdAt, expiresAt };
  }

  async function revoke(id: string): Promise<boolean> {
    const exists = await store.keys.revoke(id, clock());
    cache.delete(id);
    return exists;
  }

  return {
    authenticate,
    create,
    list: () => store.keys.list(),
    isEmpty: () => store.keys.isEmpty(),
    revoke,
    flush: lastUsed.flush,
    close: lastUsed.close,
  };
}

/** An entry from the future is not fresh: a clock that was set back must not keep a revoked key alive. */
function isFresh({ readAt }: CachedKey, now: number): boolean {
  return now >= readAt && now - readAt < FRESH_MS;
}

async function openHashKey(store: KeyStore, setting: string | undefined): Promise<KeyObject> {
  if (setting === undefined) return createSecretKey(await store.getOrCreateHashSecret(randomBytes(32)));
  if (setting.length < HASH_SECRET_LENGTH_MIN) {
    throw new RangeError(
      `keys.hashSecret is too short: give at least ${HASH_SECRET_LENGTH_MIN} random characters, or leave it out.`,
    );
  }
  return createSecretKey(setting, 'utf8');
}

function hashSecretOf(secret: string, hashKey: KeyObject): Uint8Array {
  return createHmac('sha256', hashKey).update(secret).digest();
}

function checkName(name: string): void {
  if (name.trim() === '' || name.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(name)) {
    throw new RangeError(
      `The name of a key is 1 to ${NAME_LENGTH_MAX} characters on one line; say who will use it.`,
    );
  }
}

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    throw new RangeError(
      'expiresAt is not in the future: give a later time, or none for a key that does not expire.',
    );
  }
}

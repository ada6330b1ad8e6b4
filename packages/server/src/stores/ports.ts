/**
 * What the rest of the proxy may ask of a store. A method answers at once or by promise: SQLite and memory have the
 * answer at hand, and a turn of the event loop on every call would cost more than the lookup. Nothing here knows a driver.
 */

/** A value, or a promise of it where the store is across a network. */
export type Awaitable<T> = T | Promise<T>;

/** A client key as anyone may see it. Times are milliseconds since 1970. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** The first moment at which the key no longer works; null: never expires. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Exact to about a minute. */
  readonly lastUsedAt: number | null;
}

/** A client key with what proves it; stays between store and keys/, so that no log can meet it. */
export interface StoredKey extends KeyRecord {
  /** HMAC-SHA256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
}

export interface KeyStore {
  /** Refuses an id that is taken. */
  insert(key: StoredKey): Awaitable<void>;
  findById(id: string): Awaitable<StoredKey | null>;
  /** All keys, the oldest first. */
  list(): Awaitable<KeyRecord[]>;
  /** True while no key was ever inserted; a revoked one counts. */
  isEmpty(): Awaitable<boolean>;
  /** False where there is no such key. A key that is revoked already keeps its first time. */
  revoke(id: string, revokedAt: number): Awaitable<boolean>;
  /** Moves `lastUsedAt` of these ids forward, never back; ids that are gone are skipped. */
  touch(uses: ReadonlyMap<string, number>): Awaitable<void>;
  /** Keeps the candidate if it is the first, and gives the one that was first: one secret for all processes. */
  getOrCreateHashSecret(candidate: Uint8Array): Awaitable<Uint8Array>;
}

export interface Store {
  readonly keys: KeyStore;
  /** May be called twice. */
  close(): Awaitable<void>;
}

/** Client keys. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { Change } from './change.ts';

/** The public part of a client key. Times are milliseconds since 1970. */
export interface KeyRecord {
  readonly id: string;
  /** Id of the first key in the chain of rotations, the same for all keys of one client. The own id of a first key. */
  readonly clientId: string;
  readonly name: string;
  /** `<issuer>/<subject>` of the person whose calls the key makes; null: nobody in particular. Never changes. */
  readonly person: string | null;
  /** JSON text of the policy; null: no policy. */
  readonly policy: string | null;
  readonly createdAt: number;
  /** JSON text of the actor who made the key; null: not known. */
  readonly createdBy: string | null;
  /** First moment at which the key no longer works; null: it never expires. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Accurate to about a minute. */
  readonly lastUsedAt: number | null;
  /** Id of the predecessor: the key that this one replaces by rotation. */
  readonly replaces: string | null;
  /** Starts at 1. Each `update` and `revoke` that changes something adds 1. */
  readonly version: number;
}

/** A client key with the hash of its secret. Only the stores and keys/ handle it, so that no log can contain it. */
export interface StoredKey extends KeyRecord {
  /** HMAC-SHA256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
}

/** A key that expires soon, and whether another key of its client works longer. */
export interface EndingKey extends KeyRecord {
  readonly expiresAt: number;
  readonly isReplaced: boolean;
}

/** A rotation: the new expiry of the key, and the key that replaces it. */
export interface KeyRotation {
  readonly now: number;
  readonly expiresAt: number | null;
  readonly successor: StoredKey;
}

/** `successorId`: the key already has a successor, which is neither revoked nor expired. */
export type RotationResult = Change | { readonly successorId: string };

export type KeyName = Pick<KeyRecord, 'id' | 'name'>;

export interface KeyListQuery {
  /** The last key of the page before; null: begins with the first. */
  after: Pick<KeyRecord, 'createdAt' | 'id'> | null;
  limit: number;
  /** State of the keys at `now`. Left out: all keys. */
  state?: { is: 'active' | 'expired' | 'revoked'; now: number } | undefined;
  /** Text that the id or the name contains. Case of ASCII letters is ignored. */
  search?: string | undefined;
  /** The exact name. */
  name?: string | undefined;
}

/** Methods append the audit record `auditBatch` in the transaction of the change, and only if a row changes. */
export interface KeyStore {
  /** Fails if the id is taken. */
  insert(key: StoredKey, auditBatch?: AuditBatch): Promise<void>;
  findById(id: string): Promise<StoredKey | null>;
  /** At most `limit` keys, ordered by `createdAt`, then `id`. */
  list(query: KeyListQuery): Promise<KeyRecord[]>;
  /** The names of these keys, without an order. Unknown ids are left out. */
  listNames(ids: readonly string[]): Promise<KeyName[]>;
  /** At most `limit` keys that expire from `from` to before `until`, in this order. Revoked keys are left out. */
  listEnding(from: number, until: number, limit: number): Promise<EndingKey[]>;
  /** True until the first key is inserted. Revoked keys count. */
  isEmpty(): Promise<boolean>;
  /** Changes the given members if the row still has this version. */
  update(
    id: string,
    version: number,
    changes: Partial<Pick<KeyRecord, 'name' | 'policy' | 'expiresAt'>>,
    auditBatch?: AuditBatch,
  ): Promise<Change>;
  /** False if there is no such key. A key that is already revoked keeps its time of revocation and its version. */
  revoke(id: string, revokedAt: number, auditBatch?: AuditBatch): Promise<boolean>;
  /**
   * Changes the expiry of a key and inserts its successor, or does neither. A key has one working successor at a time.
   */
  rotate(
    id: string,
    version: number,
    rotation: KeyRotation,
    auditBatch?: AuditBatch,
  ): Promise<RotationResult>;
  /**
   * Sets `lastUsedAt` of these ids to later times, never to earlier ones. Skips unknown ids. Watchers are not notified.
   */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Stores the candidate if no secret is stored, and returns the stored secret: all processes get the same one. */
  getOrCreateHashSecret(candidate: Uint8Array): Promise<Uint8Array>;
}

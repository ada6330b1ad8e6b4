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
  /** JSON text of its policy; null: none. */
  readonly policy: string | null;
  readonly createdAt: number;
  /** The first moment at which the key no longer works; null: never expires. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Exact to about a minute. */
  readonly lastUsedAt: number | null;
  /** Id of the key that this one took over from. */
  readonly replaces: string | null;
  /** From 1; each `update` and `revoke` that changes something adds 1. */
  readonly version: number;
}

/** A client key with what proves it; stays between store and keys/, so that no log can meet it. */
export interface StoredKey extends KeyRecord {
  /** HMAC-SHA256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
}

/** How a change of one version of a row ended. */
export type Change = 'done' | 'missing' | 'conflict';

export interface KeyListQuery {
  /** The place behind which to go on. */
  after: Pick<KeyRecord, 'createdAt' | 'id'> | null;
  limit: number;
  /** Left out: any. Judged against `now`. */
  state?: { is: 'active' | 'expired' | 'revoked'; now: number } | undefined;
  /** Part of the id or the name, in any case (of ASCII). */
  search?: string | undefined;
  /** The whole name. */
  name?: string | undefined;
}

export interface KeyStore {
  /** Refuses an id that is taken. */
  insert(key: StoredKey): Awaitable<void>;
  findById(id: string): Awaitable<StoredKey | null>;
  /** Keys by age, the oldest first (`createdAt`, then `id`), `limit` of them. */
  list(query: KeyListQuery): Awaitable<KeyRecord[]>;
  /** True while no key was ever inserted; a revoked one counts. */
  isEmpty(): Awaitable<boolean>;
  /** Changes what is named if the row still has this version. */
  update(
    id: string,
    version: number,
    changes: Partial<Pick<KeyRecord, 'name' | 'policy' | 'expiresAt'>>,
  ): Awaitable<Change>;
  /** False where there is no such key. A key that is revoked already keeps its first time, and its version. */
  revoke(id: string, revokedAt: number): Awaitable<boolean>;
  /** Moves `lastUsedAt` of these ids forward, never back; ids that are gone are skipped. Not a change for watchers. */
  touch(uses: ReadonlyMap<string, number>): Awaitable<void>;
  /** Keeps the candidate if it is the first, and gives the one that was first: one secret for all processes. */
  getOrCreateHashSecret(candidate: Uint8Array): Awaitable<Uint8Array>;
}

/** A stored Odoo server with a user of it. */
export interface StoredInstance {
  /** Made once, never reused: the sealed texts are bound to it. */
  readonly id: string;
  /** Unique; never changes. */
  readonly name: string;
  /** Name of the master key that seals its secrets. */
  readonly masterKeyId: string;
  /** JSON text of the rest, sealed secrets among it; instances/ alone knows its shape. */
  readonly body: string;
  /** From 1; each `replace` adds 1. */
  readonly version: number;
}

export interface InstanceListQuery {
  /** The name behind which to go on. */
  after: string | null;
  limit: number;
  /** Part of the name or the body's text, in any case (of ASCII). */
  search?: string | undefined;
}

export interface InstanceStore {
  /** `conflict` where the name is taken. */
  insert(instance: Omit<StoredInstance, 'version'>): Awaitable<Exclude<Change, 'missing'>>;
  findByName(name: string): Awaitable<StoredInstance | null>;
  /** By name, in the order of its code points, `limit` of them. */
  list(query: InstanceListQuery): Awaitable<StoredInstance[]>;
  /** Puts these in place of the row's if it still has this version. */
  replace(id: string, version: number, next: Pick<StoredInstance, 'masterKeyId' | 'body'>): Awaitable<Change>;
  remove(id: string, version: number): Awaitable<Change>;
  /** How many instances each master key seals. */
  countByMasterKey(): Awaitable<ReadonlyMap<string, number>>;
}

/** One record of the audit, as it lies in the store. */
export interface AuditRow {
  /** From 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970; the same as in the record. */
  readonly at: number;
  /** JSON text; audit/ alone knows its shape, but for the members that {@link AuditFilters} names. */
  readonly record: string;
  /** 32 bytes, over the row before it, `seq` and `record`. */
  readonly hash: Uint8Array;
}

/** Members of the record, at its top, that a search may compare. */
export interface AuditFilters {
  kind?: string | undefined;
  key_id?: string | undefined;
  instance?: string | undefined;
  model?: string | undefined;
  action?: string | undefined;
  outcome?: string | undefined;
  actor?: string | undefined;
}

export interface AuditSearch {
  /** Only rows before this one; null: from the newest. */
  beforeSeq: number | null;
  since?: number | undefined;
  until?: number | undefined;
  filters: AuditFilters;
  limit: number;
  /** Most rows that may be looked at: a search never holds up the process for longer than that takes. */
  scanMax: number;
}

/** A place in the chain: a row's number and hash. */
export interface AuditPlace {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export interface AuditStore {
  /**
   * Adds records behind the last one, in one transaction, in order; of several processes one at a time. `hashRow` is
   * given the hash before (32 zero bytes for the first row) and gives the row's own.
   */
  append(
    records: readonly Pick<AuditRow, 'at' | 'record'>[],
    hashRow: (before: Uint8Array, seq: number, record: string) => Uint8Array,
  ): Awaitable<void>;
  /** Rows behind this number, the oldest first. */
  readAfter(seq: number, limit: number): Awaitable<AuditRow[]>;
  /** The newest that match, newest first; `next` is where a further search goes on, null at the end. */
  search(search: AuditSearch): Awaitable<{ rows: AuditRow[]; next: number | null }>;
  /** The last row ever written, also where retention has removed it since; seq 0 and zero bytes where there was none. */
  readHead(): Awaitable<AuditPlace>;
  /** The last row that retention removed; seq 0 and zero bytes where none was. */
  readFloor(): Awaitable<AuditPlace>;
  /** Removes the oldest rows while they are from before this time, `limit` at most; gives how many. */
  prune(before: number, limit: number): Awaitable<number>;
}

/** What is known of a call that came under an idempotency key. */
export interface IdempotencyRow {
  /** What was called, as a hash. */
  readonly fingerprint: string;
  /** `outcome_unknown`: its time is over without a word, or it was given up. */
  readonly state: 'running' | 'outcome_unknown' | 'done';
  /** Sealed; null where it is not done, or was not kept. */
  readonly answer: Uint8Array | null;
}

export interface IdempotencyClaim {
  /** Client, key and place in the batch, as a hash. */
  readonly id: string;
  /** Id of the client key whose call it is. */
  readonly client: string;
  readonly fingerprint: string;
  /** Made for this attempt: it alone may say how what it has claimed ended. */
  readonly attempt: string;
  /** When it is no longer taken to be running. */
  readonly runsForMs: number;
  /** When the row is as gone, unless the attempt has ended by then. */
  readonly expiresInMs: number;
}

/** What one client key has in the store. */
export interface IdempotencyUse {
  /** Idempotency keys, ended or not. */
  keys: number;
  answerBytes: number;
}

/** Time is the store's own: replicas whose clocks differ agree. */
export interface IdempotencyStore {
  find(id: string): Awaitable<IdempotencyRow | null>;
  /**
   * Null: the id is this attempt's from now on, of however many that ask at once, and a power cut does not take it away.
   * Otherwise the row of the attempt that has it.
   */
  claim(claim: IdempotencyClaim): Awaitable<IdempotencyRow | null>;
  /** Ends an attempt as done. This and the next two do nothing where the id is not the attempt's, or is done. */
  keep(id: string, attempt: string, answer: Uint8Array | null, expiresInMs: number): Awaitable<void>;
  /** Ends an attempt whose outcome is unknown. */
  giveUp(id: string, attempt: string): Awaitable<void>;
  /** Takes an attempt back, as if it had never been. */
  release(id: string, attempt: string): Awaitable<void>;
  /** What has expired may count for an hour more. */
  measure(client: string): Awaitable<IdempotencyUse>;
  /** Removes rows that have expired, `limit` at most; gives how many. */
  prune(limit: number): Awaitable<number>;
}

/** What may only be done by one process at a time. */
export interface LeaseStore {
  /** True where the lease is free, run out or this owner's already: it is the owner's for `ttlMs` from now. */
  acquire(name: string, owner: string, ttlMs: number): Awaitable<boolean>;
  release(name: string, owner: string): Awaitable<void>;
}

/** What another process, or this one, has changed. */
export interface StoreChange {
  kind: 'key' | 'instance';
  /** Id of the key, name of the instance. */
  id: string;
}

/** Told of every change within half a second, by whichever process. Null: anything may have changed. */
export type ChangeListener = (change: StoreChange | null) => void;

export interface Store {
  /** For operators: `memory`, `sqlite <file>`, `postgres <host>/<database>`; no secret. */
  readonly label: string;
  readonly keys: KeyStore;
  readonly instances: InstanceStore;
  readonly audit: AuditStore;
  readonly idempotency: IdempotencyStore;
  readonly leases: LeaseStore;
  watch(listener: ChangeListener): void;
  /** False while changes of other processes may go unheard; listeners are told null when it is true again. */
  readonly isWatching: boolean;
  /** Rejects or throws where the store cannot be used now. */
  probe(): Awaitable<void>;
  /** May be called twice. */
  close(): Awaitable<void>;
}

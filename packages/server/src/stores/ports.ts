/**
 * What the rest of the proxy may ask of a store. A method answers at once where the answer is in memory, and otherwise by
 * promise: no method blocks the event loop, whatever another process does. What a method takes and gives is data, which
 * can be handed to another thread: no functions. A failure is a {@link StoreError}. Nothing here knows a driver.
 */

import type { KeyObject } from 'node:crypto';

/** A value, or a promise of it where the store is in another thread or across a network. */
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

/** What a rotation does to the key that it ends, and the key that takes over. */
export interface KeyRotation {
  readonly now: number;
  readonly expiresAt: number | null;
  readonly successor: StoredKey;
}

/** How a change of one version of a row ended. */
export type Change = 'done' | 'missing' | 'conflict';

/** `successorId`: a key that took over earlier, and is neither revoked nor expired. */
export type RotationOutcome = Change | { readonly successorId: string };

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

/** Where a method takes an `act`, it appends it to the audit in the same transaction, and only where it changes a row. */
export interface KeyStore {
  /** Refuses an id that is taken. */
  insert(key: StoredKey, act?: AuditBatch): Awaitable<void>;
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
    act?: AuditBatch,
  ): Awaitable<Change>;
  /** False where there is no such key. A key that is revoked already keeps its first time, and its version. */
  revoke(id: string, revokedAt: number, act?: AuditBatch): Awaitable<boolean>;
  /** Changes when a key expires and inserts the key that takes over from it, both or neither. A key has one successor at a time. */
  rotate(id: string, version: number, rotation: KeyRotation, act?: AuditBatch): Awaitable<RotationOutcome>;
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

/** An `act` is appended to the audit as by {@link KeyStore}. */
export interface InstanceStore {
  /** `conflict` where the name is taken. */
  insert(instance: Omit<StoredInstance, 'version'>, act?: AuditBatch): Awaitable<Exclude<Change, 'missing'>>;
  findByName(name: string): Awaitable<StoredInstance | null>;
  /** By name, in the order of its code points, `limit` of them. */
  list(query: InstanceListQuery): Awaitable<StoredInstance[]>;
  /** Puts these in place of the row's if it still has this version. */
  replace(
    id: string,
    version: number,
    next: Pick<StoredInstance, 'masterKeyId' | 'body'>,
    act?: AuditBatch,
  ): Awaitable<Change>;
  remove(id: string, version: number, act?: AuditBatch): Awaitable<Change>;
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

/** Records to append to the audit. It is data alone, so that a store can hand it to another thread. */
export interface AuditBatch {
  /** Unique. A store appends a batch of one id once, however often this process gives it. */
  readonly id: string;
  readonly records: readonly Pick<AuditRow, 'at' | 'record'>[];
  /** The secret of the chain's hashes: see audit-chain.ts. */
  readonly chainKey: KeyObject;
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
   * Adds the records behind the last one, in one transaction, in order; of several processes one at a time. Where it
   * fails, the outcome may be unknown: then give the same batch again.
   */
  append(batch: AuditBatch): Awaitable<void>;
  /** Rows behind this number, the oldest first. */
  readAfter(seq: number, limit: number): Awaitable<AuditRow[]>;
  /**
   * The newest that match, newest first; `next` is where a further search goes on, null at the end. A record that is not
   * JSON matches no filter.
   */
  search(search: AuditSearch): Awaitable<{ rows: AuditRow[]; next: number | null }>;
  /**
   * The last row ever written, also where retention has removed it since; seq 0 and zero bytes where there was none. Null:
   * the store has lost the row that says so. Then nothing can be appended or pruned.
   */
  readHead(): Awaitable<AuditPlace | null>;
  /** The last row that retention removed; seq 0 and zero bytes where none was. Null as for the head. */
  readFloor(): Awaitable<AuditPlace | null>;
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
  /** The attempt is taken to be running for so long from now. This and the next three do nothing where the id is not the attempt's, or is done. */
  extend(id: string, attempt: string, runsForMs: number): Awaitable<void>;
  /** Ends an attempt as done. */
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
  /** False while changes of other processes may go unheard; listeners are told what they missed, or null, afterwards. */
  readonly isWatching: boolean;
  /** What keeps changes from being written, as last seen, for the operator; null: nothing. Names no file and no host. */
  readonly trouble: string | null;
  /** How many statements were cancelled, since the start, because they did not end in time. Left out: none ever is. */
  readonly statementsGivenUp?: number;
  /** Rejects or throws where the store cannot be used now. */
  probe(): Awaitable<void>;
  /** May be called twice. */
  close(): Awaitable<void>;
}

/** A store that was just opened. */
export interface OpenedStore extends Store {
  /** Version of the schema before and after opening. Left out: the store has no schema versions. */
  readonly migration?: { readonly from: number; readonly to: number };
}

/** A store that was looked for, and neither opened nor created. */
export interface FoundStore {
  /** As {@link Store.label}. */
  readonly label: string;
  readonly exists: boolean;
}

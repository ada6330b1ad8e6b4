/**
 * The interfaces of a store. No method blocks the event loop, whatever another process does. Arguments and results are
 * plain data that can be passed to another thread. Failures are {@link StoreError}s. Must not know a driver.
 */

import type { KeyObject } from 'node:crypto';

/** The public part of a client key. Times are milliseconds since 1970. */
export interface KeyRecord {
  readonly id: string;
  /** Id of the first key of its rotations, the same for all keys of one client. Its own id if it replaces none. */
  readonly clientId: string;
  readonly name: string;
  /** JSON text of the policy; null: no policy. */
  readonly policy: string | null;
  readonly createdAt: number;
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

/** A key that ends, and whether a key of its client works longer. */
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

/** Result of changing one version of a row. `conflict`: the row has another version, or its name is taken. */
export type Change = 'done' | 'missing' | 'conflict';

/** `successorId`: an earlier successor, neither revoked nor expired. */
export type RotationResult = Change | { readonly successorId: string };

export type KeyName = Pick<KeyRecord, 'id' | 'name'>;

export interface KeyListQuery {
  /** The last key of the page before; null: from the first. */
  after: Pick<KeyRecord, 'createdAt' | 'id'> | null;
  limit: number;
  /** State of the keys at `now`. Left out: all keys. */
  state?: { is: 'active' | 'expired' | 'revoked'; now: number } | undefined;
  /** Part of the id or the name. Case of ASCII letters is ignored. */
  search?: string | undefined;
  /** The whole name. */
  name?: string | undefined;
}

/** A method with an `act` appends it to the audit in the transaction of the change, and only if it changes a row. */
export interface KeyStore {
  /** Fails if the id is taken. */
  insert(key: StoredKey, act?: AuditBatch): Promise<void>;
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
    act?: AuditBatch,
  ): Promise<Change>;
  /** False if there is no such key. A key that is already revoked keeps its time of revocation and its version. */
  revoke(id: string, revokedAt: number, act?: AuditBatch): Promise<boolean>;
  /**
   * Changes the expiry of a key and inserts its successor, both or neither. A key has one working successor at a time.
   */
  rotate(id: string, version: number, rotation: KeyRotation, act?: AuditBatch): Promise<RotationResult>;
  /** Moves `lastUsedAt` of these ids forward, never back. Skips unknown ids. Watchers are not notified. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Stores the candidate if it is the first, and returns the first: one secret for all processes. */
  getOrCreateHashSecret(candidate: Uint8Array): Promise<Uint8Array>;
}

/** An Odoo server with a user, stored under a name. */
export interface StoredInstance {
  /** Never reused: the sealed texts are bound to it. */
  readonly id: string;
  /** Unique. Never changes. */
  readonly name: string;
  /** Name of the master key that seals its secrets. */
  readonly masterKeyId: string;
  /** JSON text of everything else, with the sealed secrets. Only instances/ knows its shape. */
  readonly body: string;
  /** Starts at 1. Each `replace` adds 1. */
  readonly version: number;
}

export interface InstanceListQuery {
  /** The last name of the page before; null: from the first. */
  after: string | null;
  limit: number;
  /** Part of the name or of the text of the body. Case of ASCII letters is ignored. */
  search?: string | undefined;
}

/** An `act` is appended to the audit as in {@link KeyStore}. */
export interface InstanceStore {
  /** `conflict`: the name is taken. */
  insert(instance: Omit<StoredInstance, 'version'>, act?: AuditBatch): Promise<Exclude<Change, 'missing'>>;
  findByName(name: string): Promise<StoredInstance | null>;
  /** At most `limit` instances, ordered by the code points of their names. */
  list(query: InstanceListQuery): Promise<StoredInstance[]>;
  /** Replaces these members if the row still has this version. */
  replace(
    id: string,
    version: number,
    next: Pick<StoredInstance, 'masterKeyId' | 'body'>,
    act?: AuditBatch,
  ): Promise<Change>;
  remove(id: string, version: number, act?: AuditBatch): Promise<Change>;
  /** Number of instances that each master key seals. */
  countByMasterKey(): Promise<ReadonlyMap<string, number>>;
}

/** One row of the audit. */
export interface AuditRow {
  /** Starts at 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970, as in the record. */
  readonly at: number;
  /** JSON text. Only audit/ knows its shape, except for the members in {@link AuditFilters}. */
  readonly record: string;
  /** 32 bytes: covers the hash of the row before, `seq` and `record`. */
  readonly hash: Uint8Array;
}

/** Records to append to the audit. */
export interface AuditBatch {
  /** Unique. A store appends the batch once, however often this process passes it. */
  readonly id: string;
  readonly records: readonly Pick<AuditRow, 'at' | 'record'>[];
  /** Secret of the hash chain: see audit-chain.ts. */
  readonly chainKey: KeyObject;
}

/** Top-level members of a record that a search can compare. */
export interface AuditFilters {
  kind?: string | undefined;
  key_id?: string | undefined;
  client_id?: string | undefined;
  approval?: string | undefined;
  via?: string | undefined;
  instance?: string | undefined;
  model?: string | undefined;
  action?: string | undefined;
  outcome?: string | undefined;
  actor?: string | undefined;
  request_id?: string | undefined;
  trace_id?: string | undefined;
  address?: string | undefined;
  upstream?: string | undefined;
  db?: string | undefined;
  rule?: string | undefined;
  code?: number | undefined;
  http_status?: number | undefined;
}

export interface AuditSearch {
  /** Only rows before this number; null: from the newest. */
  beforeSeq: number | null;
  since?: number | undefined;
  until?: number | undefined;
  filters: AuditFilters;
  /** Only records that have the member `outcome`, with another value than these, at least one. */
  exceptOutcomes?: readonly string[] | undefined;
  limit: number;
  /** Maximum number of rows that the search reads. Bounds its time. */
  scanMax: number;
}

/** A position in the chain: number and hash of a row. */
export interface AuditPosition {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export interface AuditStore {
  /**
   * Appends the records in order, in one transaction. Processes append one at a time. After a failure the outcome may
   * be unknown: pass the same batch again.
   */
  append(batch: AuditBatch): Promise<void>;
  /** Rows after this number, oldest first. */
  readAfter(seq: number, limit: number): Promise<AuditRow[]>;
  /**
   * The newest matching rows, newest first. `next`: `beforeSeq` of the next page; null at the end. A record that is not
   * JSON matches no filter.
   */
  search(search: AuditSearch): Promise<{ rows: AuditRow[]; next: number | null }>;
  /**
   * The last row ever appended, even if retention has removed it; `seq` 0 and zero bytes if there was none. Null: the
   * row with this information is missing. Nothing can then be appended or pruned.
   */
  readHead(): Promise<AuditPosition | null>;
  /** The last row that retention removed; `seq` 0 and zero bytes if there was none. Null: as for the head. */
  readFloor(): Promise<AuditPosition | null>;
  /** Removes the oldest rows, at most `limit`, up to the first that is not before this time. Returns their number. */
  prune(before: number, limit: number): Promise<number>;
}

/** The stored state of a call with an idempotency key. */
export interface IdempotencyRow {
  /** Hash of the call. */
  readonly fingerprint: string;
  /** `outcome_unknown`: the attempt did not complete in its time, or was marked so. */
  readonly state: 'running' | 'outcome_unknown' | 'done';
  /** Sealed; null if the call is not done, or its answer was not stored. */
  readonly answer: Uint8Array | null;
}

export interface IdempotencyClaim {
  /** Hash of client, key and position in the batch. */
  readonly id: string;
  /** Id of the client key. */
  readonly client: string;
  readonly fingerprint: string;
  /** Unique for the attempt. Only the attempt that has the claim can end it. */
  readonly attempt: string;
  /** Milliseconds after which the call no longer counts as running. */
  readonly runsForMs: number;
  /** Milliseconds after which the row expires, unless the attempt has completed by then. */
  readonly expiresInMs: number;
}

/** Totals of one client key. */
export interface IdempotencyUse {
  /** Number of idempotency keys, completed or not. */
  keys: number;
  answerBytes: number;
}

/** Uses the clock of the store, so that replicas whose clocks differ agree. */
export interface IdempotencyStore {
  find(id: string): Promise<IdempotencyRow | null>;
  /**
   * Null: this attempt has the claim, and no other attempt gets it, even at the same moment or after a power loss.
   * Otherwise the row of the attempt that has it.
   */
  claim(claim: IdempotencyClaim): Promise<IdempotencyRow | null>;
  /**
   * The attempt counts as running for this time from now. This method and the next three do nothing if the attempt does
   * not have the claim, or has completed.
   */
  extend(id: string, attempt: string, runsForMs: number): Promise<void>;
  /** The call is done. Null: its answer is not stored. */
  complete(id: string, attempt: string, answer: Uint8Array | null, expiresInMs: number): Promise<void>;
  /** The outcome of the attempt is unknown. */
  markUnknown(id: string, attempt: string): Promise<void>;
  /** Removes the claim: the next attempt may run. */
  release(id: string, attempt: string): Promise<void>;
  /** Expired rows may count for up to an hour longer. */
  measure(client: string): Promise<IdempotencyUse>;
  /** Removes expired rows, at most `limit`. Returns their number. */
  prune(limit: number): Promise<number>;
}

/** Calls of a client in one calendar month (UTC). */
export interface CallCount {
  /** `2026-11`. */
  readonly month: string;
  readonly clientId: string;
  readonly calls: number;
}

export interface CallCountStore {
  /**
   * Adds calls to the counts, and returns the sums. A client appears once for each month. Counts of more than a year
   * before the newest given month are removed.
   */
  add(counts: readonly CallCount[]): Promise<CallCount[]>;
  /** 0 if there were no calls. */
  read(month: string, clientId: string): Promise<number>;
}

/** A call that an administrator must approve. Times are milliseconds since 1970, by the clock of the caller. */
export interface ApprovalRow {
  readonly id: string;
  /** The client that asked, however its key was rotated since. */
  readonly client: string;
  /** Hash of the call. */
  readonly fingerprint: string;
  /** After `expiresAt`, a row that is pending or approved has no effect any more. */
  readonly state: 'pending' | 'approved' | 'refused' | 'used';
  /** JSON text of what is known about the call without its values. Only approvals/ knows its shape. */
  readonly facts: string;
  readonly createdAt: number;
  /** First moment at which it can no longer be decided or used, and at which a refusal no longer counts. */
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  readonly usedAt: number | null;
}

/** An approval with the values of its call. */
export interface ApprovalWithCall extends ApprovalRow {
  /** Sealed; null once deleted. */
  readonly call: string | null;
}

export interface ApprovalRequest
  extends Pick<ApprovalRow, 'id' | 'client' | 'fingerprint' | 'facts' | 'createdAt' | 'expiresAt'> {
  readonly call: string;
}

/** Maximum numbers of requests that wait for a decision. */
export interface ApprovalBounds {
  readonly clientMax: number;
  readonly totalMax: number;
}

export interface ApprovalDecision {
  readonly state: 'approved' | 'refused';
  readonly by: string;
  readonly reason: string | null;
  readonly now: number;
  /** The new `expiresAt`; null: it stays. */
  readonly expiresAt: number | null;
}

export interface ApprovalListQuery {
  /** The last row of the page before; null: from the newest. */
  after: Pick<ApprovalRow, 'createdAt' | 'id'> | null;
  limit: number;
  /** State at `now`: a pending or approved row whose time is over is `expired`. Left out: all rows. */
  state?: { is: ApprovalRow['state'] | 'expired'; now: number } | undefined;
}

/** `client_full`, `full`: the bound of the client or of all clients is reached, and nothing was stored. */
export type ApprovalAnswer = ApprovalRow | 'client_full' | 'full';

/** Approvals of calls. Two calls are the same if client and fingerprint are. */
export interface ApprovalStore {
  /**
   * Returns the row of the same call that is pending, approved or refused and whose time is not over. Otherwise stores
   * the request, as pending. A call never has two such rows, even if it is asked for twice at the same moment. Bounds
   * of 0 store nothing.
   */
  ask(request: ApprovalRequest, bounds: ApprovalBounds): Promise<ApprovalAnswer>;
  find(id: string): Promise<ApprovalWithCall | null>;
  /** The rows of this call among these ids, in any order. */
  findOf(client: string, fingerprint: string, ids: readonly string[]): Promise<ApprovalRow[]>;
  /** At most `limit` rows, the newest first, rows of one time by descending id. */
  list(query: ApprovalListQuery): Promise<ApprovalRow[]>;
  /**
   * Decides a row that is pending and whose time is not over. `conflict`: it is not. A refusal deletes the values of
   * the call. The `act` is appended as in {@link KeyStore}.
   */
  decide(id: string, decision: ApprovalDecision, act?: AuditBatch): Promise<Change>;
  /**
   * Uses an approved row of this call whose time is not over. True: this attempt has it, and no other attempt gets it,
   * even at the same moment or after a power loss.
   */
  claim(
    claim: Pick<ApprovalRow, 'id' | 'client' | 'fingerprint'> & { attempt: string; now: number },
  ): Promise<boolean>;
  /**
   * Makes the row approved again if this attempt has used it. It stays used if the same call was asked for again since,
   * or has an open row: the call could otherwise run twice.
   */
  release(id: string, attempt: string): Promise<void>;
  /**
   * Deletes the values of rows whose time is over by `now`, and removes rows whose time was over by `removeBefore`: of
   * each at most `limit`. Returns the larger of the two numbers.
   */
  prune(now: number, removeBefore: number, limit: number): Promise<number>;
}

/** A subject of an identity provider whose tokens are refused. */
export interface DeniedSubject {
  /** Id of the client: `<issuer>/<subject>`. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly deniedAt: number;
}

/** An `act` is appended to the audit as in {@link KeyStore}. */
export interface DeniedSubjectStore {
  /** False if it was denied already: it keeps its time. */
  deny(subject: DeniedSubject, act?: AuditBatch): Promise<boolean>;
  /** False if it is not denied. */
  allow(id: string, act?: AuditBatch): Promise<boolean>;
  find(id: string): Promise<DeniedSubject | null>;
  /** At most `limit` subjects after this id, ordered by the code points of their ids. Null: from the first. */
  list(after: string | null, limit: number): Promise<DeniedSubject[]>;
}

/** Counts of the calls of one process in one period. */
export interface StatisticsRow {
  readonly step: 'minute' | 'hour';
  /** Milliseconds since 1970. */
  readonly startsAt: number;
  readonly process: string;
  /** JSON text. Only statistics/ knows its shape. */
  readonly body: string;
}

export interface StatisticsQuery {
  step: StatisticsRow['step'];
  /** Periods that start in this range; `until` is excluded. */
  since: number;
  until: number;
  /** The last row of the page before; null: from the first. */
  after: Pick<StatisticsRow, 'startsAt' | 'process'> | null;
  limit: number;
}

export interface StatisticsStore {
  /** Stores the rows. A row replaces that of the same step, start and process. */
  put(rows: readonly StatisticsRow[]): Promise<void>;
  /** At most `limit` rows, ordered by start, rows of one start by the code points of their processes. */
  list(query: StatisticsQuery): Promise<StatisticsRow[]>;
  /** Removes rows of this step that start before this time, at most `limit`. Returns their number. */
  prune(step: StatisticsRow['step'], before: number, limit: number): Promise<number>;
}

/** A subscription, as an administrator set it. Times are milliseconds since 1970, by the clock of the caller. */
export interface SubscriptionDefinition {
  /** Never reused: the sealed secrets are bound to it. */
  readonly id: string;
  /** Unique. Never changes. */
  readonly name: string;
  /** JSON text with the sealed secrets. Only subscriptions/ knows its shape. */
  readonly body: string;
  readonly createdAt: number;
}

export interface StoredSubscription extends SubscriptionDefinition {
  readonly state: 'active' | 'paused' | 'disabled';
  /** Why it is paused or disabled; null while it is active. */
  readonly reason: string | null;
  /** Starts at 1. Each change of body or state adds 1. */
  readonly version: number;
  /** When its changes were read last; null: never. */
  readonly readAt: number | null;
  /** Why its changes cannot be read at present; null: they can, as far as is known. */
  readonly problem: string | null;
  /** Consecutive attempts that its receiver did not take. */
  readonly failures: number;
  /** The first of these attempts; null if there is none. */
  readonly failingSince: number | null;
  /** Nothing is sent before; null: no attempt failed. */
  readonly retryAt: number | null;
  readonly lastFailure: string | null;
  /** When the receiver took a delivery last; null: never. */
  readonly deliveredAt: number | null;
}

/** What the next reading of a subscription needs. */
export interface SubscriptionProgress {
  readonly subscription: StoredSubscription;
  /** JSON text of the position; null: nothing was read yet. Only subscriptions/ knows its shape. */
  readonly progress: string | null;
  /** Each commit of a reading adds 1. */
  readonly progressVersion: number;
  /** Number of waiting deliveries, counted up to the given maximum. */
  readonly waiting: number;
}

export interface NewDelivery {
  /** The `webhook-id`. Unique. */
  readonly id: string;
  /** The record that it is about. Deliveries of one record are sent in order, one at a time. */
  readonly record: string;
  readonly type: string;
  /** The body of the request. */
  readonly body: string;
}

export interface Reading {
  readonly progress: string;
  readonly now: number;
  /** In the order of their changes, at most one for each record. */
  readonly deliveries: readonly NewDelivery[];
}

export interface ReadingNote {
  readonly id: string;
  readonly at: number;
  /** Why changes could not be read; null: they were read. */
  readonly problem: string | null;
}

/** `merged`: a newer delivery of the same record replaced it before it was delivered. `failed`: given up. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'merged';

/** A delivery, without its body. */
export interface DeliveryRecord {
  /** Ascending in the order of changes. */
  readonly seq: number;
  readonly id: string;
  /** Null: it is about no record. */
  readonly record: string | null;
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is due; null once it has ended. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** HTTP status of the last answer; null if there was none. */
  readonly status: number | null;
  readonly failure: string | null;
  /** Duration of the last attempt. */
  readonly durationMs: number | null;
}

export interface ClaimedDelivery extends Pick<DeliveryRecord, 'seq' | 'id' | 'record' | 'type' | 'attempts'> {
  readonly body: string;
}

/** Deliveries of one subscription, each of another record, that this attempt sends. `attempts` counts it already. */
export interface DeliveryBatch {
  readonly subscription: StoredSubscription;
  readonly deliveries: readonly ClaimedDelivery[];
}

export interface DeliveryClaim {
  readonly now: number;
  /** The claim ends then, and the deliveries are due again, unless their attempts were recorded. */
  readonly endsAt: number;
  /** Unique for the claim. */
  readonly claim: string;
  /** Only subscriptions whose receiver took the last delivery, or only the others. */
  readonly receivers: 'working' | 'failing';
  readonly subscriptionsMax: number;
  /** Maximum of one subscription. One while its receiver fails. */
  readonly deliveriesMax: number;
  /** Subscriptions that this process is working on. */
  readonly except: readonly string[];
}

/** The longest waits that the rules for deliveries allow. */
export interface WaitLimits {
  readonly now: number;
  /** A delivery that is being sent, or that was never tried, waits this long at most. */
  readonly claimMs: number;
  /** A delivery that is tried again, and a receiver that fails, wait this long at most. */
  readonly retryMs: number;
}

/** The outcome of one attempt. */
export interface DeliveryResult extends Pick<DeliveryRecord, 'id' | 'status' | 'failure' | 'durationMs'> {
  /** `waiting`: it is tried again at `nextAt`. */
  readonly state: 'delivered' | 'waiting' | 'failed';
  readonly nextAt: number;
}

export interface AttemptOutcome
  extends Pick<StoredSubscription, 'failures' | 'failingSince' | 'retryAt' | 'lastFailure' | 'deliveredAt'> {
  readonly now: number;
  readonly results: readonly DeliveryResult[];
  /** True: all waiting deliveries are due now, because the receiver works again. */
  readonly wakesAll: boolean;
  /** The subscription is disabled, for this reason; null: it stays as it is. */
  readonly disables: string | null;
}

export interface SubscriptionListQuery {
  /** The last name of the page before; null: from the first. */
  after: string | null;
  limit: number;
  state?: StoredSubscription['state'] | undefined;
  /** Part of the name or of the text of the body. Case of ASCII letters is ignored. */
  search?: string | undefined;
}

export interface DeliveryListQuery {
  /** Only deliveries before this number; null: from the newest. */
  beforeSeq: number | null;
  limit: number;
  state?: DeliveryState | undefined;
}

/** Numbers of a subscription for metrics. */
export interface SubscriptionBacklog
  extends Pick<StoredSubscription, 'name' | 'state' | 'failures' | 'problem'> {
  readonly waiting: number;
  /** Creation of the oldest waiting delivery; null if none waits. */
  readonly oldestAt: number | null;
}

/**
 * Subscriptions, and the deliveries that their changes cause: an outbox and its log. An `act` is appended as in
 * {@link KeyStore}. Methods without an act are those of the process that works the subscriptions.
 */
export interface SubscriptionStore {
  /** `conflict`: the name is taken. `full`: there are `max` subscriptions. */
  insert(
    subscription: SubscriptionDefinition,
    max: number,
    act?: AuditBatch,
  ): Promise<'done' | 'conflict' | 'full'>;
  findByName(name: string): Promise<StoredSubscription | null>;
  /** At most `limit` subscriptions, ordered by the code points of their names. */
  list(query: SubscriptionListQuery): Promise<StoredSubscription[]>;
  /** Ids of all active subscriptions, with the name. At most `limit`, in any order. */
  listActive(limit: number): Promise<Pick<StoredSubscription, 'id' | 'name' | 'body'>[]>;
  /** Replaces the body if the row still has this version. `restarts`: the position of its reads is forgotten. */
  replace(
    id: string,
    version: number,
    next: { readonly body: string; readonly restarts: boolean },
    act?: AuditBatch,
  ): Promise<Change>;
  /** Becoming active forgets the failures of the receiver, and makes waiting deliveries due now. */
  setState(
    id: string,
    version: number,
    next: Pick<StoredSubscription, 'state' | 'reason'> & { readonly now: number },
    act?: AuditBatch,
  ): Promise<Change>;
  /** Its deliveries are not sent any more, and removed by `prune`. */
  remove(id: string, version: number, act?: AuditBatch): Promise<Change>;

  /** Null: there is no such subscription. */
  readProgress(id: string, waitingMax: number): Promise<SubscriptionProgress | null>;
  /**
   * Stores the new position and the deliveries, all or nothing. A delivery replaces a waiting one of the same record
   * that is not being sent, and keeps its number of attempts and its time. False: the position has changed since, or
   * the subscription is not active. Nothing was stored then.
   */
  commitReading(id: string, progressVersion: number, reading: Reading): Promise<boolean>;
  /** Records readings that found nothing to store. */
  noteReadings(notes: readonly ReadingNote[]): Promise<void>;

  /** When the first waiting delivery of an active subscription is due, `except` of these ones; null: none waits. */
  findNextDue(except: readonly string[]): Promise<number | null>;
  /**
   * Claims deliveries that are due. No other claim gets them until this one ends, even at the same moment. A delivery
   * is not claimed while an older one of its record waits.
   */
  claimDeliveries(claim: DeliveryClaim): Promise<DeliveryBatch[]>;
  /** Records the attempts of a claim. Results of deliveries that another claim has by now are ignored. */
  recordAttempts(id: string, claim: string, outcome: AttemptOutcome): Promise<void>;
  /** The clock was set back by `ms`: waits of deliveries that end after this time end so much earlier. */
  advanceWaits(after: number, ms: number): Promise<void>;
  /** Shortens longer waits of deliveries, which a clock that was set back leaves behind. */
  limitWaits(limits: WaitLimits): Promise<void>;
  /** Adds a delivery about no record that has ended already: a ping. It tells what it found about the receiver. */
  logDelivery(
    id: string,
    delivery: Omit<NewDelivery, 'record'> & Omit<DeliveryResult, 'nextAt' | 'id'>,
    now: number,
    act?: AuditBatch,
  ): Promise<void>;

  /** The newest first. */
  listDeliveries(id: string, query: DeliveryListQuery): Promise<DeliveryRecord[]>;
  /**
   * Makes an ended delivery due again. `missing`: the subscription has no such delivery. `conflict`: it waits already,
   * it is about no record, or a newer delivery of its record exists.
   */
  replay(id: string, delivery: string, now: number, act?: AuditBatch): Promise<Change>;
  /** The same for the newest delivery of each record since this time. Returns their number. */
  replaySince(id: string, since: number, now: number, act?: AuditBatch): Promise<number>;
  /** The backlogs with the oldest waiting delivery come first. */
  measure(limit: number): Promise<SubscriptionBacklog[]>;
  /**
   * Removes ended deliveries that ended before this time, all but the newest `keptMax` ended ones of each subscription,
   * and those of subscriptions that were removed: at most about `limit`. Returns their number.
   */
  prune(before: number, keptMax: number, limit: number): Promise<number>;
}

/** Leases for work that only one process at a time may do. */
export interface LeaseStore {
  /**
   * True if the lease was free, expired or already this owner's: the owner has it for `ttlMs` from now. Removes expired
   * leases of others. `latestMs`: a lease that ends later than this from now counts as expired. Null: none does.
   */
  acquire(name: string, owner: string, ttlMs: number, latestMs?: number | null): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
}

/** A change that this or another process made. */
export interface StoreChange {
  kind: 'key' | 'instance' | 'subject' | 'subscription';
  /** Id of the key, name of the instance, id of the subject, id of the subscription. */
  id: string;
}

/** Called within a second of every change by any process. Null: anything may have changed. */
export type ChangeListener = (change: StoreChange | null) => void;

export interface Store {
  /** Name for operators, without secrets: `memory`, `sqlite <file>` or `postgres <host>/<database>`. */
  readonly label: string;
  readonly keys: KeyStore;
  readonly instances: InstanceStore;
  readonly audit: AuditStore;
  readonly idempotency: IdempotencyStore;
  readonly callCounts: CallCountStore;
  readonly approvals: ApprovalStore;
  readonly deniedSubjects: DeniedSubjectStore;
  readonly statistics: StatisticsStore;
  readonly subscriptions: SubscriptionStore;
  readonly leases: LeaseStore;
  watch(listener: ChangeListener): void;
  /** False while changes of other processes may be missed. Afterwards listeners get the missed changes, or null. */
  readonly isWatching: boolean;
  /**
   * Why changes cannot be written at present, for operators; null: they can, as far as is known. Names no file or host.
   */
  readonly trouble: string | null;
  /** Number of statements that were cancelled because they took too long. Left out: the engine cancels none. */
  readonly statementsGivenUp?: number;
  /** Rejects or throws if the store cannot be used now. */
  probe(): Promise<void>;
  /** Can be called twice. */
  close(): Promise<void>;
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

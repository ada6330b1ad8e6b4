/** Subscriptions, and the deliveries that their changes cause. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { Change } from './change.ts';
import type { KeyStore } from './keys.ts';

/** A subscription, as an administrator set it. Times are milliseconds since 1970, by the clock of the caller. */
export interface SubscriptionDefinition {
  /** Never reused: the sealed secrets are bound to it. */
  readonly id: string;
  /** Unique. Never changes. */
  readonly name: string;
  /** JSON text with the sealed secrets. Only subscriptions/ knows its shape. */
  readonly body: string;
  readonly createdAt: number;
  /** JSON text of the actor who made it; left out: not known. */
  readonly createdBy?: string | null;
}

export interface StoredSubscription extends SubscriptionDefinition {
  /** As above; null: not known. */
  readonly createdBy: string | null;
  readonly state: 'active' | 'paused' | 'disabled';
  /** Reason why the subscription is paused or disabled; null while it is active. */
  readonly reason: string | null;
  /** Starts at 1. Each change of body or state adds 1. */
  readonly version: number;
  /** Time of the last reading of its changes; null: never. */
  readonly readAt: number | null;
  /** Reason why its changes cannot be read now; null: they can, as far as is known. */
  readonly problem: string | null;
  /** Number of consecutive attempts that failed. */
  readonly failures: number;
  /** Time of the first of these failed attempts; null if there is none. */
  readonly failingSince: number | null;
  /** Nothing is sent before this time; null: no attempt failed. */
  readonly retryAt: number | null;
  readonly lastFailure: string | null;
  /** Time of the last successful delivery; null: never. */
  readonly deliveredAt: number | null;
}

export interface ActiveSubscription extends Pick<StoredSubscription, 'id' | 'name' | 'body'> {
  readonly shard: number;
}

/** State from which the next reading of a subscription continues. */
export interface SubscriptionProgress {
  readonly subscription: StoredSubscription;
  /** JSON text of the position up to which changes were read; null: none were. Only subscriptions/ knows its shape. */
  readonly progress: string | null;
  /** The remembered ids of records, separated by commas, by ascending part; null: none. */
  readonly ids: string | null;
  /** Each commit of a reading adds 1. */
  readonly progressVersion: number;
  /** Number of waiting deliveries, counted up to the given maximum. */
  readonly waiting: number;
}

export interface NewDelivery {
  /** The `webhook-id`. Unique. */
  readonly id: string;
  /** The record that the delivery is about. Deliveries of one record are sent in order, one at a time. */
  readonly record: string;
  readonly type: string;
  /** The body of the request. */
  readonly body: string;
}

/** Remembered ids of records are stored in parts, so that a few changed ids do not write all of them. */
export interface IdPart {
  readonly part: number;
  /** Separated by commas; '': the part has none. */
  readonly ids: string;
}

export interface IdChanges {
  /** True: removes all other parts. */
  readonly replacesAll: boolean;
  readonly parts: readonly IdPart[];
}

export interface Reading {
  readonly progress: string;
  /** Left out: the remembered ids stay as they are. */
  readonly ids?: IdChanges | undefined;
  readonly now: number;
  /** Deliveries in the order of their changes, at most one for each record. */
  readonly deliveries: readonly NewDelivery[];
  /** Ids of jobs whose end the deliveries report; left out: none. */
  readonly endedJobs?: readonly string[];
}

export interface ReadingOutcome {
  readonly id: string;
  readonly at: number;
  /** Reason why changes could not be read; null: they were read. */
  readonly problem: string | null;
}

/** `merged`: a newer delivery of the same record replaced this one before it was delivered. `failed`: given up. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'merged';

/** A delivery, without its body. */
export interface DeliveryRecord {
  /** Ascending in the order of changes. */
  readonly seq: number;
  readonly id: string;
  /** The record that the delivery is about; null: none. */
  readonly record: string | null;
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Time at which the delivery is due; null once it has ended. */
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

/**
 * Deliveries of one subscription, each of another record, that this attempt sends. `attempts` includes this attempt.
 */
export interface DeliveryBatch {
  readonly subscription: StoredSubscription;
  readonly deliveries: readonly ClaimedDelivery[];
}

export interface DeliveryClaim {
  /** Only subscriptions of the shards that this process holds. */
  readonly owner: string;
  readonly now: number;
  /** End of the claim. The deliveries are then due again, unless their attempts were recorded. */
  readonly endsAt: number;
  /** Unique for the claim. */
  readonly claim: string;
  /** `working`: only subscriptions whose receiver took the last delivery. `failing`: only other ones. */
  readonly receivers: 'working' | 'failing';
  readonly subscriptionsMax: number;
  /** Maximum number of deliveries of one subscription. One while its receiver fails. */
  readonly deliveriesMax: number;
  /** Ids of subscriptions that this process is working on. */
  readonly except: readonly string[];
}

/** The terms on which a process holds shards. */
export interface ShardTerms {
  /** Time from now after which the process holds its shards no more, unless it asks again. */
  readonly ttlMs: number;
  /** A lease that ends more than this time from now counts as expired. */
  readonly latestMs: number;
}

/** Maximum waits by the rules for deliveries. */
export interface WaitLimits {
  /** Only subscriptions of the shards that this process holds. */
  readonly owner: string;
  readonly now: number;
  /** Maximum wait of a delivery that is being sent, or was never tried. */
  readonly claimMs: number;
  /** Maximum wait before a retry of a delivery, or of a receiver that fails. */
  readonly retryMs: number;
}

/** The outcome of one attempt. */
export interface DeliveryResult extends Pick<DeliveryRecord, 'id' | 'status' | 'failure' | 'durationMs'> {
  /** `waiting`: the delivery is tried again at `nextAt`. */
  readonly state: 'delivered' | 'waiting' | 'failed';
  readonly nextAt: number;
}

export interface AttemptOutcome
  extends Pick<StoredSubscription, 'failures' | 'failingSince' | 'retryAt' | 'lastFailure' | 'deliveredAt'> {
  readonly now: number;
  readonly results: readonly DeliveryResult[];
  /** True: makes all waiting deliveries due now, because the receiver works again. */
  readonly wakesAll: boolean;
  /** Disables the subscription for this reason; null: its state does not change. */
  readonly disables: string | null;
}

export interface SubscriptionListQuery {
  /** The last name of the page before; null: begins with the first. */
  after: string | null;
  limit: number;
  state?: StoredSubscription['state'] | undefined;
  /** Text that the name or the body contains. Case of ASCII letters is ignored. */
  search?: string | undefined;
}

export interface DeliveryListQuery {
  /** Only deliveries whose `seq` is below this; null: begins with the newest. */
  beforeSeq: number | null;
  limit: number;
  state?: DeliveryState | undefined;
}

/** Figures of a subscription for metrics. */
export interface SubscriptionBacklog
  extends Pick<StoredSubscription, 'name' | 'state' | 'failures' | 'problem'> {
  readonly waiting: number;
  /** Creation time of the oldest waiting delivery; null if none waits. */
  readonly oldestAt: number | null;
}

/**
 * Subscriptions, and the deliveries that their changes cause: an outbox and its log. The audit record `auditBatch` is
 * appended as in {@link KeyStore}.
 *
 * Each subscription belongs to one of 16 shards, by its id, and each shard to one process at a time. Methods
 * with an `owner` are for the process that works subscriptions: they see and change only subscriptions of shards that
 * this process holds at that moment, by the clock of the store.
 */
export interface SubscriptionStore {
  /** `conflict`: the name is taken. `full`: there are `max` subscriptions. */
  insert(
    subscription: SubscriptionDefinition,
    max: number,
    auditBatch?: AuditBatch,
  ): Promise<'done' | 'conflict' | 'full'>;
  findByName(name: string): Promise<StoredSubscription | null>;
  /** At most `limit` subscriptions, ordered by the code points of their names. */
  list(query: SubscriptionListQuery): Promise<StoredSubscription[]>;
  /** At most `limit` active subscriptions, in any order. */
  listActive(owner: string, limit: number): Promise<ActiveSubscription[]>;
  /** Replaces the body if the row still has this version. `restarts`: forgets the position of its readings. */
  replace(
    id: string,
    version: number,
    next: { readonly body: string; readonly restarts: boolean },
    auditBatch?: AuditBatch,
  ): Promise<Change>;
  /** The state `active` resets the failures of the receiver, and makes waiting deliveries due now. */
  setState(
    id: string,
    version: number,
    next: Pick<StoredSubscription, 'state' | 'reason'> & { readonly now: number },
    auditBatch?: AuditBatch,
  ): Promise<Change>;
  /** Removes a subscription. Its deliveries are not sent any more; `prune` removes them. */
  remove(id: string, version: number, auditBatch?: AuditBatch): Promise<Change>;

  /**
   * Divides the shards among the processes that have asked within `ttlMs`, and returns those of this process,
   * ascending. A process keeps its shards as far as its part allows; free ones follow as others release theirs or die.
   */
  holdShards(owner: string, terms: ShardTerms): Promise<number[]>;
  /** Releases the shards of this process, so that others get them at once. */
  releaseShards(owner: string): Promise<void>;

  /** Null: there is no such subscription. */
  readProgress(id: string, waitingMax: number): Promise<SubscriptionProgress | null>;
  /**
   * Stores the new position and the deliveries, all or nothing. A delivery replaces a waiting one of the same record
   * that is not being sent, and takes over its number of attempts and its due time. False, and nothing is stored: the
   * position has changed since, the subscription is not active, or another process holds its shard.
   */
  commitReading(owner: string, id: string, progressVersion: number, reading: Reading): Promise<boolean>;
  /** Records readings that found no change to store, or failed. */
  saveReadingOutcomes(owner: string, outcomes: readonly ReadingOutcome[]): Promise<void>;

  /**
   * Time at which the first waiting delivery of an active subscription is due; null: none waits. Ignores subscriptions
   * in `except`.
   */
  findNextDue(owner: string, except: readonly string[]): Promise<number | null>;
  /**
   * Claims deliveries that are due. No other claim gets them until this one ends, even at the same moment. A delivery
   * is not claimed while an older delivery of its record waits.
   */
  claimDeliveries(claim: DeliveryClaim): Promise<DeliveryBatch[]>;
  /**
   * Records the attempts of a claim. Ignores results of deliveries that another claim has taken over. If none is left,
   * nothing is recorded.
   */
  recordAttempts(id: string, claim: string, outcome: AttemptOutcome): Promise<void>;
  /**
   * Call this after the clock was set back by `ms`: in these shards, a wait that ends after `after` ends `ms` earlier.
   */
  advanceWaits(shards: readonly number[], after: number, ms: number): Promise<void>;
  /** Shortens waits beyond these limits, which remain after a clock was set back. */
  limitWaits(limits: WaitLimits): Promise<void>;
  /** Logs a ping: a delivery about no record that has already ended. Its result updates the state of the receiver. */
  logDelivery(
    id: string,
    delivery: Omit<NewDelivery, 'record'> & Omit<DeliveryResult, 'nextAt' | 'id'>,
    now: number,
    auditBatch?: AuditBatch,
  ): Promise<void>;

  /** Lists deliveries, the newest first. */
  listDeliveries(id: string, query: DeliveryListQuery): Promise<DeliveryRecord[]>;
  /**
   * Makes an ended delivery due again. `missing`: the subscription has no such delivery. `conflict`: the delivery waits
   * already, is about no record, or a newer delivery of its record exists.
   */
  replay(id: string, delivery: string, now: number, auditBatch?: AuditBatch): Promise<Change>;
  /**
   * Makes the newest delivery of each record since this time due again, as `replay`. Returns the number of deliveries.
   */
  replaySince(id: string, since: number, now: number, auditBatch?: AuditBatch): Promise<number>;
  /** At most `limit` backlogs. Those with the oldest waiting delivery come first. */
  measure(owner: string, limit: number): Promise<SubscriptionBacklog[]>;
  /**
   * Removes deliveries that ended before `before`, ended deliveries beyond the newest `keptMax` of each subscription,
   * and deliveries of removed subscriptions: at most about `limit`. Returns their number.
   */
  prune(before: number, keptMax: number, limit: number): Promise<number>;
}

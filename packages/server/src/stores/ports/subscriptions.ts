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

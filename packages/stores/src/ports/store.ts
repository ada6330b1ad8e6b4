/**
 * The interface of a store. No method blocks the event loop, whatever another process does. Arguments and results are
 * plain data that can be passed to another thread. Failures are {@link StoreError}s. Must not know a driver.
 */
import type { ApprovalStore } from './approvals.ts';
import type { AuditStore } from './audit.ts';
import type { CallCountStore } from './call-counts.ts';
import type { ConnectionStore } from './connections.ts';
import type { ConsentStore, SignInObjectStore } from './consents.ts';
import type { DeniedSubjectStore } from './denied-subjects.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InstanceStore } from './instances.ts';
import type { JobStore } from './jobs.ts';
import type { KeyStore } from './keys.ts';
import type { LeaseStore } from './leases.ts';
import type { OperatorTokenStore } from './operator-tokens.ts';
import type { OperatorStore } from './operators.ts';
import type { StatisticsStore } from './statistics.ts';
import type { SubscriptionStore } from './subscriptions.ts';

/** A change that this or another process made. */
export interface StoreChange {
  kind: 'key' | 'instance' | 'connection' | 'consent' | 'subject' | 'subscription';
  /** The id of the key, consent, subject or subscription, the name of the instance, or `<instance> <person>`. */
  id: string;
}

/** Called within a second after each change by any process. Null: any row may have changed. */
export type ChangeListener = (change: StoreChange | null) => void;

export interface Store {
  /** Name for operators, without secrets: `memory`, `sqlite <file>` or `postgres <host>/<database>`. */
  readonly label: string;
  readonly keys: KeyStore;
  readonly instances: InstanceStore;
  readonly connections: ConnectionStore;
  readonly consents: ConsentStore;
  readonly signInObjects: SignInObjectStore;
  readonly audit: AuditStore;
  readonly idempotency: IdempotencyStore;
  readonly callCounts: CallCountStore;
  readonly approvals: ApprovalStore;
  readonly deniedSubjects: DeniedSubjectStore;
  readonly operatorTokens: OperatorTokenStore;
  readonly operators: OperatorStore;
  readonly statistics: StatisticsStore;
  readonly subscriptions: SubscriptionStore;
  readonly jobs: JobStore;
  readonly leases: LeaseStore;
  watch(listener: ChangeListener): void;
  /** False while changes of other processes may be missed. Later, listeners get the missed changes, or null. */
  readonly isWatching: boolean;
  /** Reason for operators why changes cannot be written; null: they can, as far as is known. Names no file or host. */
  readonly trouble: string | null;
  /** Number of statements that were cancelled because they took too long. Left out: the engine cancels none. */
  readonly statementsGivenUp?: number;
  /** Rejects or throws if the store cannot be used now. */
  probe(): Promise<void>;
  /**
   * Takes over the user and the password of another `store.url` of the same database, for new connections. Rejects with
   * a {@link StoreError}, and changes nothing, if the URL differs in more than that, or if the server refuses them.
   * Left out: the engine has neither.
   */
  takeLogin?(url: string): Promise<void>;
  /** Can be called twice. */
  close(): Promise<void>;
}

/** A store, with the migration that opening it made. */
export interface OpenedStore extends Store {
  /** Version of the schema before and after opening. Left out: the store has no schema versions. */
  readonly migration?: { readonly from: number; readonly to: number };
}

/** The result of a check whether a store exists. The store is neither opened nor created. */
export interface FoundStore {
  /** As {@link Store.label}. */
  readonly label: string;
  readonly exists: boolean;
}

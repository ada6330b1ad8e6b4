/** Interfaces of the stores, and the rows that they keep. Types alone. */
export type {
  ApprovalDecision,
  ApprovalListQuery,
  ApprovalRequest,
  ApprovalRow,
  ApprovalStore,
} from './approvals.ts';
export type { AuditBatch, AuditFilters, AuditPosition, AuditRow, AuditSearch, AuditStore } from './audit.ts';
export type { CallCount, CallCountStore } from './call-counts.ts';
export type { Change } from './change.ts';
export type { ConnectionId, ConnectionListQuery, StoredConnection } from './connections.ts';
export type {
  ConsentListQuery,
  SignInObject,
  SignInObjectStore,
  StoredConsent,
} from './consents.ts';
export type { DeniedSubject, DeniedSubjectStore } from './denied-subjects.ts';
export type { IdempotencyClaim, IdempotencyRow, IdempotencyStore, IdempotencyUse } from './idempotency.ts';
export type { InstanceListQuery, InstanceStore, StoredInstance } from './instances.ts';
export type {
  FullJobs,
  JobBounds,
  JobEnd,
  JobRequest,
  JobRow,
  JobStore,
} from './jobs.ts';
export type {
  EndingKey,
  KeyListQuery,
  KeyName,
  KeyRecord,
  KeyStore,
  RotationResult,
  StoredKey,
} from './keys.ts';
export type { LeaseStore } from './leases.ts';
export type { OperatorToken, OperatorTokenStore, StoredOperatorToken } from './operator-tokens.ts';
export type { OperatorRecord, OperatorStore } from './operators.ts';
export type { StatisticsRow, StatisticsStore } from './statistics.ts';
export type { ChangeListener, Store, StoreChange } from './store.ts';
export type {
  ActiveSubscription,
  AttemptOutcome,
  ClaimedDelivery,
  DeliveryBatch,
  DeliveryClaim,
  DeliveryListQuery,
  DeliveryRecord,
  DeliveryResult,
  IdChanges,
  IdPart,
  Reading,
  ReadingOutcome,
  StoredSubscription,
  SubscriptionBacklog,
  SubscriptionDefinition,
  SubscriptionListQuery,
  SubscriptionProgress,
  SubscriptionStore,
} from './subscriptions.ts';

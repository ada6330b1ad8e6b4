/**
 * The operations of an administrator, the parts of the proxy that they need, and who performs them. One service for the
 * HTTP API and for the commands on this machine.
 */

import type { SerialQueue } from '@erp-proxy/async/tasks';
import type {
  ApprovalDetails,
  ApprovalQuery,
  ApprovalRefusal,
  ApprovalView,
  AttentionView,
  AuditCallView,
  AuditQuery,
  AuditVerdict,
  AuditView,
  DeliveryQuery,
  DeliveryView,
  DeniedSubjectView,
  Examination,
  ExaminationCheck,
  ExplainInput,
  Explanation,
  InstanceChanges,
  InstanceCheckInput,
  InstanceInput,
  InstanceQuery,
  InstanceView,
  KeyChanges,
  KeyInput,
  KeyNamesView,
  KeyQuery,
  KeyRotation,
  KeyView,
  MethodsView,
  NewKeyView,
  NewSubscriptionView,
  Page,
  PageQuery,
  PingView,
  Policy,
  PolicyCompareInput,
  PolicyComparison,
  PolicyExplainInput,
  ReplayInput,
  ReplayView,
  SandboxView,
  SecretRotation,
  StatisticsFilters,
  StatisticsView,
  StatusView,
  SubscriptionChanges,
  SubscriptionInput,
  SubscriptionPause,
  SubscriptionQuery,
  SubscriptionView,
  UncheckedRule,
  VersionTag,
} from '@erp-proxy/contract';
import type { Approvals } from '../approvals/approvals.ts';
import type { Audit } from '../audit/audit.ts';
import type { Instances } from '../instances/instances.ts';
import type { DescribeKeyRotationAct } from '../key-rotation/key-rotation.ts';
import type { ExpiryNotice } from '../keys/expiry-notices.ts';
import type { Keys } from '../keys/keys.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { DeniedSubjectStore } from '../stores/ports/denied-subjects.ts';
import type { KeyRecord } from '../stores/ports/keys.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Examinations } from './examinations.ts';

/** The administrator, for the audit. */
export interface Actor {
  /** `token`, `session` or `cli:<user>@<host>`. */
  name: string;
  address: string | null;
  requestId: string | null;
}

type OnCheck = (check: ExaminationCheck) => void;

/**
 * Methods reject with an AdminError. If a tag is given, only its version is changed, otherwise the newest.
 */
export interface Admin {
  listKeys(query: KeyQuery): Promise<Page<KeyView>>;
  /** The names of up to 100 keys, for lists that have ids. */
  listKeyNames(ids: readonly string[]): Promise<KeyNamesView>;
  createKey(input: KeyInput): Promise<NewKeyView>;
  getKey(id: string): Promise<KeyView>;
  updateKey(id: string, changes: KeyChanges, tag?: VersionTag): Promise<KeyView>;
  /** A revoked key stays revoked. Revoking it again changes nothing. */
  revokeKey(id: string): Promise<KeyView>;
  /**
   * Returns the new key. The old one works until the overlap ends, and is not rotated again while the new one works.
   */
  rotateKey(id: string, rotation: KeyRotation, tag?: VersionTag): Promise<NewKeyView>;
  explain(id: string, input: ExplainInput): Promise<Explanation>;
  /** As `explain` of a key with this policy. */
  explainPolicy(input: PolicyExplainInput): Promise<Explanation>;
  /**
   * Checks the calls of the audit against a draft. Comparisons of all administrators run one after another. One whose
   * signal is aborted ends early.
   */
  comparePolicy(input: PolicyCompareInput, signal?: AbortSignal): Promise<PolicyComparison>;
  /** The newest first. */
  listApprovals(query: ApprovalQuery): Promise<Page<ApprovalView>>;
  getApproval(id: string): Promise<ApprovalDetails>;
  /** Approving an approved call again changes nothing. `refuseCall` likewise. */
  approveCall(id: string): Promise<ApprovalView>;
  refuseCall(id: string, refusal: ApprovalRefusal): Promise<ApprovalView>;
  listInstances(query: InstanceQuery): Promise<Page<InstanceView>>;
  createInstance(input: InstanceInput): Promise<InstanceView>;
  getInstance(name: string): Promise<InstanceView>;
  updateInstance(name: string, changes: InstanceChanges, tag?: VersionTag): Promise<InstanceView>;
  removeInstance(name: string, tag?: VersionTag): Promise<void>;
  /** Makes a new key at Odoo and replaces the stored one. */
  rotateInstanceKey(name: string): Promise<InstanceView>;
  /** Checks whether calls on the instance can succeed. Changes nothing. `onCheck` gets each check once it is found. */
  examineInstance(name: string, onCheck?: OnCheck): Promise<Examination>;
  /** The same for an instance that is not stored. */
  examineDraft(input: InstanceCheckInput, onCheck?: OnCheck): Promise<Examination>;
  listSubscriptions(query: SubscriptionQuery): Promise<Page<SubscriptionView>>;
  createSubscription(input: SubscriptionInput): Promise<NewSubscriptionView>;
  getSubscription(name: string): Promise<SubscriptionView>;
  updateSubscription(name: string, changes: SubscriptionChanges, tag?: VersionTag): Promise<SubscriptionView>;
  removeSubscription(name: string, tag?: VersionTag): Promise<void>;
  /** Pausing a paused subscription again changes nothing. `resumeSubscription` likewise. */
  pauseSubscription(name: string, pause: SubscriptionPause): Promise<SubscriptionView>;
  /** Continues after a pause, and after it was disabled. What waits is sent at once. */
  resumeSubscription(name: string): Promise<SubscriptionView>;
  /** Sends what waits for a retry at once. */
  retrySubscription(name: string): Promise<SubscriptionView>;
  /** The former secret signs for the overlap, too. */
  rotateSecret(name: string, rotation: SecretRotation, tag?: VersionTag): Promise<NewSubscriptionView>;
  /** Sends a delivery of type `ping` now, and returns what the receiver answered. */
  pingSubscription(name: string): Promise<PingView>;
  replayDeliveries(name: string, replay: ReplayInput): Promise<ReplayView>;
  /** The newest first. */
  listDeliveries(name: string, query: DeliveryQuery): Promise<Page<DeliveryView>>;
  listDeniedSubjects(query: PageQuery): Promise<Page<DeniedSubjectView>>;
  /** Refuses all tokens of the subject. Denying it again changes nothing. */
  denySubject(input: { id: string }): Promise<DeniedSubjectView>;
  allowSubject(id: string): Promise<void>;
  listAudit(query: AuditQuery): Promise<Page<AuditView>>;
  getAuditRecord(seq: number): Promise<AuditView>;
  /** All matches, oldest first. */
  exportAudit(query: AuditQuery): AsyncIterable<AuditView>;
  /** `head` is that of an earlier verdict, which must still be part of the chain. */
  verifyAudit(head?: string): Promise<AuditVerdict>;
  /** Reseals under the current master key what other master keys sealed. */
  resealVault(): Promise<{ resealed: number }>;
  getStatistics(query: StatisticsFilters): Promise<StatisticsView>;
  status(): Promise<StatusView>;
  /** The methods of Odoo whose parameters are known. */
  listMethods(): Promise<MethodsView>;
  getSandbox(): Promise<SandboxView>;
  /** Starts a sandbox Odoo for the life of the process, and stores it as an instance. */
  startSandbox(): Promise<InstanceView>;
  /** What needs an administrator, the worst first. */
  listAttention(): Promise<AttentionView>;
}

/** A sandbox Odoo that runs, with its administrator. */
export interface SandboxServer {
  url: string;
  db: string;
  userId: number;
  apiKey: string;
}

export interface AdminDeps {
  keys: Pick<Keys, 'create' | 'find' | 'list' | 'listNames' | 'update' | 'revoke' | 'rotate'>;
  instances: Pick<Instances, 'get' | 'getVersion' | 'list' | 'add' | 'update' | 'remove' | 'reseal'>;
  approvals: Pick<Approvals, 'list' | 'find' | 'openCall' | 'decide'>;
  deniedSubjects: DeniedSubjectStore;
  subscriptions: Subscriptions;
  /** Why a receiver at this origin cannot be reached, as far as that is known without DNS; null: it can. */
  explainReceiver: (origin: string) => string | null;
  /** Names of the identity providers whose tokens are accepted (`auth.issuers`). */
  issuers: readonly string[];
  audit: Pick<Audit, 'prepareAct' | 'search' | 'find' | 'export' | 'verify'>;
  statistics: Pick<Statistics, 'query' | 'listCalled'>;
  /** Client keys that end soon, or have ended within a day. `isCut`: there are more of them. */
  readEndingKeys: () => Promise<{ due: readonly ExpiryNotice[]; isCut: boolean }>;
  status: () => Promise<StatusView>;
  explain: (key: KeyRecord, input: ExplainInput) => Promise<Explanation>;
  drafts: DraftPolicies;
  /** Several comparisons at once would keep the event loop busy. */
  comparisons: SerialQueue;
  /** Bounds the checks of servers that all administrators run at once. */
  examinations: Examinations;
  /** Rejects with a `KeyRotationError` that gives the reason. */
  rotateInstanceKey: (name: string, describeAct: DescribeKeyRotationAct) => Promise<void>;
  /** Null if there is no such instance. */
  examineInstance: (name: string, onCheck?: OnCheck) => Promise<Examination | null>;
  examineDraft: (input: InstanceCheckInput, onCheck?: OnCheck) => Promise<Examination>;
  /** Starts the sandbox, or returns the one that runs; null: not in this process. */
  startSandbox: (() => Promise<SandboxServer>) | null;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What policies would do that no key has. Null: no policy. */
export interface DraftPolicies {
  explain(policy: Policy | null, input: ExplainInput): Explanation;
  /** `unchecked`: the rules that are not applied, or only in part. */
  checkRecords(policy: Policy | null): { check: RecordCheck; unchecked: UncheckedRule[] };
}

/** Checks a call by what its record in the audit tells. `approval`: the rule because of which it needs one. */
export type RecordCheck = (call: AuditCallView & { model: string; action: string }) => {
  denied: { rule: string; message: string } | null;
  approval: string | null;
};

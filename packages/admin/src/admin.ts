/**
 * The admin service: the operations of an administrator, the parts of the proxy that they need, and who performs them.
 * The HTTP API and the commands on this machine use the same service.
 */
import type { KeyObject } from 'node:crypto';
import type { SerialQueue } from '@erp-proxy/async/tasks';
import type {
  ActorView,
  AuditCallView,
  AuditQuery,
  AuditView,
  Examination,
  ExaminationCheck,
  ExplainInput,
  Explanation,
  InstanceCheckInput,
  Policy,
  PolicyCompareInput,
  PolicyComparison,
  Role,
  StatusView,
  UncheckedRule,
  UpstreamView,
} from '@erp-proxy/contract';
import type { AdminOperations } from '@erp-proxy/contract/admin';
import type { Approvals } from '@erp-proxy/control/approvals';
import type { Audit } from '@erp-proxy/control/audit';
import type { Connections } from '@erp-proxy/control/connections';
import type { Consents } from '@erp-proxy/control/consents';
import type { Instances } from '@erp-proxy/control/instances';
import type { DescribeKeyRotation } from '@erp-proxy/control/key-rotation';
import type { ExpiryNotice, Keys } from '@erp-proxy/control/keys';
import type { OperatorTokens } from '@erp-proxy/control/keys/operator-tokens';
import type { Statistics } from '@erp-proxy/control/statistics';
import type { Subscriptions } from '@erp-proxy/data/subscriptions';
import type {
  AuditBatch,
  DeniedSubjectStore,
  JobRow,
  JobStore,
  KeyRecord,
  OperatorStore,
} from '@erp-proxy/stores/ports';
import { AdminError, describeProblem } from './admin-error.ts';
import type { ExplainOwnCall } from './four-eyes.ts';
import type { TokenUses } from './token-uses.ts';

/** Who acts, and what they may do. */
export interface Identity extends ActorView {
  readonly role: Role;
  /** Patterns of the names of the instances that they may see and change; null: all, and the whole proxy. */
  readonly instances: readonly string[] | null;
}

/** Who makes a request. */
export interface Actor extends Identity {
  address: string | null;
  requestId: string | null;
}

export type OnCheck = (check: ExaminationCheck) => void;

/**
 * The operations of `/admin/v1`. Methods reject with an AdminError. A method with a tag changes only the version of the
 * tag, otherwise the newest.
 */
export interface Admin
  extends Omit<AdminOperations, 'comparePolicy' | 'checkInstance' | 'checkServer' | 'exportAudit'> {
  /** Comparisons of all administrators run one after another. A comparison ends early if its signal is aborted. */
  comparePolicy(input: PolicyCompareInput, signal?: AbortSignal): Promise<PolicyComparison>;
  /** Calls `onCheck` with each check as soon as it is found. */
  checkInstance(name: string, onCheck?: OnCheck): Promise<Examination>;
  checkServer(input: InstanceCheckInput, onCheck?: OnCheck): Promise<Examination>;
  exportAudit(query: AuditQuery): AsyncIterable<AuditView>;
}

/** A running sandbox Odoo, and the credentials of its administrator. */
export interface SandboxServer {
  url: string;
  db: string;
  userId: number;
  apiKey: string;
}

/** What the present rules give to a person. `unknown`: the stored claims do not tell. */
export type FindGrant = (
  granted: string,
) => { readonly role: Role; readonly instances: readonly string[] | null } | null | 'unknown';

export interface AdminDeps {
  keys: Pick<Keys, 'create' | 'find' | 'list' | 'listNames' | 'update' | 'revoke' | 'rotate'>;
  instances: Pick<Instances, 'find' | 'get' | 'getVersion' | 'list' | 'add' | 'update' | 'remove' | 'reseal'>;
  connections: Pick<Connections, 'get' | 'list' | 'remove' | 'reseal'>;
  consents: Pick<Consents, 'get' | 'list' | 'remove'>;
  approvals: Pick<Approvals, 'list' | 'find' | 'openCall' | 'decide'>;
  jobs: Pick<JobStore, 'list' | 'find'> & {
    /** As {@link JobStore.cancel}, for the jobs of all clients. */
    cancel(id: string, auditBatch: AuditBatch): Promise<JobRow | null>;
  };
  deniedSubjects: DeniedSubjectStore;
  persons: Pick<OperatorStore, 'list' | 'endSessions'>;
  findGrant: FindGrant;
  operatorTokens: Pick<OperatorTokens, 'create' | 'find' | 'list' | 'revoke'>;
  subscriptions: Subscriptions;
  /** Why a receiver at this origin cannot be reached, as far as this is known without DNS; null if it can be. */
  explainReceiver: (origin: string) => string | null;
  /** Names of the identity providers whose tokens are accepted (`auth.issuers`). */
  issuers: readonly string[];
  audit: Pick<Audit, 'prepareAdminAction' | 'recordAdminAction' | 'search' | 'find' | 'export' | 'verify'>;
  statistics: Pick<Statistics, 'query' | 'listCalled'>;
  /** Client keys that end soon, or have ended within a day. `isCut`: true if there are more of them. */
  readEndingKeys: () => Promise<{ due: readonly ExpiryNotice[]; isCut: boolean }>;
  /** Recent uses of `admin.token`; null: it is the usual way in, because no operators are configured. */
  readTokenUses: (() => Promise<TokenUses>) | null;
  status: () => Promise<StatusView>;
  /** The databases that only calls of these stored instances use, as far as instances tell. */
  listUpstreamsOf: (has: (instance: string) => boolean) => Promise<UpstreamView[]>;
  /** The rule of `approvals.fourEyes`; null: the setting is false. */
  explainOwnCall: ExplainOwnCall | null;
  /** Hides numbers that count the rows of the whole proxy. */
  numbersKey: KeyObject;
  explain: (key: KeyRecord, input: ExplainInput) => Promise<Explanation>;
  drafts: DraftPolicies;
  /** Runs comparisons one by one: several at once would keep the event loop busy. */
  comparisons: SerialQueue;
  /** Limits the checks of servers that run at a time, for all administrators together. */
  examinations: Examinations;
  /** Rejects with a `KeyRotationError` that gives the reason. */
  rotateInstanceKey: (name: string, describeAction: DescribeKeyRotation) => Promise<void>;
  /** Null if there is no such instance. */
  examineInstance: (name: string, onCheck?: OnCheck) => Promise<Examination | null>;
  examineDraft: (input: InstanceCheckInput, onCheck?: OnCheck) => Promise<Examination>;
  /** Starts the sandbox, or returns the running one. Null if this process offers no sandbox. */
  startSandbox: (() => Promise<SandboxServer>) | null;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** Applies policies that no key has. `policy` null: as a key without a policy. */
export interface DraftPolicies {
  explain(policy: Policy | null, input: ExplainInput): Explanation;
  /** `unchecked`: rules that are not checked, or only in part. */
  checkRecords(policy: Policy | null): { check: RecordCheck; unchecked: UncheckedRule[] };
}

/** Checks a call by its record in the audit. `approval`: the rule by which the call needs an approval. */
export type RecordCheck = (call: AuditCallView & { model: string; action: string }) => {
  denied: { rule: string; message: string } | null;
  approval: string | null;
};

const RUNNING_MAX = 8;
const RETRY_AFTER_SECONDS = 5;

/**
 * Bounds the checks of servers that run at once in this process. Each check waits for a server that an administrator
 * named, and holds connections meanwhile. The limits of calls do not apply to checks.
 */
export class Examinations {
  #running = 0;

  /** Rejects with an AdminError if too many checks run. Otherwise resolves or rejects as the check does. */
  async run<Result>(check: () => Promise<Result>): Promise<Result> {
    if (this.#running >= RUNNING_MAX) {
      throw new AdminError(describeProblem(429, REFUSAL), { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#running++;
    try {
      return await check();
    } finally {
      this.#running--;
    }
  }
}

const REFUSAL = `${RUNNING_MAX} checks of servers run in this process already. Try again in ${RETRY_AFTER_SECONDS} s.`;

/**
 * The operations of the SQLite thread, and the messages between it and the main thread. Must know
 * neither SQL nor threads.
 */
import type { ApprovalStore } from '../ports/approvals.ts';
import type { AuditStore } from '../ports/audit.ts';
import type { CallCountStore } from '../ports/call-counts.ts';
import type { ConnectionStore } from '../ports/connections.ts';
import type { ConsentStore, SignInObjectStore } from '../ports/consents.ts';
import type { DeniedSubjectStore } from '../ports/denied-subjects.ts';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import type { InstanceStore } from '../ports/instances.ts';
import type { JobStore } from '../ports/jobs.ts';
import type { KeyStore } from '../ports/keys.ts';
import type { LeaseStore } from '../ports/leases.ts';
import type { OperatorTokenStore } from '../ports/operator-tokens.ts';
import type { OperatorStore } from '../ports/operators.ts';
import type { StatisticsStore } from '../ports/statistics.ts';
import type { Store, StoreChange } from '../ports/store.ts';
import type { SubscriptionStore } from '../ports/subscriptions.ts';
import type { Migration } from './migrations.ts';

export interface OperationTraits {
  /** Writes run one after the other. Reads do not wait for them. */
  readonly isWrite: boolean;
  /** Maximum wait for the lock of another process. After that the operation is refused, and has changed nothing. */
  readonly waitMs: number;
  /** Maximum wait of the caller. After that the outcome of a write is unknown. */
  readonly answerMs: number;
}

/** Time for a slow disk, in addition to `waitMs`. */
const DISK_MS = 2000;
const READ: OperationTraits = { isWrite: false, waitMs: 5000, answerMs: 5000 + DISK_MS };
/** Reads that may scan all rows, in slices. */
const SCAN: OperationTraits = { isWrite: false, waitMs: 5000, answerMs: 120_000 };
const PROBE: OperationTraits = { isWrite: false, waitMs: 500, answerMs: 500 };
const WRITE: OperationTraits = { isWrite: true, waitMs: 5000, answerMs: 5000 + DISK_MS };
/** Writes that their callers retry, and claims: a call waits one second for its claim. */
const QUICK_WRITE: OperationTraits = { isWrite: true, waitMs: 1000, answerMs: 1000 + DISK_MS };

export interface Parts {
  keys: KeyStore;
  instances: InstanceStore;
  connections: ConnectionStore;
  consents: ConsentStore;
  signInObjects: SignInObjectStore;
  audit: AuditStore;
  idempotency: IdempotencyStore;
  callCounts: CallCountStore;
  approvals: ApprovalStore;
  deniedSubjects: DeniedSubjectStore;
  operatorTokens: OperatorTokenStore;
  operators: OperatorStore;
  statistics: StatisticsStore;
  subscriptions: SubscriptionStore;
  jobs: JobStore;
  leases: LeaseStore;
  store: Pick<Store, 'probe'>;
}

export type PartName = keyof Parts;

export const OPERATIONS: {
  readonly [Part in PartName]: Readonly<Record<keyof Parts[Part], OperationTraits>>;
} = {
  keys: {
    insert: WRITE,
    findById: READ,
    list: SCAN,
    listNames: READ,
    listEnding: READ,
    isEmpty: READ,
    update: WRITE,
    revoke: WRITE,
    rotate: WRITE,
    touch: QUICK_WRITE,
    getOrCreateHashSecret: WRITE,
  },
  instances: {
    insert: WRITE,
    findByName: READ,
    list: SCAN,
    replace: WRITE,
    remove: WRITE,
    countByMasterKey: SCAN,
  },
  connections: { put: WRITE, find: READ, list: READ, replace: WRITE, remove: WRITE },
  consents: {
    insert: WRITE,
    find: READ,
    list: READ,
    update: WRITE,
    touch: WRITE,
    remove: WRITE,
    removeOf: WRITE,
    prune: QUICK_WRITE,
  },
  signInObjects: {
    put: WRITE,
    find: READ,
    list: READ,
    consume: WRITE,
    extend: WRITE,
    remove: WRITE,
    prune: QUICK_WRITE,
  },
  audit: {
    append: QUICK_WRITE,
    readAfter: READ,
    search: READ,
    readHead: READ,
    readFloor: READ,
    prune: QUICK_WRITE,
    readSink: READ,
    moveSink: QUICK_WRITE,
  },
  idempotency: {
    find: READ,
    claim: QUICK_WRITE,
    extend: QUICK_WRITE,
    complete: QUICK_WRITE,
    markUnknown: QUICK_WRITE,
    release: QUICK_WRITE,
    measure: READ,
    prune: QUICK_WRITE,
  },
  callCounts: { add: QUICK_WRITE, read: READ },
  approvals: {
    ask: QUICK_WRITE,
    find: READ,
    findOf: READ,
    list: READ,
    decide: WRITE,
    claim: QUICK_WRITE,
    release: QUICK_WRITE,
    prune: QUICK_WRITE,
  },
  deniedSubjects: { deny: WRITE, allow: WRITE, find: READ, findAll: READ, list: READ },
  operators: {
    confirm: WRITE,
    withdraw: WRITE,
    endSessions: WRITE,
    endSession: WRITE,
    hasEnded: READ,
    find: READ,
    list: READ,
  },
  operatorTokens: { insert: WRITE, findById: READ, list: READ, revoke: WRITE, touch: QUICK_WRITE },
  statistics: { put: QUICK_WRITE, list: READ, prune: QUICK_WRITE },
  subscriptions: {
    insert: WRITE,
    findByName: READ,
    list: READ,
    listActive: READ,
    replace: WRITE,
    setState: WRITE,
    remove: WRITE,
    holdShards: QUICK_WRITE,
    releaseShards: QUICK_WRITE,
    readProgress: READ,
    commitReading: QUICK_WRITE,
    saveReadingOutcomes: QUICK_WRITE,
    findNextDue: READ,
    claimDeliveries: QUICK_WRITE,
    recordAttempts: QUICK_WRITE,
    advanceWaits: QUICK_WRITE,
    limitWaits: QUICK_WRITE,
    logDelivery: WRITE,
    listDeliveries: READ,
    replay: WRITE,
    replaySince: WRITE,
    measure: READ,
    prune: QUICK_WRITE,
  },
  jobs: {
    add: WRITE,
    find: READ,
    list: READ,
    listUnreported: READ,
    look: READ,
    claim: QUICK_WRITE,
    renew: QUICK_WRITE,
    markSent: QUICK_WRITE,
    markUnsent: QUICK_WRITE,
    end: WRITE,
    release: WRITE,
    recover: QUICK_WRITE,
    cancel: WRITE,
    addPart: WRITE,
    readPart: READ,
    dropParts: QUICK_WRITE,
    prune: QUICK_WRITE,
    count: READ,
  },
  leases: { acquire: QUICK_WRITE, release: QUICK_WRITE },
  store: { probe: PROBE },
};

/** Creates the parts of a store, whose methods pass each operation to `request`. */
export function createParts(
  request: (part: PartName, method: string, args: readonly unknown[]) => unknown,
): Parts {
  const parts = Object.entries(OPERATIONS).map(([part, operations]) => {
    const methods = Object.keys(operations).map((method) => [
      method,
      (...args: readonly unknown[]) => request(part as PartName, method, args),
    ]);
    return [part, Object.fromEntries(methods)];
  });
  return Object.fromEntries(parts) as Parts;
}

/** A message to the SQLite thread. */
export type Request =
  | { id: number; part: PartName; method: string; args: readonly unknown[]; sentMs: number }
  | { close: true };

/** A message from the SQLite thread. `id` is that of the answered request. */
export type Reply =
  | { opened: Migration }
  /** Reason why the file cannot be opened. The thread ends after this message. */
  | { refused: string }
  | { id: number; value: unknown }
  | { id: number; failure: string }
  | { change: StoreChange | null }
  | { status: ThreadStatus };

/** The state of the thread, sent after each change. */
export interface ThreadStatus {
  isWatching: boolean;
  trouble: string | null;
}

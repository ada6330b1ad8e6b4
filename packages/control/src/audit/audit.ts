/**
 * The audit: one record for each call and each action of an administrator, chained by hashes and kept for a set time.
 * record.ts says what records omit. Knows neither HTTP nor the kind of store.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { atMost, type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { AuditQuery, AuditVerification, AuditView, Page, Role } from '@erp-proxy/contract';
import type { CallRecord, EventHandlers, RefusalRecord } from '@erp-proxy/observe/events';
import type { AuditBatch, AuditStore, LeaseStore } from '@erp-proxy/stores/ports';
import { LRUCache } from 'lru-cache';
import { type AuditComparison, compareSink } from './compare.ts';
import { type AdminAction, printAdminAction, toAuditedCall } from './record.ts';
import { type AuditScope, exportRecords, findRecord, searchRecords } from './search.ts';
import { verifyChain } from './verify.ts';
import { createWriter } from './writer.ts';

export interface AuditOptions {
  store: AuditStore;
  leases: LeaseStore;
  /** The secret without which nobody can write a chain that verifies. */
  chainKey: KeyObject;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Age at which records are removed; null: this process removes none. */
  retentionMs: number | null;
  /** Called with errors of background writes. The records are kept and written again. */
  onError: (error: unknown) => void;
  /** Called at most once a second with the number of records lost since the last call. */
  onLost: (records: number) => void;
}

/** A login of an administrator. */
export interface Login extends Pick<AdminAction, 'actor' | 'address' | 'requestId' | 'action'> {
  /** Kind of login, for example `link`. */
  way: string;
  /** What a person may do, and what else the rules would have given. */
  grant?: { role: Role; instances: readonly string[] | null; otherRoles?: readonly Role[] };
  isRefused: boolean;
}

export interface Audit {
  /** Queues the record of a call. Does not wait, and does not throw. */
  recordCall(record: CallRecord): void;
  /**
   * Queues the record of a refused request, if it came with a known key. Requests beyond the rate of the key are not
   * recorded, only logged and counted: they would displace the records of calls. Refused keys are recorded up to a
   * number per minute.
   */
  recordRefusal(record: RefusalRecord): void;
  /** Creates the record of an action of an administrator, which the store appends in the transaction of the change. */
  prepareAdminAction(action: AdminAction): AuditBatch;
  /** Queues the record of a login. Refused logins are recorded up to a number per minute. */
  recordLogin(login: Login): void;
  /** Queues the record of an action that changes nothing in the store. */
  queueAdminAction(action: AdminAction): void;
  /** Stores the record of an action that changes nothing in the store. Rejects if the store fails. */
  recordAdminAction(action: AdminAction): Promise<void>;
  /**
   * Searches records, the newest first. A page can be short although more follow. Rejects with an AuditQueryError for
   * an invalid cursor, limit or time. `scope`, here and below: the part that may be seen; default: all.
   */
  search(query: AuditQuery, scope?: AuditScope): Promise<Page<AuditView>>;
  /** The record with this number; null if there is none, or retention has removed it. */
  find(seq: number, scope?: AuditScope): Promise<AuditView | null>;
  /**
   * Yields all matching records, oldest first, up to the newest record at the start. Throws an AuditQueryError for an
   * invalid time.
   */
  export(query: Omit<AuditQuery, 'cursor' | 'limit'>, scope?: AuditScope): AsyncIterable<AuditView>;
  /**
   * Recomputes the chain. `head` is the head from an earlier result. Rejects with an AuditQueryError if its form is
   * wrong.
   */
  verify(head?: string): Promise<AuditVerification>;
  /**
   * Compares the lines of a sink with the chain. `sink`: the name of the sink, whose position is compared, too; null:
   * its position is not known.
   */
  compare(lines: AsyncIterable<string>, sink: string | null): Promise<AuditComparison>;
  /** Number of records that were not stored yet. */
  readonly waiting: number;
  /** Number of records that were lost since the start. */
  readonly lost: number;
  /** Writes all queued records. Rejects if the store fails; the records stay queued. */
  flush(): Promise<void>;
  /** Writes all queued records; gives up after some seconds if the store is unavailable. The store stays open. */
  close(): Promise<void>;
}

export function createAudit({
  store,
  leases,
  chainKey,
  clock,
  retentionMs,
  onError,
  onLost,
}: AuditOptions): Audit {
  const makeBatch = (records: AuditBatch['records']): AuditBatch => ({ id: randomUUID(), records, chainKey });
  const writer = createWriter({ store, makeBatch, onError, onLost });
  const refusals = createRefusalLimit(clock);
  const refusedLogins = createRefusalLimit(clock);
  const refusedOperations = createRefusalLimit(clock);
  const retention =
    retentionMs === null ? null : startRetention({ store, leases, clock, retentionMs, onError });

  function isToRecord({ keyId, outcome, refusedKey }: RefusalRecord): boolean {
    if (outcome === 'rate_limited') return false;
    if (keyId !== null) return true;
    return refusedKey !== null && refusals.allows(refusedKey.why === 'unknown' ? null : refusedKey.id);
  }

  function prepareAdminAction(action: AdminAction): AuditBatch {
    const at = clock();
    return makeBatch([{ at, record: printAdminAction(action, at) }]);
  }

  return {
    recordCall(record) {
      writer.push(record, clock());
    },
    recordRefusal(record) {
      if (isToRecord(record)) writer.push(toAuditedCall(record), clock());
    },
    recordLogin({ isRefused, way, grant, ...login }) {
      const limit = login.action === 'operation.refused' ? refusedOperations : refusedLogins;
      if (isRefused && !limit.allows(null)) return;
      const { role, instances, otherRoles = [] } = grant ?? { role: null, instances: null };
      const given = {
        way,
        ...(role === null ? null : { role }),
        ...(instances === null ? null : { instances }),
        ...(otherRoles.length === 0 ? null : { other_roles: otherRoles }),
      };
      const changes = Object.fromEntries(
        Object.entries(given).map(([name, to]) => [name, { from: null, to }]),
      );
      writer.push({ ...login, target: 'admin', changes }, clock());
    },
    prepareAdminAction,
    queueAdminAction: (action) => writer.push(action, clock()),
    recordAdminAction: (action) => writer.append(prepareAdminAction(action)),
    search: (query, scope) => searchRecords(store, query, scope),
    find: (seq, scope) => findRecord(store, seq, scope),
    export: (query, scope) => exportRecords(store, query, scope),
    verify: (head) => verifyChain(store, chainKey, head),
    compare: async (lines, sink) =>
      compareSink(lines, store, chainKey, sink === null ? null : await store.readSink(sink)),
    get waiting() {
      return writer.waiting;
    },
    get lost() {
      return writer.lost;
    },
    flush: writer.flush,
    async close() {
      await Promise.all([retention?.close(), writer.close()]);
    },
  };
}

/**
 * The events that become audit records. Requests refused before authentication (`requestsShed`) are not recorded,
 * because their sender is not known.
 */
export function auditEvents(audit: Pick<Audit, 'recordCall' | 'recordRefusal'>): EventHandlers {
  return {
    callEnded: (record) => audit.recordCall(record),
    requestRefused: (record) => audit.recordRefusal(record),
  };
}

const PERIOD_MS = 60_000;
/** Maximum number of records in a period for each id of a stored key. */
const KNOWN_ID_MAX = 10;
/** Maximum number of records in a period for all ids that callers may have invented. */
const UNKNOWN_IDS_MAX = 60;
const IDS_MAX = 1000;
const UNKNOWN = '';

/**
 * Limits the number of records of refused keys and logins: enough to trace a leaked key, but too few to fill the
 * store.
 */
export interface RefusalLimit {
  /** Whether one more refusal is recorded. `id` is null if the caller may have invented the id. */
  allows(id: string | null): boolean;
}

/** `clock` returns milliseconds. */
function createRefusalLimit(clock: () => number): RefusalLimit {
  const periods = new LRUCache<string, { startedAt: number; count: number }>(atMost(IDS_MAX));

  return {
    allows(id) {
      const now = clock();
      const name = id ?? UNKNOWN;
      let period = periods.get(name);
      if (period === undefined || Math.abs(now - period.startedAt) >= PERIOD_MS) {
        period = { startedAt: now, count: 0 };
        periods.set(name, period);
      }
      period.count++;
      return period.count <= (id === null ? UNKNOWN_IDS_MAX : KNOWN_ID_MAX);
    },
  };
}

const LEASE = 'audit-retention';
/** Duration of the lease. If a process dies while it holds the lease, another process prunes in its next run. */
const LEASE_MS = 60_000;
const INTERVAL_MS = 3_600_000;
/** Small, so that other operations of the store run between two batches. */
const BATCH_ROWS_MAX = 200;

export interface RetentionOptions {
  store: Pick<AuditStore, 'prune'>;
  leases: LeaseStore;
  clock: () => number;
  retentionMs: number;
  onError: (error: unknown) => void;
}

/**
 * Removes records older than the retention time, at the start and then every hour, in one process at a time. The chain
 * of the remaining records continues from the last removed row, so it still verifies.
 */
function startRetention({
  store,
  leases,
  clock,
  retentionMs,
  onError,
}: RetentionOptions): Pick<PeriodicTask, 'close'> {
  const owner = randomUUID();
  const retention = startPeriodicTask(prune, { intervalMs: INTERVAL_MS, onError });
  retention.run();
  return retention;

  async function prune(signal: AbortSignal): Promise<void> {
    await nextTurn();
    const before = clock() - retentionMs;
    while (!signal.aborted && (await leases.acquire(LEASE, owner, LEASE_MS))) {
      if ((await store.prune(before, BATCH_ROWS_MAX)) < BATCH_ROWS_MAX) break;
      await nextTurn();
    }
    await leases.release(LEASE, owner);
  }
}

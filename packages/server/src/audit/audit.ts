/**
 * The audit: one record a call and one an administrative act, chained by their hashes, kept for a set time. Knows neither
 * HTTP nor which store it is; what the records leave out is said in record.ts.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import type { AuditQuery, AuditVerdict, AuditView, Page } from '@erp-proxy/contract';
import type { CallRecord, RefusalRecord } from '../observe/events.ts';
import type { AuditBatch, AuditStore, LeaseStore } from '../stores/ports.ts';
import { exportRecords } from './export.ts';
import { type Act, asCall, printAct } from './record.ts';
import { createRefusalLimit } from './refusal-limit.ts';
import { startRetention } from './retention.ts';
import { searchRecords } from './search.ts';
import { verifyChain } from './verify.ts';
import { createWriter } from './writer.ts';

export interface AuditOptions {
  store: AuditStore;
  leases: LeaseStore;
  /** The secret without which nobody can write a chain that verifies. */
  chainKey: KeyObject;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** How long records are kept; null: for ever, or by another process. */
  retentionMs: number | null;
  /** Told of failed writes in the background; what they were to write is kept and tried again. */
  onError: (error: unknown) => void;
  /** Told at most once a second how many records could not be kept since it was last told. */
  onLost: (records: number) => void;
}

/** Of an administrator. */
export interface Login extends Pick<Act, 'actor' | 'address' | 'requestId' | 'action'> {
  isRefused: boolean;
}

export interface Audit {
  /** Queues a record of a call; never waits, never throws. */
  recordCall(record: CallRecord): void;
  /**
   * The same of a request that was refused, where it came with a known key; but not one too many for the key's limits:
   * these are for log and metrics, or they would push the calls out. Refused keys are recorded too, up to a number a minute.
   */
  recordRefusal(record: RefusalRecord): void;
  /** The act's record, to be appended by the store in the transaction of the change that it is about. */
  prepareAct(act: Act): AuditBatch;
  /** Queues a record of a login, as of a call. Refused logins are recorded up to a number a minute. */
  noteLogin(login: Login): void;
  /** For an act that changes nothing in the store. Resolves when it is there, and rejects where the store fails. */
  recordAct(act: Act): Promise<void>;
  /** Newest first; a page may be short before the end. Rejects with an AuditQueryError for a bad cursor, limit or time. */
  search(query: AuditQuery): Promise<Page<AuditView>>;
  /** All that match, oldest first, up to the newest of now. Throws an AuditQueryError for a bad time. */
  export(query: Omit<AuditQuery, 'cursor' | 'limit'>): AsyncIterable<AuditView>;
  /** Recomputes the chain. `head` is one of an earlier verdict; rejects with an AuditQueryError where it cannot be one. */
  verify(head?: string): Promise<AuditVerdict>;
  /** Records that are not in the store yet. */
  readonly waiting: number;
  /** Records that will never be, since the start. */
  readonly lost: number;
  /** Writes what waits; rejects where the store fails, which loses nothing. */
  flush(): Promise<void>;
  /** Writes what waits, and gives up after some seconds where the store is away; the store stays open. */
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
  const retention =
    retentionMs === null ? null : startRetention({ store, leases, clock, retentionMs, onError });

  function isToRecord({ keyId, outcome, refusedKey }: RefusalRecord): boolean {
    if (outcome === 'rate_limited') return false;
    if (keyId !== null) return true;
    return refusedKey !== null && refusals.allows(refusedKey.why === 'unknown' ? null : refusedKey.id);
  }

  function prepareAct(act: Act): AuditBatch {
    const at = clock();
    return makeBatch([{ at, record: printAct(act, at) }]);
  }

  return {
    recordCall(record) {
      writer.push(record, clock());
    },
    recordRefusal(record) {
      if (isToRecord(record)) writer.push(asCall(record), clock());
    },
    noteLogin({ isRefused, ...login }) {
      if (isRefused && !refusedLogins.allows(null)) return;
      writer.push({ ...login, target: 'admin', changes: {} }, clock());
    },
    prepareAct,
    recordAct: (act) => writer.append(prepareAct(act)),
    search: (query) => searchRecords(store, query),
    export: (query) => exportRecords(store, query),
    verify: (head) => verifyChain(store, chainKey, head),
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

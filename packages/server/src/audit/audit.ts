/**
 * The audit: one record a call and one an administrative act, chained by their hashes, kept for a set time. Knows neither
 * HTTP nor which store it is; what the records leave out is said in record.ts.
 */
import type { AuditQuery, AuditVerdict, AuditView, Page } from '@erp-proxy/contract';
import type { CallRecord, RefusalRecord } from '../observe/events.ts';
import type { AuditStore, LeaseStore } from '../stores/ports.ts';
import { createRowHash } from './chain.ts';
import { exportRecords } from './export.ts';
import { type Act, asCall, printAct } from './record.ts';
import { startRetention } from './retention.ts';
import { searchRecords } from './search.ts';
import { verifyChain } from './verify.ts';
import { createWriter } from './writer.ts';

export interface AuditOptions {
  store: AuditStore;
  leases: LeaseStore;
  /** The secret without which nobody can write a chain that verifies. */
  chainKey: Uint8Array;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** How long records are kept; null: for ever, or by another process. */
  retentionMs: number | null;
  /** Told of failed writes in the background; what they were to write is kept and tried again. */
  onError: (error: unknown) => void;
  /** Told at most once a second how many records could not be kept since it was last told. */
  onLost: (records: number) => void;
}

export interface Audit {
  /** Queues a record of a call; never waits, never throws. */
  recordCall(record: CallRecord): void;
  /**
   * The same of a request that was refused, where it came with a known key; but not one too many for the key's limits:
   * these, and those without a key, are for log and metrics, or they would push the calls out.
   */
  recordRefusal(record: RefusalRecord): void;
  /** Resolves when the act is in the store, and rejects where the store fails. */
  recordAct(act: Act): Promise<void>;
  /** Newest first; a page may be short before the end. Rejects with an AuditQueryFault for a bad cursor, limit or time. */
  search(query: AuditQuery): Promise<Page<AuditView>>;
  /** All that match, oldest first, up to the newest of now. Throws an AuditQueryFault for a bad time. */
  export(query: Omit<AuditQuery, 'cursor' | 'limit'>): AsyncIterable<AuditView>;
  /** Recomputes the chain. `head` is one of an earlier verdict; rejects with an AuditQueryFault where it cannot be one. */
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
  const hashRow = createRowHash(chainKey);
  const writer = createWriter({ store, hashRow, onError, onLost });
  const retention =
    retentionMs === null ? null : startRetention({ store, leases, clock, retentionMs, onError });

  return {
    recordCall(record) {
      writer.push(record, clock());
    },
    recordRefusal(record) {
      if (record.keyId !== null && record.outcome !== 'rate_limited') writer.push(asCall(record), clock());
    },
    recordAct(act) {
      const at = clock();
      return writer.append({ at, record: printAct(act, at) });
    },
    search: (query) => searchRecords(store, query),
    export: (query) => exportRecords(store, query),
    verify: (head) => verifyChain(store, hashRow, head),
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

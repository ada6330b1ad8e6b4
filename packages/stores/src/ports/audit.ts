/** The audit: a chain of records. Part of the interface of a store (store.ts). */
import type { KeyObject } from 'node:crypto';

/** One row of the audit. */
export interface AuditRow {
  /** Starts at 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970, as in the record. */
  readonly at: number;
  /** JSON text. Only audit/ knows its shape, except for the members in {@link AuditFilters}. */
  readonly record: string;
  /** 32 bytes: covers the hash of the row before, `seq` and `record`. */
  readonly hash: Uint8Array;
}

/** Records to append to the audit. */
export interface AuditBatch {
  /** Unique. A store appends the batch once, however often this process passes it. */
  readonly id: string;
  readonly records: readonly Pick<AuditRow, 'at' | 'record'>[];
  /** Secret of the hash chain: see audit-chain.ts. */
  readonly chainKey: KeyObject;
}

/** Members of a record that a search can compare, all but `actor` at its top level. */
export interface AuditFilters {
  kind?: string | undefined;
  key_id?: string | undefined;
  client_id?: string | undefined;
  approval?: string | undefined;
  via?: string | undefined;
  instance?: string | undefined;
  model?: string | undefined;
  action?: string | undefined;
  outcome?: string | undefined;
  /** The id of the actor, who is an object with this member; in older records, the actor is its id. */
  actor?: string | undefined;
  request_id?: string | undefined;
  trace_id?: string | undefined;
  address?: string | undefined;
  upstream?: string | undefined;
  db?: string | undefined;
  rule?: string | undefined;
  code?: number | undefined;
  http_status?: number | undefined;
}

export interface AuditSearch {
  /** Only rows before this number; null: begins with the newest row. */
  beforeSeq: number | null;
  since?: number | undefined;
  until?: number | undefined;
  filters: AuditFilters;
  /** Only records with a member `outcome` whose value is none of these. Has at least one value. */
  exceptOutcomes?: readonly string[] | undefined;
  limit: number;
  /** Maximum number of rows that the search reads, which limits its time. */
  scanMax: number;
}

/** A position in the chain: number and hash of a row. */
export interface AuditPosition {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export interface AuditStore {
  /**
   * Appends the records in order, in one transaction. Processes append one at a time. After a failure the outcome may
   * be unknown: pass the same batch again.
   */
  append(batch: AuditBatch): Promise<void>;
  /** Rows after this number, oldest first. */
  readAfter(seq: number, limit: number): Promise<AuditRow[]>;
  /**
   * The newest matching rows, newest first. `next`: `beforeSeq` of the next page; null at the end. A record that is not
   * JSON matches no filter.
   */
  search(search: AuditSearch): Promise<{ rows: AuditRow[]; next: number | null }>;
  /**
   * The last row ever appended, even if retention has removed it; `seq` 0 and zero bytes if there was none. Null: the
   * row with this information is missing. Nothing can then be appended or pruned.
   */
  readHead(): Promise<AuditPosition | null>;
  /** The last row that retention removed; `seq` 0 and zero bytes if there was none. Null: as in `readHead`. */
  readFloor(): Promise<AuditPosition | null>;
  /**
   * Removes rows from the oldest on, at most `limit`, up to the first that is not before this time. Returns the number
   * of removed rows.
   */
  prune(before: number, limit: number): Promise<number>;
  /** The last row that the sink of this name has taken; null: none. */
  readSink(name: string): Promise<AuditPosition | null>;
  /**
   * Stores the last row that a sink has taken. `from`: the number of the one before, as `readSink` returned it. False:
   * another process has stored another one since, and nothing is changed.
   */
  moveSink(name: string, from: number | null, to: AuditPosition): Promise<boolean>;
}

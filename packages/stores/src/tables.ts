/**
 * A store as tables, to copy all of it into another engine. A table of a new part of the store is copied without
 * further work if both engines have it with the same columns, which a test proves. Knows no driver.
 */

/** Whole numbers for times (milliseconds since 1970) and for true and false (1 and 0), whatever the engine stores. */
export type Cell = string | number | Uint8Array | null;
/** The cells in the order of the columns. */
export type Row = readonly Cell[];

export interface TableShape {
  readonly name: string;
  /** Names in alphabetical order. */
  readonly columns: readonly string[];
}

export interface StoreTables {
  /** Name for operators, as `Store.label`. */
  readonly label: string;
  /** The tables in alphabetical order, without those of {@link NOT_COPIED}. */
  list(): Promise<readonly TableShape[]>;
  /** The rows in the order of the primary key, in batches. All tables are read as of one moment. */
  read(table: TableShape): AsyncIterable<readonly Row[]>;
  /** Reads newer rows from now on. Must not be called after a change, which it would undo. */
  renew(): Promise<void>;
  /** Removes all rows, in the same transaction as `insert`. */
  clear(table: TableShape): Promise<void>;
  /** Other connections see the rows only after `commit`. */
  insert(table: TableShape, rows: readonly Row[]): Promise<void>;
  commit(): Promise<void>;
  /** Undoes what was not committed. */
  close(): Promise<void>;
}

/** All other tables are copied. */
export const NOT_COPIED: ReadonlySet<string> = new Set([
  // Each engine counts its own migration steps.
  'migrations',
  'erp_proxy_migrations',
  // Leases belong to processes of the old store.
  'leases',
  // SQLite fills these tables by triggers.
  'changes',
  'audit_hours',
]);

/** Number of rows that are read and inserted at once. An answer of an idempotency key can have 16 MiB. */
export const ROWS_AT_ONCE = 50;

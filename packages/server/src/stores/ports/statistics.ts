/** Counts of calls over time. Part of the interface of a store (store.ts). */

/** Counts of the calls of one process in one period. */
export interface StatisticsRow {
  readonly step: 'minute' | 'hour';
  /** Milliseconds since 1970. */
  readonly startsAt: number;
  readonly process: string;
  /** JSON text. Only statistics/ knows its shape. */
  readonly body: string;
}

export interface StatisticsQuery {
  step: StatisticsRow['step'];
  /** Periods that start in this range; `until` is excluded. */
  since: number;
  until: number;
  /** The last row of the page before; null: from the first. */
  after: Pick<StatisticsRow, 'startsAt' | 'process'> | null;
  limit: number;
}

export interface StatisticsStore {
  /** Stores the rows. A row replaces that of the same step, start and process. */
  put(rows: readonly StatisticsRow[]): Promise<void>;
  /** At most `limit` rows, ordered by start, rows of one start by the code points of their processes. */
  list(query: StatisticsQuery): Promise<StatisticsRow[]>;
  /** Removes rows of this step that start before this time, at most `limit`. Returns their number. */
  prune(step: StatisticsRow['step'], before: number, limit: number): Promise<number>;
}

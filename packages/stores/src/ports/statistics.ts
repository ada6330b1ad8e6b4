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
  /** Only periods that start at or after `since` and before `until`. */
  since: number;
  until: number;
  /** The last row of the page before; null: begins with the first. */
  after: Pick<StatisticsRow, 'startsAt' | 'process'> | null;
  limit: number;
}

export interface StatisticsStore {
  /** Stores the rows. A row replaces the stored row of the same step, start and process. */
  put(rows: readonly StatisticsRow[]): Promise<void>;
  /** At most `limit` rows, ordered by start, then by the code points of the process. */
  list(query: StatisticsQuery): Promise<StatisticsRow[]>;
  /** Removes at most `limit` rows of this step that start before this time. Returns their number. */
  prune(step: StatisticsRow['step'], before: number, limit: number): Promise<number>;
}

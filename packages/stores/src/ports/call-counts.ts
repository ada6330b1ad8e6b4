/** Calls of each client in each day and month. Part of the interface of a store (store.ts). */

/** Calls of a client in one day or calendar month (UTC). */
export interface CallCount {
  /** Such as `2026-11` or `2026-11-28`. */
  readonly period: string;
  readonly clientId: string;
  readonly calls: number;
}

export interface CallCountStore {
  /**
   * Adds calls to the counts, and returns the sums. A client appears once for each period. Removes the counts of more
   * than a year before the newest given period, and of the days of its month that are older than the day before.
   */
  add(counts: readonly CallCount[]): Promise<CallCount[]>;
  /** 0 if there were no calls. */
  read(period: string, clientId: string): Promise<number>;
}

/** Calls of each client in each month. Part of the interface of a store (store.ts). */

/** Calls of a client in one calendar month (UTC). */
export interface CallCount {
  /** Such as `2026-11`. */
  readonly month: string;
  readonly clientId: string;
  readonly calls: number;
}

export interface CallCountStore {
  /**
   * Adds calls to the counts, and returns the sums. A client appears once for each month. Counts of more than a year
   * before the newest given month are removed.
   */
  add(counts: readonly CallCount[]): Promise<CallCount[]>;
  /** 0 if there were no calls. */
  read(month: string, clientId: string): Promise<number>;
}

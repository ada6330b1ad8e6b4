/** Leases for work that only one process at a time may do. Part of the interface of a store (store.ts). */

/** Leases for work that only one process at a time may do. */
export interface LeaseStore {
  /**
   * True if the lease was free, expired or already this owner's: the owner has it for `ttlMs` from now. Removes expired
   * leases of others. `latestMs`: a lease that ends more than this time from now counts as expired. Null: no such
   * limit.
   */
  acquire(name: string, owner: string, ttlMs: number, latestMs?: number | null): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
}

/**
 * Limits the retries for each database to a tenth of its calls, and a few more, so that retries do not multiply the
 * load of an outage. Each database has a token bucket, initially full.
 */

/** Capacity of the bucket: number of retries that are allowed before calls have added any. */
export const RETRIES_FLOOR = 10;
/** Number of retries that each call adds. */
const SHARE = 0.1;
/** Number of retries that each second adds, so that a database with few calls has a full bucket after 100 s. */
const PER_SECOND = 0.1;
/** Tolerance for inexact sums: ten calls must add one whole retry. */
const SLACK = 1e-6;
/** If more databases are stored, those with a full bucket are removed, which does not change their limits. */
const SWEEP_MIN = 1_000;

export class RetryBudget {
  readonly #used = new Map<string, { retries: number; atMs: number }>();
  readonly #nowMs: () => number;
  #sweepAt = SWEEP_MIN;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Number of stored databases. */
  get size(): number {
    return this.#used.size;
  }

  /** Must be called when a call is sent for the first time. Adds its part of a retry. */
  earn(database: string): void {
    if (this.#used.has(database)) this.#keep(database, this.#readUsed(database) - SHARE);
  }

  /** Takes a retry. Returns false if none is left. */
  take(database: string): boolean {
    const after = this.#readUsed(database) + 1;
    if (after > RETRIES_FLOOR + SLACK) return false;
    this.#keep(database, after);
    return true;
  }

  #readUsed(database: string): number {
    const used = this.#used.get(database);
    if (used === undefined) return 0;
    return Math.max(0, used.retries - ((this.#nowMs() - used.atMs) / 1000) * PER_SECOND);
  }

  #keep(database: string, retries: number): void {
    if (retries <= 0) {
      this.#used.delete(database);
      return;
    }
    this.#used.set(database, { retries, atMs: this.#nowMs() });
    if (this.#used.size < this.#sweepAt) return;
    for (const known of this.#used.keys()) if (this.#readUsed(known) === 0) this.#used.delete(known);
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#used.size);
  }
}

/**
 * How often calls to a database may be sent again: a tenth of its calls, and a few more, so that an outage is not multiplied.
 * A token bucket for each database; full at first. Knows neither HTTP nor Odoo, nor why a call would be sent again.
 */

/** Retries that a database has before its calls have earned any. */
export const RETRIES_FLOOR = 10;
/** What each call adds. */
const SHARE = 0.1;
/** What each second adds: a database with few calls has its floor again after 100 s. */
const PER_SECOND = 0.1;
/** Ten calls earn one retry, although ten tenths are not quite one. */
const SLACK = 1e-6;
/** Beyond so many databases those whose bucket is full again are forgotten, which changes nothing for them. */
const SWEEP_MIN = 1_000;

export class RetryBudget {
  readonly #used = new Map<string, { retries: number; atMs: number }>();
  readonly #nowMs: () => number;
  #sweepAt = SWEEP_MIN;

  /** A clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Databases that are remembered. */
  get size(): number {
    return this.#used.size;
  }

  /** A call is sent for the first time. */
  earn(database: string): void {
    if (this.#used.has(database)) this.#keep(database, this.#readUsed(database) - SHARE);
  }

  /** Whether a call may be sent again; takes the retry where it may. */
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

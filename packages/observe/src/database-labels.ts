/**
 * Decides which upstream databases get their own labels in the metrics. Callers can make up any number of databases, so
 * a database must earn its label: by a successful call, or because it belongs to a stored instance. Other databases are
 * shown while they have calls or their circuit breaker is not closed, up to a maximum number. Databases beyond that
 * share one series.
 */

/** Maximum number of databases that keep their label for ever. */
const EARNED_MAX = 100;
/** Maximum number of other databases shown at a time. */
const UNPROVEN_MAX = 20;
/** Time without being shown after which a database frees its place. This limits new labels to UNPROVEN_MAX per hour. */
const UNPROVEN_TTL_MS = 3_600_000;

export interface DatabaseLabel {
  /** Base address of the server. */
  upstream: string;
  db: string;
}

const OTHER: DatabaseLabel = { upstream: 'other', db: 'other' };

export class DatabaseLabels {
  readonly #now: () => number;
  readonly #earned = new Set<string>();
  /** For each database, the time at which it was last shown, in milliseconds since 1970. */
  readonly #unproven = new Map<string, number>();

  /** `now`: milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  earn(database: string): void {
    if (this.#earned.has(database) || this.#earned.size >= EARNED_MAX) return;
    this.#earned.add(database);
    this.#unproven.delete(database);
  }

  /** The label of a database; null: the database is not shown. */
  find(state: DatabaseMetrics): DatabaseLabel | null {
    const [upstream, db] = withoutTrust(state.database);
    const database = `${upstream} ${db}`;
    if (this.#earned.has(database)) return { upstream, db };
    if (state.running === 0 && state.waiting === 0 && state.breaker === 'closed') return null;
    return this.#takePlace(database) ? { upstream, db } : OTHER;
  }

  #takePlace(database: string): boolean {
    const now = this.#now();
    if (!this.#unproven.has(database)) this.#freeOldPlaces(now);
    if (!this.#unproven.has(database) && this.#unproven.size >= UNPROVEN_MAX) return false;
    this.#unproven.set(database, now);
    return true;
  }

  #freeOldPlaces(now: number): void {
    for (const [database, shownAt] of this.#unproven)
      if (now - shownAt >= UNPROVEN_TTL_MS) this.#unproven.delete(database);
  }
}

/** Base address and database name, without the part between them that identifies the trusted certificates. */
function withoutTrust(database: string): [upstream: string, db: string] {
  const parts = database.split(' ');
  return [parts[0] as string, parts.at(-1) as string];
}

/** The state of one upstream database at a scrape. */
export interface DatabaseMetrics {
  database: string;
  running: number;
  waiting: number;
  backgroundRunning: number;
  backgroundWaiting: number;
  /** Current concurrency limit. */
  limit: number;
  breaker: 'closed' | 'open' | 'half_open';
}

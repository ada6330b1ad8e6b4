/**
 * Which upstream databases the metrics name. Callers can make up any number of databases, so a name is earned: by a call
 * that worked, or by being a stored instance's. A database that has earned none yet is named while it has calls or is left
 * alone, if there is room; all that have no room are one series.
 */
import type { DatabaseMetrics } from './metrics.ts';

/** Databases that earn a name for good. */
const EARNED_MAX = 100;
/** Others that are named at a time. */
const UNPROVEN_MAX = 20;
/** The name of one goes to another when it was not shown for so long: so many new names an hour at most. */
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
  /** When each was shown last. */
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

  /** Null: it is not shown. */
  find(state: DatabaseMetrics): DatabaseLabel | null {
    const [upstream, db] = withoutTrust(state.database);
    const database = `${upstream} ${db}`;
    if (this.#earned.has(database)) return { upstream, db };
    if (state.running === 0 && state.waiting === 0 && state.breaker === 'closed') return null;
    return this.#takeRoom(database) ? { upstream, db } : OTHER;
  }

  #takeRoom(database: string): boolean {
    const now = this.#now();
    if (!this.#unproven.has(database)) this.#forgetOld(now);
    if (!this.#unproven.has(database) && this.#unproven.size >= UNPROVEN_MAX) return false;
    this.#unproven.set(database, now);
    return true;
  }

  #forgetOld(now: number): void {
    for (const [database, shownAt] of this.#unproven)
      if (now - shownAt >= UNPROVEN_TTL_MS) this.#unproven.delete(database);
  }
}

/** Address and name, without the part between them that says by what trust the database is reached. */
function withoutTrust(database: string): [upstream: string, db: string] {
  const parts = database.split(' ');
  return [parts[0] as string, parts.at(-1) as string];
}

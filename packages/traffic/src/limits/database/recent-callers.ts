/**
 * Tells whether a client other than a given one called a database recently. Stores only the two clients that called
 * last.
 */

/** Milliseconds for which a client counts as active after its call. */
export const RECENT_MS = 10_000;

interface Caller {
  client: string;
  calledMs: number;
}

export class RecentCallers {
  #last: Caller | null = null;
  /** The last call of a client other than `#last`. */
  #other: Caller | null = null;

  add(client: string, nowMs: number): void {
    if (this.#last?.client !== client) {
      this.#other = this.#last;
      this.#last = { client, calledMs: nowMs };
    } else this.#last.calledMs = nowMs;
  }

  /** Whether any client called recently. */
  hasAny(nowMs: number): boolean {
    return this.#last !== null && nowMs - this.#last.calledMs < RECENT_MS;
  }

  hasOther(client: string, nowMs: number): boolean {
    const other = this.#last?.client === client ? this.#other : this.#last;
    return other !== null && nowMs - other.calledMs < RECENT_MS;
  }
}

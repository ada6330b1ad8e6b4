/** Whether a database was called lately by anyone beside one client. Remembers the two clients that called last. */

/** For so long a client counts as one that calls. */
export const LATELY_MS = 10_000;

interface Caller {
  client: string;
  calledMs: number;
}

export class RecentCallers {
  #last: Caller | null = null;
  /** The last one beside it. */
  #other: Caller | null = null;

  note(client: string, nowMs: number): void {
    if (this.#last?.client !== client) {
      this.#other = this.#last;
      this.#last = { client, calledMs: nowMs };
    } else this.#last.calledMs = nowMs;
  }

  hasOther(client: string, nowMs: number): boolean {
    const other = this.#last?.client === client ? this.#other : this.#last;
    return other !== null && nowMs - other.calledMs < LATELY_MS;
  }
}

/**
 * Bounds the memory of request bodies: a large body is read only when there is room for it. Bodies get room in the
 * order of their requests. Small bodies need no room.
 */
import { waitFor } from '@erp-proxy/async/tasks';

/** Maximum time for which a body waits for room. */
const WAIT_MS = 10_000;

interface Waiting {
  bytes: number;
  give: (isGiven: true) => void;
}

export class BodyBudget {
  readonly #bytesMax: number;
  #takenBytes = 0;
  readonly #waiting: Waiting[] = [];

  /** Every single body must fit into `bytesMax`. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** Resolves to false if there is no room in time, or if the signal aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#takenBytes += bytes;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<true>();
    const waiting: Waiting = { bytes, give: resolve };
    this.#waiting.push(waiting);
    const given = await waitFor(promise, { signal, timeoutMs: WAIT_MS });
    if (given === true) return true;
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.#giveRoom();
    } else this.giveBack(bytes); // The room was given in the same turn, after the wait ended.
    return false;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
    this.#giveRoom();
  }

  #hasRoom(bytes: number): boolean {
    return this.#takenBytes + bytes <= this.#bytesMax;
  }

  #giveRoom(): void {
    for (
      let [next] = this.#waiting;
      next !== undefined && this.#hasRoom(next.bytes);
      [next] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#takenBytes += next.bytes;
      next.give(true);
    }
  }
}

/** The room that one body has taken. */
export class BodyRoom {
  readonly #budget: BodyBudget;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Call it once. Resolves to false if there is no room in time, if the signal aborts, or after `release`. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#budget.take(bytes, signal))) return false;
    this.#bytes = bytes;
    if (this.#isReleased) this.#giveBack();
    return !this.#isReleased;
  }

  release(): void {
    this.#isReleased = true;
    this.#giveBack();
  }

  #giveBack(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (bytes > 0) this.#budget.giveBack(bytes);
  }
}

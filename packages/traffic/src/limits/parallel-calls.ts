/**
 * Bounds the calls that requests for many databases make beside each other: of one request, and of all of them in this
 * process, which wait in their order. A database that answers slowly does not hold the others up: after a tenth of a
 * second, its call no longer takes one of the places of its request.
 */

/** Calls of one request at once. */
const PLACES = 16;
/** The part of the process's calls that one request may take, with its slow ones. */
const REQUEST_SHARE = 0.5;
/** With a second, an answer of 200 instances took 60 % longer than the slowest of them (docs/fleet.md#speed). */
const SLOW_MS = 100;

export interface ParallelOptions {
  /** Maximum number of calls at once, slow or not, as the caller asks for it; null: as many as there are places. */
  asked: number | null;
  /** Maximum number of calls at once that the key allows. */
  allowed: number;
  /** Once it is aborted, nothing waits any more: `work` is called for all items that are left. */
  signal: AbortSignal;
}

export class ParallelCalls {
  readonly #max: number;
  #running = 0;
  /** Those that wait for a place in the process, the longest wait first. */
  readonly #waiting = new Set<() => void>();

  /** `max`: maximum number of calls at once, of all requests in this process. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Number of calls that run at present. */
  get running(): number {
    return this.#running;
  }

  /** Maximum number of calls of one request at once. */
  get requestMax(): number {
    return Math.max(1, Math.floor(this.#max * REQUEST_SHARE));
  }

  /** Runs `work`, which never rejects, for each item. Resolves when the last one has ended. */
  async run<Item>(
    items: readonly Item[],
    { asked, allowed, signal }: ParallelOptions,
    work: (item: Item) => Promise<void>,
  ): Promise<void> {
    const max = Math.min(asked ?? allowed, allowed, this.requestMax);
    const places = new Places(Math.min(asked ?? PLACES, max), max, signal);
    const works: Promise<void>[] = [];
    for (const item of items) {
      await places.waitForRoom();
      await this.#waitForTurn(signal);
      works.push(places.run(() => work(item)).finally(() => this.#end()));
    }
    await Promise.all(works);
  }

  async #waitForTurn(signal: AbortSignal): Promise<void> {
    const isFree = this.#running < this.#max && this.#waiting.size === 0;
    if (isFree || signal.aborted) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve) => {
      const go = () => {
        this.#waiting.delete(go);
        signal.removeEventListener('abort', go);
        this.#running++;
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', go);
    });
  }

  #end(): void {
    this.#running--;
    const [next] = this.#waiting;
    if (this.#running < this.#max) next?.();
  }
}

/** The places of one request. Only one caller waits for room at a time. */
class Places {
  readonly #places: number;
  readonly #max: number;
  readonly #signal: AbortSignal;
  #running = 0;
  #slow = 0;
  #onRoom = () => {};

  constructor(places: number, max: number, signal: AbortSignal) {
    this.#places = places;
    this.#max = max;
    this.#signal = signal;
  }

  async waitForRoom(): Promise<void> {
    while (!this.#hasRoom()) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
        this.#signal.addEventListener('abort', this.#endWait);
      });
      this.#signal.removeEventListener('abort', this.#endWait);
    }
  }

  readonly #endWait = (): void => this.#onRoom();

  #hasRoom(): boolean {
    if (this.#signal.aborted) return true;
    return this.#running < this.#max && this.#running - this.#slow < this.#places;
  }

  async run(work: () => Promise<void>): Promise<void> {
    this.#running++;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#slow++;
      this.#onRoom();
    }, SLOW_MS);
    await work();
    clearTimeout(timer);
    this.#running--;
    if (isSlow) this.#slow--;
    this.#onRoom();
  }
}

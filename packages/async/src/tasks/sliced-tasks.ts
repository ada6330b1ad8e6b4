/**
 * Runs short synchronous tasks. Those for which a turn of the event loop has no time left run in later turns, in order,
 * so that many tasks at once do not keep other work waiting.
 */
/** Time of a turn for tasks. */
const SLICE_MS = 5;

export class SlicedTasks {
  readonly #nowMs: () => number;
  readonly #waiting: (() => void)[] = [];
  /** Time that tasks took in this turn. */
  #usedMs = 0;
  #isTurnWatched = false;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether a task would run at once. */
  get #hasTime(): boolean {
    return this.#waiting.length === 0 && this.#usedMs < SLICE_MS;
  }

  /** Runs the task: at once if there is time. */
  async run<Result>(task: () => Result): Promise<Result> {
    this.#watchTurn();
    if (this.#hasTime) return this.#measure(task);
    return await new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#measure(task));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #measure<Result>(task: () => Result): Result {
    const startedMs = this.#nowMs();
    try {
      return task();
    } finally {
      this.#usedMs += this.#nowMs() - startedMs;
    }
  }

  /** The time of a turn ends with it. */
  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    setImmediate(() => {
      this.#isTurnWatched = false;
      this.#usedMs = 0;
      this.#runWaiting();
    });
  }

  #runWaiting(): void {
    let started = 0;
    while (started < this.#waiting.length && this.#usedMs < SLICE_MS) this.#waiting[started++]?.();
    if (started === 0) return;
    this.#waiting.splice(0, started);
    this.#watchTurn();
  }
}

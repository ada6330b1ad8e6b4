/** Runs tasks one after another, in the order in which they were given. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves and rejects as the task does. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }
}

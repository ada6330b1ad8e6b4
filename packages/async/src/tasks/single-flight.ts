/**
 * Runs a task once at a time for each key: callers that come while it runs share its result. It keeps no results;
 * single-flight-cache.ts does.
 */

/** A task that runs. */
export interface Flight {
  /** True if the key was forgotten since the task began: its result may be out of date. */
  readonly isForgotten: boolean;
}

export class SingleFlight<Value> {
  readonly #flights = new Map<string, { isForgotten: boolean; result: Promise<Value> }>();

  /** The result of the task that runs for this key; undefined if none does. */
  get(key: string): Promise<Value> | undefined {
    return this.#flights.get(key)?.result;
  }

  /** The result of the task that runs for this key, or of `start`, which begins one. */
  run(key: string, start: (flight: Flight) => Promise<Value>): Promise<Value> {
    const running = this.get(key);
    if (running !== undefined) return running;
    const flight = { isForgotten: false };
    const result = start(flight).finally(() => {
      if (!flight.isForgotten) this.#flights.delete(key);
    });
    this.#flights.set(key, Object.assign(flight, { result }));
    return result;
  }

  /** Later callers start a new task. Those that wait for the present one still get its result. */
  forget(key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    flight.isForgotten = true;
    this.#flights.delete(key);
  }

  forgetAll(): void {
    for (const key of this.#flights.keys()) this.forget(key);
  }
}

/** Runs a task in the background at intervals, never twice at once. */

export interface PeriodicTask {
  /** Runs the task now, unless it is running. */
  run(): void;
  /** Aborts the signal of the task. Resolves when the task has ended. */
  close(): Promise<void>;
}

export interface PeriodicTaskOptions {
  intervalMs: number;
  onError: (error: unknown) => void;
}

/** The first run is after `intervalMs`. The timer does not keep the process alive. */
export function startPeriodicTask(
  task: (signal: AbortSignal) => Promise<void>,
  { intervalMs, onError }: PeriodicTaskOptions,
): PeriodicTask {
  const closing = new AbortController();
  let running: Promise<void> | null = null;

  function run(): void {
    running ??= task(closing.signal)
      .catch(onError)
      .finally(() => {
        running = null;
      });
  }

  const timer = setInterval(run, intervalMs).unref();
  return {
    run,
    async close() {
      closing.abort();
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Waits that end early, on an abort signal or after a time limit. They then resolve, and leave neither a timer nor a
 * listener behind. The awaited work continues.
 */
import { clearImmediate, setImmediate } from 'node:timers';

/** The signal was aborted before the promise settled. */
export const ABORTED = Symbol('aborted');
/** The promise did not settle in time. */
export const TIMED_OUT = Symbol('timed out');

interface WaitLimits {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/**
 * The value of the promise, or why the wait ended early. Rejects if the promise does; a later rejection is ignored.
 * A promise that never settles holds a few bytes for each wait that ended early.
 */
export function waitFor<Value>(
  promise: Promise<Value>,
  limits: { signal: AbortSignal; timeoutMs?: undefined },
): Promise<Value | typeof ABORTED>;
export function waitFor<Value>(
  promise: Promise<Value>,
  limits: { signal?: undefined; timeoutMs: number },
): Promise<Value | typeof TIMED_OUT>;
export function waitFor<Value>(
  promise: Promise<Value>,
  limits: { signal: AbortSignal; timeoutMs: number },
): Promise<Value | typeof ABORTED | typeof TIMED_OUT>;
export function waitFor<Value>(
  promise: Promise<Value>,
  { signal, timeoutMs }: WaitLimits,
): Promise<Value | typeof ABORTED | typeof TIMED_OUT> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let lastChance: NodeJS.Immediate | undefined;
    const stop = () => {
      clearTimeout(timer);
      clearImmediate(lastChance);
      signal?.removeEventListener('abort', abort);
    };
    const end = <Outcome>(settle: (outcome: Outcome) => void, outcome: Outcome) => {
      stop();
      settle(outcome);
    };
    const abort = () => end(resolve, ABORTED);
    const timeOut = () => end(resolve, TIMED_OUT);
    promise.then(
      (value) => end(resolve, value),
      (error: unknown) => end(reject, error),
    );
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    if (timeoutMs === undefined) return;
    timer = setTimeout(() => {
      // If this process was busy, the answer may have arrived unread. Sockets are read before setImmediate runs.
      lastChance = setImmediate(timeOut);
    }, timeoutMs);
  });
}

/** Resolves after `ms` milliseconds, or as soon as one of the signals is aborted. */
export function delay(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some(({ aborted }) => aborted)) return resolve();
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end);
  });
}

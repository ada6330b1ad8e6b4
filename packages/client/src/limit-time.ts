/** Runs something until its time is over or its signal aborts, and leaves no timer and no listener behind. */
import { ErpProxyError } from './errors.ts';

/** The reason of an abort because the time is over. */
export const TIME_OVER: unique symbol = Symbol('time over');

/** The longest time that a timer can have. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Checks an option `timeout`: milliseconds above 0. */
export function readTimeout(ms: number | undefined): number | undefined {
  // JavaScript also allows texts, which are added to a time as texts.
  if (ms !== undefined && !(typeof ms === 'number' && ms > 0))
    throw new ErpProxyError('usage', 'The option "timeout" must be a number of milliseconds above 0.');
  return ms;
}

export async function limitTime<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const passOn = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(TIME_OVER), Math.min(Math.max(ms, 0), TIMER_MS_MAX));
  signal?.addEventListener('abort', passOn);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', passOn);
  }
}

/** Waits, or rejects with the reason of the signal. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const ended = (over: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      over.onabort = () => (over.reason === TIME_OVER ? resolve() : reject(over.reason));
    });
  return limitTime(ms, signal, ended);
}

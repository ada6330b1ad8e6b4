/**
 * Time limits: reads the option, and runs a function until the time is over or a signal aborts. Leaves no timer and no
 * listener behind.
 */
import { refuse } from './errors.ts';

/** The abort reason when the time is over. */
export const TIME_OVER: unique symbol = Symbol('time over');

/** Reads the option `timeout` of a call, or else of its client: milliseconds above 0. */
export function readTimeout(
  call: { timeout?: number | undefined },
  client: { timeout?: number | undefined },
): number | undefined {
  const { timeout = client.timeout } = call;
  // A text, which JavaScript allows, would be appended to a time instead of added.
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    throw refuse('`timeout` must be a number of milliseconds above 0.');
  return timeout;
}

export async function limitTime<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const passOn = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(TIME_OVER), Math.max(ms, 0));
  signal?.addEventListener('abort', passOn);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', passOn);
  }
}

/** Waits, or rejects with the signal's abort reason. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const ended = (over: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      over.onabort = () => (over.reason === TIME_OVER ? resolve() : reject(over.reason));
    });
  return limitTime(ms, signal, ended);
}

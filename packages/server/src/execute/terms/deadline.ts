/**
 * The one signal of a request that ends its upstream work: when its time is over, when the caller leaves, or when the
 * grace time of a shutdown is over. It knows why, so that the answer can say it.
 */

export type EndReason = 'timeout' | 'caller_left' | 'shutdown';

export interface Deadline {
  /** Its `reason` is an `EndReason` once it has ended. */
  readonly signal: AbortSignal;
  /** Why it ended; null while running. */
  readonly reason: EndReason | null;
  end(reason: EndReason): void;
  /** Starts the clock anew: `timeoutMs` from now to the last byte. */
  startClock(timeoutMs: number): void;
  /** Stops the clock; to be called once the answer has left. */
  clear(): void;
}

/** Time for the answers that are still to leave after the end: errors, mostly. */
const LEAVING_MS = 2000;

/**
 * A deadline whose clock does not run yet: the time that a client takes to send its body is not the call's. `cutOff` is
 * called where the answer has not left some time after the end: its caller does not take it.
 */
export function createDeadline(cutOff?: () => void): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: EndReason) => {
    if (signal.aborted) return;
    clearTimeout(timer);
    if (cutOff !== undefined) timer = setTimeout(cutOff, LEAVING_MS);
    controller.abort(reason);
  };
  return {
    signal,
    get reason() {
      return signal.aborted ? signal.reason : null;
    },
    end,
    startClock(timeoutMs) {
      if (signal.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(end, timeoutMs, 'timeout');
    },
    clear: () => clearTimeout(timer),
  };
}

/** The longest that a call may be given (docs/execute.md#headers). */
const TIMEOUT_MS_MAX = 300_000;

/** The time that a caller asks for the whole call: null where it is absent, 0 or no whole number; at most 300 s. */
export function readTimeoutMs(header: string | undefined): number | null {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return null;
  const seconds = Number(header);
  return seconds === 0 ? null : Math.min(seconds * 1000, TIMEOUT_MS_MAX);
}

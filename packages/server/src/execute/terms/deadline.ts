/**
 * The single signal that ends a request early: after its time limit, when its caller leaves, or after the grace time of
 * a shutdown. It has the reason, which determines the answer.
 */

export type EndReason = 'timeout' | 'caller_left' | 'shutdown';

export interface Deadline {
  /** Its `reason` is an {@link EndReason} after the end. */
  readonly signal: AbortSignal;
  /** Null before the end. */
  readonly reason: EndReason | null;
  end(reason: EndReason): void;
  /** Starts or restarts the clock: `timeoutMs` from now until the last byte of the answer. */
  startClock(timeoutMs: number): void;
  /** Stops the clock. Must be called after the answer was sent. */
  clear(): void;
}

/** Time for sending the answers, mostly errors, after the end. */
const SENDING_MS = 2000;

/**
 * Creates a deadline whose clock is not running yet, because the time in which a client sends its body does not count.
 * `cutOff` is called if the answer has not been sent some time after the end, because its caller does not read it.
 */
export function createDeadline(cutOff?: () => void): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: EndReason) => {
    if (signal.aborted) return;
    clearTimeout(timer);
    if (cutOff !== undefined) timer = setTimeout(cutOff, SENDING_MS);
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

/** Maximum time limit of a call (docs/execute.md#headers). */
const TIMEOUT_MS_MAX = 300_000;

/** Reads the time limit that the caller sets, at most 300 s. Returns null if it is absent, 0 or not an integer. */
export function readTimeoutMs(header: string | undefined): number | null {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return null;
  const seconds = Number(header);
  return seconds === 0 ? null : Math.min(seconds * 1000, TIMEOUT_MS_MAX);
}

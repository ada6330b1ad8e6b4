/**
 * The one signal of a request that ends its upstream work: when its time is over, when the caller leaves, or when the
 * grace time of a shutdown is over. It knows why, so that the answer can say it.
 */

import type { EndListener, EndSignal } from '../egress/dispatcher.ts';

export type EndReason = 'timeout' | 'caller_left' | 'shutdown';

export interface Deadline {
  readonly signal: EndSignal;
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
  const signal = new LightSignal();
  let reason: EndReason | null = null;
  let timer: NodeJS.Timeout | undefined;
  const end = (why: EndReason) => {
    if (reason !== null) return;
    reason = why;
    clearTimeout(timer);
    if (cutOff !== undefined) timer = setTimeout(cutOff, LEAVING_MS);
    signal.abort();
  };
  return {
    signal,
    get reason() {
      return reason;
    },
    end,
    startClock(timeoutMs) {
      if (reason !== null) return;
      clearTimeout(timer);
      timer = setTimeout(end, timeoutMs, 'timeout');
    },
    clear: () => clearTimeout(timer),
  };
}

/** Node's AbortSignal costs several microseconds a call. */
class LightSignal implements EndSignal {
  aborted = false;
  #listeners: EndListener[] = [];

  addEventListener(_type: 'abort', listener: EndListener): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: EndListener): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of this.#listeners.splice(0)) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}

/** The longest that a call may be given (contract section 1). */
export const TIMEOUT_MS_MAX = 300_000;

/** The time that a caller asks for the whole call: null where it is absent, 0 or no whole number; at most 300 s. */
export function readTimeoutMs(header: string | undefined): number | null {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return null;
  const seconds = Number(header);
  return seconds === 0 ? null : Math.min(seconds * 1000, TIMEOUT_MS_MAX);
}

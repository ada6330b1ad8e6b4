/**
 * The single signal that ends a request early: after its time limit, when its caller leaves, or after the grace time of
 * a shutdown. It has the reason, which determines the answer.
 */

import type { Indexed } from '@erp-proxy/async/tasks';

export type EndReason = 'timeout' | 'caller_left' | 'shutdown';

/** Time for sending the answers, mostly errors, after the end. */
const SENDING_MS = 2000;

export class Deadline implements Indexed {
  index = -1;
  readonly #controller = new AbortController();
  readonly #cutOff: (() => void) | null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Creates a deadline whose clock is not running yet, because the time in which a client sends its body does not
   * count. `cutOff` is called if the answer has not been sent some time after the end, because its caller does not read
   * it.
   */
  constructor(cutOff: (() => void) | null = null) {
    this.#cutOff = cutOff;
  }

  /** Its `reason` is an {@link EndReason} after the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Null before the end. */
  get reason(): EndReason | null {
    return this.signal.aborted ? this.signal.reason : null;
  }

  end(reason: EndReason): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    if (this.#cutOff !== null) this.#timer = setTimeout(this.#cutOff, SENDING_MS);
    this.#controller.abort(reason);
  }

  /** Starts or restarts the clock: `timeoutMs` from now until the last byte of the answer. */
  startClock(timeoutMs: number): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs);
  }

  /** Stops the clock. Must be called after the answer was sent. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Maximum time limit of a call (docs/execute.md#headers). */
const TIMEOUT_MS_MAX = 300_000;

/** Reads the time limit that the caller sets, at most 300 s. Returns null if it is absent, 0 or not an integer. */
export function readTimeoutMs(header: string | undefined): number | null {
  if (header === undefined || !/^\s*\d+\s*$/.test(header)) return null;
  const seconds = Number(header);
  return seconds === 0 ? null : Math.min(seconds * 1000, TIMEOUT_MS_MAX);
}

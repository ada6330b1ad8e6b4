/**
 * Checks that a caller reads its answer at the minimum rate. While Odoo has more to send, a caller that does not read
 * keeps a worker of Odoo busy and holds a permit that other calls wait for.
 *
 * The operating system accepts bytes for the caller in steps of up to a megabyte, whatever the caller's rate. Therefore
 * a caller may be behind by somewhat more than that.
 */

import { ByteStreamError } from '@erp-proxy/async/streams';

/** Maximum bytes that a caller may be behind the minimum rate. */
export const BEHIND_BYTES_MAX = 1_310_720;
const TICK_MS = 250;

export class ReadingPace {
  readonly #bytesPerSecondMin: number;
  #behindBytes = 0;

  /** 0 disables the check. */
  constructor(bytesPerSecondMin: number) {
    this.#bytesPerSecondMin = bytesPerSecondMin;
  }

  /** The error for an answer whose caller is too slow. */
  get slowCallerError(): ByteStreamError {
    return new ByteStreamError(
      'aborted',
      `the caller took less than ${this.#bytesPerSecondMin} bytes a second`,
    );
  }

  /**
   * Waits until `drained` resolves: the caller has read `bytes` more. Returns false once the caller is too slow. Only
   * the time during which `isCounted` returns true counts against the caller.
   */
  async waitUntilRead(
    bytes: number,
    drained: Promise<void> | undefined,
    isCounted: () => boolean,
  ): Promise<boolean> {
    const isTaken = drained === undefined || (await this.#wait(drained, isCounted));
    this.#behindBytes = Math.max(0, this.#behindBytes - bytes);
    return isTaken;
  }

  #wait(drained: Promise<void>, isCounted: () => boolean): Promise<boolean> {
    if (this.#bytesPerSecondMin === 0) return drained.then(() => true);
    return new Promise((resolve, reject) => {
      const timer = setInterval(() => {
        if (isCounted()) this.#behindBytes += (this.#bytesPerSecondMin * TICK_MS) / 1000;
        if (this.#behindBytes >= BEHIND_BYTES_MAX) stop(false);
      }, TICK_MS);
      const stop = (isTaken: boolean) => {
        clearInterval(timer);
        resolve(isTaken);
      };
      drained.then(
        () => stop(true),
        (error) => {
          clearInterval(timer);
          reject(error);
        },
      );
    });
  }
}

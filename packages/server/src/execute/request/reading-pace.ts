/**
 * Whether a caller takes its answer at the least rate. As long as Odoo has more to send, a caller that does not read holds a
 * worker of Odoo and a turn at the gate, which others wait for.
 *
 * The operating system takes bytes for the caller in steps of up to a megabyte, whatever the caller's pace. So a caller may
 * be behind by somewhat more than that.
 */

import { ByteStreamError } from '../../streams/byte-stream.ts';

/** How far a caller may be behind the least rate. */
export const BEHIND_BYTES_MAX = 1_310_720;
const TICK_MS = 250;

export class ReadingPace {
  readonly #bytesPerSecondMin: number;
  #behindBytes = 0;

  /** 0: any pace will do. */
  constructor(bytesPerSecondMin: number) {
    this.#bytesPerSecondMin = bytesPerSecondMin;
  }

  /** Why the answer to a caller that is too slow breaks off. */
  get tooSlow(): ByteStreamError {
    return new ByteStreamError(
      'aborted',
      `the caller took less than ${this.#bytesPerSecondMin} bytes a second`,
    );
  }

  /**
   * Waits until the caller has taken so many bytes; false once it is too slow. `isCounted` tells whether it is the caller that
   * is waited for.
   */
  async take(bytes: number, room: Promise<void> | undefined, isCounted: () => boolean): Promise<boolean> {
    const isTaken = room === undefined || (await this.#wait(room, isCounted));
    this.#behindBytes = Math.max(0, this.#behindBytes - bytes);
    return isTaken;
  }

  #wait(room: Promise<void>, isCounted: () => boolean): Promise<boolean> {
    if (this.#bytesPerSecondMin === 0) return room.then(() => true);
    return new Promise((resolve, reject) => {
      const timer = setInterval(() => {
        if (isCounted()) this.#behindBytes += (this.#bytesPerSecondMin * TICK_MS) / 1000;
        if (this.#behindBytes >= BEHIND_BYTES_MAX) stop(false);
      }, TICK_MS);
      const stop = (isTaken: boolean) => {
        clearInterval(timer);
        resolve(isTaken);
      };
      room.then(
        () => stop(true),
        (error) => {
          clearInterval(timer);
          reject(error);
        },
      );
    });
  }
}

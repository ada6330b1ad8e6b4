/**
 * Bounds the checks of servers that run at once in this process. Each check waits for a server that an administrator
 * named, and holds connections meanwhile. The limits of calls do not apply to checks.
 */
import { AdminError, describeProblem } from './admin-error.ts';

const RUNNING_MAX = 8;
const RETRY_AFTER_SECONDS = 5;

export class Examinations {
  #running = 0;

  /** Rejects with an AdminError if too many checks run. Otherwise resolves or rejects as the check does. */
  async run<Result>(check: () => Promise<Result>): Promise<Result> {
    if (this.#running >= RUNNING_MAX) {
      throw new AdminError(describeProblem(429, REFUSAL), { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#running++;
    try {
      return await check();
    } finally {
      this.#running--;
    }
  }
}

const REFUSAL = `${RUNNING_MAX} checks of servers run in this process already. Try again in ${RETRY_AFTER_SECONDS} s.`;

/**
 * Bounds the retries of a client, so that many callers do not double the load on a server in trouble: at most a tenth
 * of the calls in the long run, and ten in a row.
 */
const TOKENS_MAX = 10;
const TOKENS_PER_CALL = 0.1;

const DELAY_MIN_MS = 200;
const DELAY_MAX_MS = 5000;

export interface RetryBudget {
  countCall(): void;
  /** Takes one retry; false if none is left. */
  take(): boolean;
}

export function createRetryBudget(): RetryBudget {
  let tokens = TOKENS_MAX;
  return {
    countCall() {
      tokens = Math.min(TOKENS_MAX, tokens + TOKENS_PER_CALL);
    },
    take() {
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}

/**
 * The wait before a retry. Grows with each attempt, contains a random part, and is never shorter than the proxy asked
 * for.
 */
export function chooseDelayMs(attempt: number, retryAfterSeconds = 0): number {
  const most = Math.min(DELAY_MAX_MS, DELAY_MIN_MS * 2 ** attempt);
  return retryAfterSeconds * 1000 + most * (0.5 + Math.random() / 2);
}

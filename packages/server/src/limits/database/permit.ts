/** Requests for a permit to call a database, and their outcomes. */

export interface PermitRequest {
  /** The upstream database: address and name. */
  database: string;
  /** The id of the client key. Permits are shared out fairly between clients. */
  client: string;
  /** Time (`nowMs`) by which the call must end. */
  deadlineMs: number;
  signal: AbortSignal;
  /** The bound of the called instance; null if it has none. */
  bound: InstanceBound | null;
  /** True for a call that nobody waits for, such as a page of an export: interactive calls go first. Default: false. */
  isBackground?: boolean;
}

/** The operator's concurrency bound for one instance, across all processes. Calls beyond it wait. */
export interface InstanceBound {
  /** The instance's id. Two instances of the same database are counted separately. */
  instance: string;
  max: number;
}

/** The right to send one call. Must be released exactly once. */
export interface Permit {
  /**
   * Mean answer time in milliseconds of the interactive calls to the database: 0 while it is unknown, null if there
   * were none lately. A background call should take less.
   */
  readonly interactiveMs: number | null;
  /** The call is sent now. Time before this does not count as waiting for Odoo. */
  markSent(): void;
  /**
   * Odoo has begun to answer. The time after this depends on how fast the caller reads, so it does not count as answer
   * time. The circuit breaker counts the answer now. Release the permit as `answered` later.
   */
  markAnswered(): void;
  /** Whether there is time for `waitMs` and then an answer, and the circuit breaker does not refuse the client. */
  mayRetry(waitMs: number): boolean;
  release(result: PermitResult): void;
}

export type PermitResult =
  /** Odoo answered. Includes business errors and the status 500 for an unknown field. */
  | 'answered'
  /** No answer within the call's time. */
  | 'timed_out'
  /** Connection refused or reset, unknown host, TLS error, or status 502. */
  | 'unreachable'
  /** Status 429 or 503 from the upstream. */
  | 'overloaded'
  /** The caller disconnected before the answer. */
  | 'caller_left'
  /** The call was not sent, or the proxy ended it. Says nothing about the server. */
  | 'abandoned';

export interface PermitRefusal {
  /** `ended`: the request's signal was aborted. */
  refused: 'queue_full' | 'too_late' | 'breaker_open' | 'ended';
  retryAfterSeconds: number;
}

/** A promise only if the request must wait. */
export type PermitOutcome = Permit | PermitRefusal | Promise<Permit | PermitRefusal>;

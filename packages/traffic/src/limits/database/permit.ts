/** Requests for a permit to call a database, and their outcomes. */

export interface PermitRequest {
  /** The upstream database: base address and name. */
  database: string;
  /** Id of the client key. Permits are shared fairly between clients. */
  client: string;
  /** Time (`nowMs`) by which the call must end. */
  deadlineMs: number;
  signal: AbortSignal;
  /** The bound of the called instance; null if it has none. */
  bound: InstanceBound | null;
  /**
   * True for a call for which nobody waits, such as a page of an export: interactive calls go first. Default: false.
   */
  isBackground?: boolean;
}

/** The operator's concurrency bound for one instance, across all processes. Calls beyond it wait. */
export interface InstanceBound {
  /** Id of the instance. Two instances with the same database are counted separately. */
  instance: string;
  max: number;
}

/** The right to send one call. Must be released exactly once. */
export interface Permit {
  /**
   * Mean answer time in milliseconds of the interactive calls to the database: 0 while it is unknown, null if there was
   * no such call recently. A background call should take less.
   */
  readonly interactiveMs: number | null;
  /** Must be called when the call is sent. Time before this does not count as answer time of Odoo. */
  markSent(): void;
  /**
   * Must be called when Odoo begins to answer. The time after this depends on how fast the caller reads, and does not
   * count as answer time. The circuit breaker counts the answer at once. The permit must still be released, as
   * `answered`.
   */
  markAnswered(): void;
  /** Whether time is left for `waitMs` and then an answer, and the circuit breaker does not refuse the client. */
  mayRetry(waitMs: number): boolean;
  release(result: PermitResult): void;
}

export type PermitResult =
  /** Odoo answered. Includes business errors and the status 500 for an unknown field. */
  | 'answered'
  /** No answer arrived within the time limit of the call. */
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
  /** `ended`: the signal of the request was aborted. */
  refused: 'queue_full' | 'too_late' | 'breaker_open' | 'ended';
  retryAfterSeconds: number;
}

/** The result of a request for a permit: a promise only if the request must wait. */
export type PermitOutcome = Permit | PermitRefusal | Promise<Permit | PermitRefusal>;

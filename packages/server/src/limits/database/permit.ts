/** Who comes to the gate, and what becomes of it. */

export interface PermitRequest {
  /** The upstream database: address and name. */
  database: string;
  /** The client key's id: calls of different clients take turns. */
  client: string;
  /** Time (`nowMs`) by which the call must be done. */
  deadlineMs: number;
  signal: AbortSignal;
  /** Of the instance that is called; null: it has none. */
  bound: InstanceBound | null;
}

/** The operator's own bound for an instance: a call to it waits while so many to it run, of all processes together. */
export interface InstanceBound {
  /** The instance's id: two that point to one database are counted apart. */
  instance: string;
  max: number;
}

/** Leave to send one call. It must be left, exactly once. */
export interface Permit {
  /** The call is sent now: what came before was no wait for Odoo. */
  markSent(): void;
  /**
   * Odoo has begun to answer: what follows is the pace of who takes it. To be left as `answered` later. The breaker hears of
   * it at once: an answer that is read slowly says nothing of the server at its end.
   */
  markAnswered(): void;
  /** Whether there is time to wait so long and then for an answer, of a database that is not given up. */
  mayRetry(waitMs: number): boolean;
  release(result: PermitResult): void;
}

export type PermitResult =
  /** Odoo answered, whatever it said: business errors, and the 500 of a field that there is not. */
  | 'answered'
  /** No answer in the call's time. */
  | 'timed_out'
  /** Connection refused or reset, no such host, TLS, 502. */
  | 'unreachable'
  /** 429 or 503 of the upstream. */
  | 'overloaded'
  /** The caller left while the answer was still to come. */
  | 'caller_left'
  /** The call was not sent, or the proxy ended it: says nothing of the server. */
  | 'abandoned';

export interface PermitRefusal {
  /** `ended`: by its signal. */
  refused: 'queue_full' | 'too_late' | 'breaker_open' | 'ended';
  retryAfterSeconds: number;
}

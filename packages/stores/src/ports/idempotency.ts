/** Calls with an idempotency key. Part of the interface of a store (store.ts). */

/** The stored state of a call with an idempotency key. */
export interface IdempotencyRow {
  /** Hash of the call. */
  readonly fingerprint: string;
  /** `outcome_unknown`: the attempt did not complete in time, or `markUnknown` was called for it. */
  readonly state: 'running' | 'outcome_unknown' | 'done';
  /** The answer, sealed; null if the call is not done, or its answer was not stored. */
  readonly answer: Uint8Array | null;
}

export interface IdempotencyClaim {
  /** Hash of the client, the idempotency key and the position in the batch. */
  readonly id: string;
  /** Id of the client key. */
  readonly client: string;
  readonly fingerprint: string;
  /** Unique for the attempt. Only the attempt that has the claim can end it. */
  readonly attempt: string;
  /** Milliseconds after which the call no longer counts as running. */
  readonly runsForMs: number;
  /** Milliseconds after which the row expires, unless the attempt has completed by then. */
  readonly expiresInMs: number;
}

/** Totals of the idempotency keys of one client key. */
export interface IdempotencyUse {
  /** Number of idempotency keys, completed or not. */
  keys: number;
  answerBytes: number;
}

/** Uses the clock of the store, so that replicas whose clocks differ agree. */
export interface IdempotencyStore {
  find(id: string): Promise<IdempotencyRow | null>;
  /**
   * Null: this attempt has the claim, and no other attempt gets it, even at the same moment or after a power loss.
   * Otherwise returns the row of the attempt that has the claim.
   */
  claim(claim: IdempotencyClaim): Promise<IdempotencyRow | null>;
  /**
   * From now on, the attempt counts as running for `runsForMs`. This method and the next three do nothing if the
   * attempt does not have the claim, or has completed.
   */
  extend(id: string, attempt: string, runsForMs: number): Promise<void>;
  /** Marks the call as done. `answer` null: the answer is not stored. */
  complete(id: string, attempt: string, answer: Uint8Array | null, expiresInMs: number): Promise<void>;
  /** Marks the outcome of the attempt as unknown. */
  markUnknown(id: string, attempt: string): Promise<void>;
  /** Removes the claim, so that the next attempt may run. */
  release(id: string, attempt: string): Promise<void>;
  /** Counts the rows of a client. Expired rows may count for up to an hour longer. */
  measure(client: string): Promise<IdempotencyUse>;
  /** Removes at most `limit` expired rows. Returns their number. */
  prune(limit: number): Promise<number>;
}

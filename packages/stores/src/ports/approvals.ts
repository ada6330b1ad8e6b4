/** Calls that an administrator must approve. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { Change } from './change.ts';
import type { KeyStore } from './keys.ts';

/** A call that an administrator must approve. Times are milliseconds since 1970, by the clock of the caller. */
export interface ApprovalRow {
  readonly id: string;
  /** The client that made the request. It stays the same when the key is rotated. */
  readonly client: string;
  /** Hash of the call. */
  readonly fingerprint: string;
  /** After `expiresAt`, a pending or approved row has no effect any more. */
  readonly state: 'pending' | 'approved' | 'refused' | 'used';
  /** JSON text of facts about the call, without its values. Only approvals/ knows its shape. */
  readonly facts: string;
  readonly createdAt: number;
  /** From this moment the row can no longer be decided or used, and a refusal no longer counts. */
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  readonly usedAt: number | null;
}

/** An approval with the values of its call. */
export interface ApprovalWithCall extends ApprovalRow {
  /** The call, sealed; null once its values are deleted. */
  readonly call: string | null;
}

export interface ApprovalRequest
  extends Pick<ApprovalRow, 'id' | 'client' | 'fingerprint' | 'facts' | 'createdAt' | 'expiresAt'> {
  readonly call: string;
}

/** Maximum numbers of requests that wait for a decision. */
export interface ApprovalBounds {
  readonly clientMax: number;
  readonly totalMax: number;
}

export interface ApprovalDecision {
  readonly state: 'approved' | 'refused';
  readonly by: string;
  readonly reason: string | null;
  readonly now: number;
  /** The new `expiresAt`; null: it does not change. */
  readonly expiresAt: number | null;
}

export interface ApprovalListQuery {
  /** The last row of the page before; null: begins with the newest row. */
  after: Pick<ApprovalRow, 'createdAt' | 'id'> | null;
  limit: number;
  /** State of the rows at `now`: a pending or approved row after its `expiresAt` is `expired`. Left out: all rows. */
  state?: { is: ApprovalRow['state'] | 'expired'; now: number } | undefined;
}

/** `client_full`, `full`: the bound of the client or of all clients is reached, and nothing was stored. */
export type ApprovalAnswer = ApprovalRow | 'client_full' | 'full';

/** Approvals of calls. Two calls are the same if they have the same client and fingerprint. */
export interface ApprovalStore {
  /**
   * Returns the row of the same call that is pending, approved or refused and not expired. Otherwise stores the request
   * as pending. A call never has two such rows, even if two requests for it arrive at the same moment. Bounds of 0
   * store nothing.
   */
  ask(request: ApprovalRequest, bounds: ApprovalBounds): Promise<ApprovalAnswer>;
  find(id: string): Promise<ApprovalWithCall | null>;
  /** The rows of this call that have one of these ids, in any order. */
  findOf(client: string, fingerprint: string, ids: readonly string[]): Promise<ApprovalRow[]>;
  /** At most `limit` rows, the newest first, rows of one time by descending id. */
  list(query: ApprovalListQuery): Promise<ApprovalRow[]>;
  /**
   * Decides a pending row that has not expired. `conflict`: the row is not pending, or has expired. A refusal deletes
   * the values of the call. The audit record `auditBatch` is appended as in {@link KeyStore}.
   */
  decide(id: string, decision: ApprovalDecision, auditBatch?: AuditBatch): Promise<Change>;
  /**
   * Uses an approved row of this call that has not expired. True: this attempt has the approval, and no other attempt
   * gets it, even at the same moment or after a power loss.
   */
  claim(
    claim: Pick<ApprovalRow, 'id' | 'client' | 'fingerprint'> & { attempt: string; now: number },
  ): Promise<boolean>;
  /**
   * Makes the row approved again if this attempt has used it. The row stays used if the same call was requested again
   * since, or has an open row: the call could otherwise run twice.
   */
  release(id: string, attempt: string): Promise<void>;
  /**
   * Deletes the values of rows that have expired by `now`, and removes rows that had expired by `removeBefore`: of each
   * at most `limit`. Returns the larger of the two numbers.
   */
  prune(now: number, removeBefore: number, limit: number): Promise<number>;
}

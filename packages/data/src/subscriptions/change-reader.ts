/** The interface through which subscriptions read changes from Odoo. Implemented in subscriptions/calls/. */
import type { RecordChange } from './delivery-body.ts';
import type { RecordSubscription } from './row.ts';

/** A plain JSON value. */
export type ReaderState = unknown;

export interface ReadResult {
  changes: RecordChange[];
  /** Changes from before the subscription began. They are not sent, but their records are watched. */
  unsent: RecordChange[];
  /** The state for the next reading. */
  state: ReaderState;
  /** True: the next reading may follow at once. */
  more: boolean;
  /** True: the next reading may use the former state as well, so the new one need not be stored. */
  isRepeatable: boolean;
}

export interface ReadRefusal {
  /** Reason for the operator why changes cannot be read. */
  problem: string;
  /**
   * The reason for the log, without values: a message of Odoo in `problem` may contain some. Left out: `problem` has
   * none.
   */
  summary?: string;
  /** True: the key is not valid any more, so no further reading can succeed. */
  isKeyOver: boolean;
}

export interface ChangeReader {
  /** Reads changes after `state`; null: begins as the member `start` of the subscription says. Never rejects. */
  readChanges(
    subscription: RecordSubscription,
    state: ReaderState | null,
    signal: AbortSignal,
  ): Promise<ReadResult | ReadRefusal>;
  /**
   * Ids of the records that match, ascending. If there are more than `max`, it may return more than `max`. Never
   * rejects.
   */
  listIds(
    subscription: RecordSubscription,
    max: number,
    signal: AbortSignal,
  ): Promise<{ ids: number[] } | ReadRefusal>;
  /** Those of `ids` that do not exist or are not visible any more. Never rejects. */
  findGone(
    subscription: RecordSubscription,
    ids: readonly number[],
    signal: AbortSignal,
  ): Promise<{ gone: number[] } | ReadRefusal>;
}

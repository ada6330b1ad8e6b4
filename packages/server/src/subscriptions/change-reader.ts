/** The interface through which subscriptions read changes from Odoo. Implemented in data/subscriptions/. */
import type { RecordChange } from './delivery-body.ts';
import type { RecordSubscription } from './row.ts';

/** A plain JSON value. */
export type ReaderState = unknown;

export interface ReadResult {
  changes: RecordChange[];
  /** Changes from before the beginning of the subscription, which are not sent. */
  noted: RecordChange[];
  /** For the next reading. */
  state: ReaderState;
  /** True: the next reading may follow at once. */
  more: boolean;
  /** True: the former state is as good for the next reading, so that this one need not be stored. */
  isRepeatable: boolean;
}

export interface ReadRefusal {
  /** Why changes cannot be read, for the operator. */
  problem: string;
  /** The same for the log, which has no values: what Odoo says may name some. Absent: `problem` has none. */
  summary?: string;
  /** True: the key may not be used any more, so that no further reading can succeed. */
  isKeyOver: boolean;
}

export interface ChangeReader {
  /** `state` null: begins by `start` of the subscription. Rejects never. */
  readChanges(
    subscription: RecordSubscription,
    state: ReaderState | null,
    signal: AbortSignal,
  ): Promise<ReadResult | ReadRefusal>;
  /** The ids of the records that match, ascending. More than `max` may be given if there are more. Rejects never. */
  listIds(
    subscription: RecordSubscription,
    max: number,
    signal: AbortSignal,
  ): Promise<{ ids: number[] } | ReadRefusal>;
  /** The ids that do not exist or are not visible any more. Never rejects. */
  findGone(
    subscription: RecordSubscription,
    ids: readonly number[],
    signal: AbortSignal,
  ): Promise<{ gone: number[] } | ReadRefusal>;
}

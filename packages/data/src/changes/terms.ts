/** The types for reading changes: the query, the calls on Odoo, and the result. */
import type { Question } from '../ask-odoo.ts';
import type { Place } from './given-records.ts';
import type { ServerClock, ServerTime } from './server-time.ts';

/** The result of `ask`. `Failure`: why there is no result. */
export type Asked<Failure> =
  | {
      /** JSON text of the result. */
      result: Uint8Array;
      /** Null if the answer has no `date`. */
      clock: ServerClock | null;
      /** The maximum of records that the policy has set in place of the given one; null: none. */
      limit: number | null;
    }
  | {
      failure: Failure;
      /** `too_large`: fewer records may work. `query_invalid`: Odoo does not know a field. */
      cause?: 'too_large' | 'query_invalid';
    };

/**
 * Makes one call on the model. The answer must come from Odoo now: neither a cached answer nor one that callers share.
 */
export type Ask<Failure> = (question: Question) => Promise<Asked<Failure>>;

/** The records to follow. `ask` knows the model and the server. */
export interface ChangesQuery {
  /** JSON text of the domain, an array. */
  domain: string;
  /** Names of the fields of `record`. At least one. */
  fields: readonly string[];
  /** The context that prepareContext has returned. */
  context: string;
  /** True if a page can be short before the end: see dropped-records.ts. */
  dropsRecords: boolean;
  /** True: deleted records are found, too. Not together with `dropsRecords`. */
  findsDeleted: boolean;
}

export interface ChangesBounds {
  /** Maximum number of changes in one answer, at least 1. */
  changesMax: number;
  /** Maximum bytes of the records of one answer. One page of Odoo may exceed it. */
  bytesMax: number;
  /** Maximum records of one call. */
  pageMax: number;
  /** Maximum ids that one answer compares to find deleted records. */
  idsMax: number;
  /** Longest expected duration of a transaction in Odoo. */
  overlapSeconds: number;
  /** True as soon as the answer should end, with `more`. Checked before each further page. */
  isOver: () => boolean;
}

export interface Change {
  /**
   * `left`: the record does not match the domain; it may never have matched. `gone`: no record with an id from `id` to
   * `to` matches.
   */
  change: 'upsert' | 'left' | 'gone';
  id: number;
  /** For `gone`: the last id. */
  to?: number;
  /** `write_date` as `2026-10-21T01:31:00Z`; null if Odoo has none. */
  at: string | null;
  /** JSON text of the record with the fields of the query; null unless it is an `upsert`. */
  record: Uint8Array | null;
}

/** The state of one caller as a plain JSON value of at most about 25 kB. Other versions are refused. */
export interface ChangesState {
  readonly version: typeof STATE_VERSION;
  /** Makes the digests of two states differ. */
  readonly salt: string;
  readonly time: ServerTime;
  /** The last id that was copied; null after the copy is complete. */
  readonly copiedTo: number | null;
  /** All changes with an earlier `write_date` have been returned. Null if no `write_date` is known. */
  readonly from: number | null;
  /** The scan in progress. */
  readonly scan: Scan | null;
  /** The time of the database when the last full scan began. */
  readonly scannedAt: number | null;
  /** Records of a page, if an answer of Odoo cannot hold the maximum. */
  readonly pageSize: number | null;
  /** The runs of what was returned (given-records.ts). */
  readonly given: string;
  /** The search for deleted records; absent: none was asked for. */
  readonly deleted?: DeletedSearch;
}

export interface DeletedSearch {
  /** The ranges of the ids that were returned (id-ranges.ts). */
  readonly ranges: string;
  /** The id after which the comparison continues. */
  readonly after: number;
  /** The highest id that was returned. */
  readonly highest: number;
  /** True: the ids were compared since the last scan ended, so that the next scan comes first. */
  readonly isCompared: boolean;
}

export interface Scan {
  readonly isFull: boolean;
  /** Where the scan continues; null: at the first `write_date`. */
  readonly after: Place | null;
  /** True while the second of `after` is read by id. */
  readonly isWithinSecond: boolean;
  /** For a full scan: the value of `from` after it. Null until its first answer. */
  readonly nextFrom: number | null;
  /** True if `from` was lowered after the scan began, so that another full scan must follow. */
  readonly isOutdated: boolean;
}

export type ChangesRead<Failure> =
  | {
      changes: Change[];
      /** The state for the next call. */
      state: ChangesState;
      /** True if the next call may be made at once. False if everything that Odoo shows now was returned. */
      more: boolean;
    }
  /** Nothing was returned: call again with the same state. */
  | { failure: Failure }
  | { fault: ChangesFault };

/** `no_write_date`: the model cannot be followed. `answer_invalid`: an answer of Odoo cannot be used. */
export type ChangesFault = { type: 'no_write_date' } | { type: 'answer_invalid'; message: string };

export const STATE_VERSION = 1;

/**
 * Reads what has changed in a model since a state, through calls on Odoo that `ask` makes. Knows neither HTTP nor who
 * asks: the route and the subscriptions use it. docs/decisions/0039-changes.md proves what it promises.
 */
import type { Question } from '../ask-odoo.ts';

/** The clock of the server, in whole seconds since 1970. */
export interface ServerClock {
  /** Not after the time at which Odoo read the rows. */
  asked: number;
  /** The header `date` of the answer. */
  answered: number;
}

/** Makes one call on the model. `clock` null: the answer has no date. `Failure`: why there is no result. */
export type Ask<Failure> = (
  question: Question,
) => Promise<{ result: Uint8Array; clock: ServerClock | null } | { failure: Failure }>;

/** What is followed. The model and the server are known to `ask`. */
export interface ChangesQuery {
  /** JSON text of the domain. */
  domain: string;
  /** Names of the fields of `record`. At least one. */
  fields: readonly string[];
  /** JSON text of an object, as `keyword.context` takes it; null: none. */
  context: string | null;
}

export interface ChangesBounds {
  /** Maximum changes of one answer. At least 1. */
  changesMax: number;
  /** Maximum calls on Odoo for one answer. */
  callsMax: number;
  /** How long a transaction in Odoo may last. */
  overlapSeconds: number;
}

export interface Change {
  /** `left`: the record does not match the domain; it may never have matched. */
  change: 'upsert' | 'left';
  id: number;
  /** `write_date` as `2026-10-21T01:31:00Z`; null if Odoo has none. */
  at: string | null;
  /** JSON text of the record with the fields of the query; null for `left`. */
  record: Uint8Array | null;
}

/** A plain JSON value of at most about 20 kB. Its members may change; a state of an old version is refused. */
export interface ChangesState {
  version: 1;
}

export type ChangesRead<Failure> =
  | {
      changes: Change[];
      /** For the next call. */
      state: ChangesState;
      /** True if the next call may be made at once; there may be changes with `more` false too, but not yet. */
      more: boolean;
    }
  /** Nothing was read: call again with the same state. */
  | { failure: Failure | ChangesFault };

/** An answer of Odoo that cannot be used. */
export interface ChangesFault {
  fault: 'answer_invalid' | 'no_write_date';
  message: string;
}

/** `state` null: from the beginning, all records that match. */
export declare function readChanges<Failure>(
  ask: Ask<Failure>,
  query: ChangesQuery,
  state: ChangesState | null,
  bounds: ChangesBounds,
): Promise<ChangesRead<Failure>>;

/** Finds which of these ids do not exist, or are not visible any more. Asks in pages of `pageIds`. */
export declare function findGone<Failure>(
  ask: Ask<Failure>,
  query: Pick<ChangesQuery, 'context'>,
  ids: readonly number[],
): Promise<{ gone: number[] } | { failure: Failure | ChangesFault }>;

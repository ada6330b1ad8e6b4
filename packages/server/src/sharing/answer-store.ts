/**
 * The interface of stores for kept answers: memory-answers.ts and Redis. Calls work without the store, so that none of
 * its methods fails.
 */

/** A read: its name, and the scope of the writes that make its answer stale. */
export interface ReadScope {
  name: string;
  database: string;
  model: string;
}

/** When a read was sent. */
export interface ReadMoment {
  askedMs: number;
  /** Number of the last write in the log at that time. */
  writes: number;
  /** The mark that `find` gave; null if the store was not asked or gave none. */
  mark: string | null;
}

export interface KeptAnswer {
  answer: Uint8Array;
  /** Milliseconds since its call was sent. */
  ageMs: number;
}

export interface Found {
  /** Null if no answer is young enough. */
  kept: KeptAnswer | null;
  /** Identifies the state of the store at this time, by which `keep` recognises later writes; null if it needs none. */
  mark: string | null;
}

export interface AnswerStore {
  find(scope: ReadScope, maxAgeMs: number): Found | Promise<Found>;
  /** Keeps an answer for at least `maxAgeMs`, unless it may be stale already. */
  keep(scope: ReadScope, moment: ReadMoment, maxAgeMs: number, answer: Uint8Array): void;
  /** Removes the answers of a model; null: of all models. Afterwards no earlier read is served. */
  drop(database: string, model: string | null): void | Promise<void>;
}

/**
 * The interface of stores for kept answers: memory-answers.ts and Redis. Calls work without the store, so its methods
 * never fail.
 */

/** A read: its name, and the scope of the writes that make its answer stale. */
export interface ReadScope {
  name: string;
  database: string;
  model: string;
}

/** The moment at which a read was sent. */
export interface ReadMoment {
  askedMs: number;
  /** Number of the last write in the log at that moment. */
  writes: number;
  /** The mark that `find` returned; null if the store was not asked or returned none. */
  mark: string | null;
}

export interface KeptAnswer {
  answer: Uint8Array;
  /** Milliseconds since the call of the answer was sent. */
  ageMs: number;
}

export interface Found {
  /** The kept answer; null if none is young enough. */
  kept: KeptAnswer | null;
  /**
   * Identifies the state of the store at this moment. With it, `keep` recognises later writes; null if the store needs
   * no mark.
   */
  mark: string | null;
}

export interface AnswerStore {
  find(scope: ReadScope, maxAgeMs: number): Found | Promise<Found>;
  /** Keeps an answer for at least `maxAgeMs`, unless it may be stale already. */
  keep(scope: ReadScope, moment: ReadMoment, maxAgeMs: number, answer: Uint8Array): void;
  /** Removes the answers of a model; null: of all models. Answers of reads sent before are not returned afterwards. */
  drop(database: string, model: string | null): void | Promise<void>;
}

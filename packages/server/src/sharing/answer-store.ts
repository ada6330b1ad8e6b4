/**
 * Where answers are kept for callers who accept one that is some seconds old: what the memory of this process
 * (memory-answers.ts) and Redis have in common. It is asked as long as a call goes on without it: it never fails.
 */

/** A read: its name, and what a write must concern to make its answer out of date. */
export interface ReadScope {
  name: string;
  database: string;
  model: string;
}

/** When a read went out. */
export interface ReadMoment {
  askedMs: number;
  /** Writes that the log had counted by then. */
  writes: number;
  /** What the store said before; null where it was not asked, or had nothing to say. */
  mark: string | null;
}

export interface KeptAnswer {
  answer: Uint8Array;
  /** Milliseconds since its call was made. */
  ageMs: number;
}

export interface Found {
  /** Null where there is none that is young enough. */
  kept: KeptAnswer | null;
  mark: string | null;
}

export interface AnswerStore {
  find(scope: ReadScope, maxAgeMs: number): Found | Promise<Found>;
  /** Keeps an answer, for as long as its caller would accept it at least; not where it may be out of date already. */
  keep(scope: ReadScope, moment: ReadMoment, maxAgeMs: number, answer: Uint8Array): void;
  /** Once this is done nobody gets what was read before. `model` null: whatever its model. */
  drop(database: string, model: string | null): void | Promise<void>;
}

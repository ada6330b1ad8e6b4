/**
 * The interface of stores for kept answers, and the store in the memory of this process. Calls work without the store,
 * so its methods never fail.
 */
import { LRUCache } from 'lru-cache';
import type { WriteLog } from './write-log.ts';

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

export interface MemoryAnswersOptions {
  /** Maximum bytes of all kept answers. */
  bytesMax: number;
  /** The log of writes, which tells the stale answers. */
  writes: WriteLog;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

interface Kept {
  answer: Uint8Array;
  askedMs: number;
  writes: number;
}

/** Overhead of a kept answer in addition to its bytes. */
const ENTRY_BYTES = 1024;
const NOT_FOUND: Found = { kept: null, mark: null };

/** Kept answers in the memory of this process, up to a size in bytes. The least recently used are evicted first. */
export class MemoryAnswers implements AnswerStore {
  readonly #writes: WriteLog;
  readonly #nowMs: () => number;
  readonly #kept: LRUCache<string, Kept>;

  constructor({ bytesMax, writes, nowMs }: MemoryAnswersOptions) {
    this.#writes = writes;
    this.#nowMs = nowMs;
    this.#kept = new LRUCache({ maxSize: bytesMax });
  }

  find({ name, database, model }: ReadScope, maxAgeMs: number): Found {
    const kept = this.#kept.get(name);
    if (kept === undefined) return NOT_FOUND;
    if (this.#writes.hasModelWrite(database, model, kept.writes)) {
      this.#kept.delete(name);
      return NOT_FOUND;
    }
    const { answer, askedMs } = kept;
    const ageMs = this.#nowMs() - askedMs;
    return ageMs <= maxAgeMs ? { kept: { answer, ageMs }, mark: null } : NOT_FOUND;
  }

  keep({ name, database, model }: ReadScope, moment: ReadMoment, _: number, answer: Uint8Array): void {
    // `moment` itself is not kept: it can hold a reference to the whole call.
    const { askedMs, writes } = moment;
    if (this.#writes.hasModelWrite(database, model, writes)) return;
    // A slow call can end after a call that was sent later.
    if ((this.#kept.peek(name)?.askedMs ?? askedMs) > askedMs) return;
    this.#kept.set(name, { answer, askedMs, writes }, { size: answer.length + ENTRY_BYTES });
  }

  /** Does nothing: `find` and `keep` check the log of writes. */
  drop(): void {}
}

/** Kept answers in the memory of this process: bounded by bytes, those that were not used for longest go first. */
import { LRUCache } from 'lru-cache';
import type { AnswerStore, Found, ReadMoment, ReadScope } from './answer-store.ts';
import type { WriteLog } from './write-log.ts';

export interface MemoryAnswersOptions {
  /** Of all kept answers. */
  bytesMax: number;
  /** Tells what is out of date. */
  writes: WriteLog;
  /** A clock that never goes back. */
  nowMs: () => number;
}

interface Kept {
  answer: Uint8Array;
  askedMs: number;
  writes: number;
}

/** What a kept answer costs beside its bytes. */
const ENTRY_BYTES = 1024;
const NOT_FOUND: Found = { kept: null, mark: null };

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
    if (this.#writes.hasOf(database, model, kept.writes)) {
      this.#kept.delete(name);
      return NOT_FOUND;
    }
    const { answer, askedMs } = kept;
    const ageMs = this.#nowMs() - askedMs;
    return ageMs <= maxAgeMs ? { kept: { answer, ageMs }, mark: null } : NOT_FOUND;
  }

  keep({ name, database, model }: ReadScope, moment: ReadMoment, _: number, answer: Uint8Array): void {
    // Nothing more of the moment: whoever tells it may hold the whole call by it.
    const { askedMs, writes } = moment;
    if (this.#writes.hasOf(database, model, writes)) return;
    // A slow call can end after one that went out later.
    if ((this.#kept.peek(name)?.askedMs ?? askedMs) > askedMs) return;
    this.#kept.set(name, { answer, askedMs, writes }, { size: answer.length + ENTRY_BYTES });
  }

  /** The log of writes says it. */
  drop(): void {}
}

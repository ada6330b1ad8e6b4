/**
 * Answers to reads, kept for callers who accept one that is some seconds old. Bounded by bytes; only whole results, and only
 * for as long as nothing was written to their model since they were asked for. In the memory of this process.
 */
import { LRUCache } from 'lru-cache';
import type { ByteBudget } from './byte-budget.ts';
import { CollectingBody } from './collecting-body.ts';
import type { StreamedResult } from './result.ts';
import type { WriteLog } from './write-log.ts';

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
}

export interface AnswerCacheOptions {
  /** Bytes of all kept answers. */
  bytesMax: number;
  /** A bigger answer is not kept. */
  answerBytesMax: number;
  writes: WriteLog;
  /** What is collected to be kept counts in it until it is whole. */
  budget: ByteBudget;
  /** A clock that never goes back. */
  nowMs: () => number;
}

interface Kept<Result> extends ReadMoment {
  result: Result;
}

/** What a kept answer costs beside its bytes. */
const ENTRY_BYTES = 1024;
const WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

export class AnswerCache<Result extends StreamedResult> {
  readonly #options: AnswerCacheOptions;
  readonly #kept: LRUCache<string, Kept<Result>>;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
    this.#kept = new LRUCache({ maxSize: options.bytesMax });
  }

  /** An answer of this age at most, if there is one. */
  find({ name, database, model }: ReadScope, maxAgeMs: number): { result: Result; ageMs: number } | null {
    const kept = this.#kept.get(name);
    if (kept === undefined) return null;
    if (this.#options.writes.hasOf(database, model, kept.writes)) {
      this.#kept.delete(name);
      return null;
    }
    const ageMs = this.#options.nowMs() - kept.askedMs;
    return ageMs <= maxAgeMs ? { result: kept.result, ageMs } : null;
  }

  /** The result as it goes on to the caller: once it has been whole there, it is kept. */
  keep(result: Result, scope: ReadScope, moment: ReadMoment): Result {
    const { rest } = result;
    if (rest === null) {
      this.#store(result, result.pieces, scope, moment);
      return result;
    }
    const { answerBytesMax, budget } = this.#options;
    const body = new CollectingBody(rest, answerBytesMax, budget, (pieces) => {
      const all = [...result.pieces, ...pieces];
      if (result.lastByte === null || findLastByte(all) === result.lastByte)
        this.#store(result, all, scope, moment);
    });
    return { ...result, rest: body };
  }

  #store(
    result: Result,
    pieces: Uint8Array[],
    { name, database, model }: ReadScope,
    { askedMs, writes }: ReadMoment,
  ): void {
    const { answerBytesMax, writes: log } = this.#options;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length > answerBytesMax || log.hasOf(database, model, writes)) return;
    // A copy: a piece can be a small part of a large buffer.
    const whole = { ...result, pieces: [Buffer.concat(pieces, length)], rest: null };
    this.#kept.set(name, { askedMs, writes, result: whole }, { size: length + ENTRY_BYTES });
  }
}

/** The last byte that is no white space. */
function findLastByte(pieces: Uint8Array[]): number | undefined {
  for (const piece of pieces.toReversed()) {
    const last = piece.findLast((byte) => !WHITESPACE.has(byte));
    if (last !== undefined) return last;
  }
  return undefined;
}

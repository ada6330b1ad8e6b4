/**
 * Answers that are kept in Redis, for all replicas together, sealed and by names that tell nothing. A Redis that is away,
 * slow or without its data has none. When it is back all answers are dropped before anything is looked for: writes may
 * have gone unnoticed meanwhile, and a Redis that was restored, or taken over for, may have forgotten some.
 */
import { createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AnswerSeal } from '../idempotency/answer-seal.ts';
import type { AnswerStore, Found, ReadMoment, ReadScope } from '../sharing/answer-store.ts';
import { SingleFlight } from '../streams/single-flight.ts';
import { DROP, FETCH, FIND, KEEP } from './answer-scripts.ts';
import { RedisAwayError, type RedisClient } from './client.ts';

export interface RedisAnswersOptions {
  redis: RedisClient;
  seal: AnswerSeal;
  /** 32 bytes, the same on all replicas: names databases and models. */
  secret: Uint8Array;
  /** Of all kept answers. */
  bytesMax: number;
}

/** What a kept answer costs beside its bytes. */
const ENTRY_BYTES = 1024;
const KEPT_MS_MAX = 3_600_000;
const OPENED_MAX = 10_000;
const NOT_FOUND: Found = { kept: null, mark: null };

export class RedisAnswers implements AnswerStore {
  readonly #redis: RedisClient;
  readonly #seal: AnswerSeal;
  readonly #hashKey: KeyObject;
  readonly #bytesMax: number;
  readonly #marks: string;
  /** What callers hold now: those of one answer share its bytes, however slowly they take it. */
  readonly #opened = new LRUCache<string, WeakRef<Uint8Array>>({ max: OPENED_MAX });
  /** What is on its way: large answers that many want at once would keep Redis from answering in time. */
  readonly #fetching = new SingleFlight<Uint8Array | null>();
  /** Redis refused to drop answers: none is taken from there until all of them could be dropped. */
  #owesDrop = false;

  constructor({ redis, seal, secret, bytesMax }: RedisAnswersOptions) {
    this.#redis = redis;
    this.#seal = seal;
    this.#hashKey = createSecretKey(secret);
    this.#bytesMax = bytesMax;
    this.#marks = redis.name('marks');
    redis.onBack(() => void this.#drop());
  }

  async find(scope: ReadScope, maxAgeMs: number): Promise<Found> {
    if (this.#owesDrop) await this.#drop();
    if (this.#owesDrop) return NOT_FOUND;
    try {
      const found = await this.#redis.run(
        FIND,
        [this.#nameAnswer(scope), this.#marks],
        [Math.min(maxAgeMs, KEPT_MS_MAX), ...this.#nameMarks(scope), randomUUID()],
      );
      return await this.#read(scope, found);
    } catch {
      return NOT_FOUND;
    }
  }

  keep(scope: ReadScope, { mark }: ReadMoment, maxAgeMs: number, answer: Uint8Array): void {
    if (mark === null || this.#redis.trouble !== null) return;
    const [marks = '', asked = ''] = mark.split(' ');
    const sealed = this.#seal.seal(nameSealed(scope, mark), { status: 200, body: answer });
    const keptMs = Math.min(maxAgeMs, KEPT_MS_MAX);
    const size = sealed.length + ENTRY_BYTES;
    this.#redis
      .run(
        KEEP,
        [this.#nameAnswer(scope), this.#marks, this.#redis.name('ends'), this.#redis.name('sizes')],
        [marks, asked, ...this.#nameMarks(scope), keptMs, size, this.#bytesMax, sealed],
      )
      .catch(() => {});
  }

  async drop(database: string, model: string | null): Promise<void> {
    await this.#drop(this.#nameMark(database, model));
  }

  /** Without a mark: all. */
  async #drop(...marks: string[]): Promise<void> {
    try {
      await this.#redis.run(DROP, [this.#marks], marks);
      if (marks.length === 0) this.#owesDrop = false;
    } catch (error) {
      // Where Redis is away all are dropped when it is back.
      if (!(error instanceof RedisAwayError)) this.#owesDrop = true;
    }
  }

  async #read(scope: ReadScope, found: unknown): Promise<Found> {
    const [marks, asked, ageMs] = Array.isArray(found) ? found : [];
    const mark = `${marks} ${asked}`;
    const answer = ageMs === undefined ? null : await this.#getAnswer(scope, mark);
    return { kept: answer && { answer, ageMs: Number(ageMs) }, mark };
  }

  /** Null where it is gone, or not ours to open: the call is made, and its answer takes the place of this one. */
  #getAnswer(scope: ReadScope, mark: string): Uint8Array | null | Promise<Uint8Array | null> {
    const name = nameSealed(scope, mark);
    return this.#opened.get(name)?.deref() ?? this.#fetching.run(name, () => this.#fetch(scope, name));
  }

  async #fetch(scope: ReadScope, name: string): Promise<Uint8Array | null> {
    const sealed = await this.#redis.run(FETCH, [this.#nameAnswer(scope)], []);
    return sealed instanceof Uint8Array ? this.#open(name, sealed) : null;
  }

  #open(name: string, sealed: Uint8Array): Uint8Array | null {
    try {
      const { body } = this.#seal.open(name, sealed);
      this.#opened.set(name, new WeakRef(body));
      return body;
    } catch {
      return null;
    }
  }

  #nameAnswer({ name }: ReadScope): string {
    return this.#redis.name('answer', name);
  }

  /** Of what must not have been written: anything in the database, or the model. */
  #nameMarks({ database, model }: ReadScope): [string, string] {
    return [this.#nameMark(database, null), this.#nameMark(database, model)];
  }

  #nameMark(database: string, model: string | null): string {
    return createHmac('sha256', this.#hashKey)
      .update(JSON.stringify([database, model]))
      .digest('base64url');
  }
}

/** A sealed answer opens for its own read, time and marks alone: nobody can make it younger, or another read's. */
function nameSealed({ name }: ReadScope, mark: string): string {
  return `${name} ${mark}`;
}

/**
 * Kept answers in Redis for all replicas, encrypted and under names that reveal nothing. While Redis is away or slow,
 * or after it has lost its data, no answer is found. When Redis is back, and when a process starts, all answers are
 * dropped first: this process may have missed writes, and a restore or failover may have undone some drops.
 */
import { createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { atMost, SingleFlight } from '@erp-proxy/async/tasks';
import { LRUCache } from 'lru-cache';
import type { AnswerSeal } from '../idempotency/answer-seal.ts';
import type { AnswerStore, Found, ReadMoment, ReadScope } from '../sharing/answer-store.ts';
import { READ_NOW, RedisAwayError, type RedisClient } from './client.ts';

export interface RedisAnswersOptions {
  redis: RedisClient;
  seal: AnswerSeal;
  /** Key of the hashes that name databases and models: 32 bytes, the same on all replicas. */
  secret: Uint8Array;
  /** Maximum total size of all kept answers. */
  bytesMax: number;
}

/** Overhead of a kept answer in bytes. */
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
  /** Decrypted answers that callers still hold. Callers of the same answer share its bytes. */
  readonly #opened = new LRUCache<string, WeakRef<Uint8Array>>(atMost(OPENED_MAX));
  /** Pending fetches, shared because many simultaneous fetches of large answers would delay Redis. */
  readonly #fetching = new SingleFlight<Uint8Array | null>();
  /** True: Redis refused to drop answers. No answer is used until all could be dropped. */
  #isDropPending = false;

  constructor({ redis, seal, secret, bytesMax }: RedisAnswersOptions) {
    this.#redis = redis;
    this.#seal = seal;
    this.#hashKey = createSecretKey(secret);
    this.#bytesMax = bytesMax;
    this.#marks = redis.name('marks');
    redis.onBack(() => void this.#drop());
  }

  /**
   * Drops all answers: this process may have missed writes before it was restarted. Must be called once, before all
   * other methods. If Redis is away, the answers are dropped when it is back. Never rejects.
   */
  async start(): Promise<void> {
    await this.#drop();
  }

  async find(scope: ReadScope, maxAgeMs: number): Promise<Found> {
    if (this.#isDropPending) await this.#drop();
    if (this.#isDropPending) return NOT_FOUND;
    try {
      const found = await this.#redis.runScript(
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
      .runScript(
        KEEP,
        [this.#nameAnswer(scope), this.#marks, this.#redis.name('ends'), this.#redis.name('sizes')],
        [marks, asked, ...this.#nameMarks(scope), keptMs, size, this.#bytesMax, sealed],
      )
      .catch(() => {});
  }

  async drop(database: string, model: string | null): Promise<void> {
    await this.#drop(this.#nameMark(database, model));
  }

  /** Removes a mark, which drops its answers. Without a mark, drops all answers. */
  async #drop(mark?: string): Promise<void> {
    try {
      if (mark !== undefined) return void (await this.#redis.run('HDEL', this.#marks, mark));
      await this.#redis.run('DEL', this.#marks);
      this.#isDropPending = false;
    } catch (error) {
      // If Redis is away, all answers are dropped when it is back.
      if (!(error instanceof RedisAwayError)) this.#isDropPending = true;
    }
  }

  async #read(scope: ReadScope, found: unknown): Promise<Found> {
    const [marks, asked, ageMs] = Array.isArray(found) ? found : [];
    const mark = `${marks} ${asked}`;
    const answer = ageMs === undefined ? null : await this.#getAnswer(scope, mark);
    return { kept: answer && { answer, ageMs: Number(ageMs) }, mark };
  }

  /**
   * The answer; null if it has been removed or cannot be decrypted. The call is then sent, and its answer replaces this
   * one.
   */
  #getAnswer(scope: ReadScope, mark: string): Uint8Array | null | Promise<Uint8Array | null> {
    const name = nameSealed(scope, mark);
    return this.#opened.get(name)?.deref() ?? this.#fetching.run(name, () => this.#fetch(scope, name));
  }

  async #fetch(scope: ReadScope, name: string): Promise<Uint8Array | null> {
    const sealed = await this.#redis.run('HGET', this.#nameAnswer(scope), 'answer');
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

  /** Names of the marks that must not have changed: for writes to the whole database, and for writes to the model. */
  #nameMarks({ database, model }: ReadScope): [string, string] {
    return [this.#nameMark(database, null), this.#nameMark(database, model)];
  }

  #nameMark(database: string, model: string | null): string {
    return createHmac('sha256', this.#hashKey)
      .update(JSON.stringify([database, model]))
      .digest('base64url');
  }
}

/**
 * Binds a sealed answer to its read, time and marks, so that it cannot pass for a newer one or for that of another
 * read.
 */
function nameSealed({ name }: ReadScope, mark: string): string {
  return `${name} ${mark}`;
}

/** Time after which marks and sizes expire, which is longer than answers are kept. */
const RECORD_MS = 2 * 3_600_000;
/**
 * Maximum number of marks, because callers can name any model. When it is reached, all marks and thus all answers are
 * dropped.
 */
const MARKS_MAX = 10_000;

/**
 * Atomic scripts for kept answers, with the clock of Redis. An answer is valid while its two marks are current: the
 * mark of its database and the mark of its model in that database. A write removes a mark, and the next read creates a
 * new unique one. So an answer from before a write is neither kept nor returned after it. If Redis loses a mark,
 * answers with that mark are not valid any more.
 *
 * The total size is bounded: `ends` orders answers by their expiry, and `sizes` has the size of each, with the total
 * under ''.
 *
 * KEYS: the answer, the marks. ARGV: maximum age, names of the two marks, and a new unique mark. Returns the marks,
 * time and age of a kept answer, or the marks and time for a read that is sent now.
 */
const FIND = `${READ_NOW}
now = math.floor(now)
local marks = redis.call('HMGET', KEYS[2], ARGV[2], ARGV[3])
if not (marks[1] and marks[2]) then
  if redis.call('HLEN', KEYS[2]) >= ${MARKS_MAX} then redis.call('DEL', KEYS[2]) end
  redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[4])
  redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ${RECORD_MS})
  marks = redis.call('HMGET', KEYS[2], ARGV[2], ARGV[3])
end
local mark = marks[1] .. marks[2]
local kept = redis.call('HMGET', KEYS[1], 'mark', 'asked')
local asked = tonumber(kept[2])
if kept[1] == mark and asked <= now and now - asked <= tonumber(ARGV[1]) then
  return { mark, asked, now - asked }
end
return { mark, now }
`;

/**
 * KEYS: the answer, the marks, `ends`, `sizes`. ARGV: marks and time of FIND, names of the two marks, duration for
 * which the answer is kept, its size, maximum total size, the answer.
 */
const KEEP = `${READ_NOW}
local name, ends, sizes = KEYS[1], KEYS[3], KEYS[4]
local asked, size, bytesMax = tonumber(ARGV[2]), tonumber(ARGV[6]), tonumber(ARGV[7])
local endsAt = asked + tonumber(ARGV[5])
local marks = redis.call('HMGET', KEYS[2], ARGV[3], ARGV[4])
if not (marks[1] and marks[2]) or marks[1] .. marks[2] ~= ARGV[1] then return end
if asked > now or endsAt <= now or size > bytesMax then return end
-- A slow call can end after one that was sent later. A time in the future shows that the clock was set back.
local held = redis.call('HMGET', name, 'mark', 'asked')
local heldAsked = tonumber(held[2])
if held[1] == ARGV[1] and heldAsked > asked and heldAsked <= now then return end

local function drop(dropped)
  redis.call('ZREM', ends, dropped)
  redis.call('DEL', dropped)
  local held = redis.call('HGET', sizes, dropped)
  if not held then return end
  redis.call('HDEL', sizes, dropped)
  redis.call('HINCRBY', sizes, '', -held)
end

-- If Redis has lost one of the two, both are reset. Answers that they no longer contain expire.
if redis.call('HLEN', sizes) ~= redis.call('ZCARD', ends) + 1 then
  redis.call('DEL', ends, sizes)
  redis.call('HSET', sizes, '', 0)
end
drop(name)
for _, over in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 1000)) do drop(over) end
while tonumber(redis.call('HGET', sizes, '')) + size > bytesMax do
  local first = redis.call('ZRANGE', ends, 0, 0)[1]
  if not first then return end
  drop(first)
end

redis.call('HSET', name, 'mark', ARGV[1], 'asked', asked, 'answer', ARGV[8])
redis.call('PEXPIRE', name, math.ceil(endsAt - now))
redis.call('ZADD', ends, endsAt, name)
redis.call('HSET', sizes, name, size)
redis.call('HINCRBY', sizes, '', size)
redis.call('PEXPIRE', ends, ${RECORD_MS})
redis.call('PEXPIRE', sizes, ${RECORD_MS})
`;

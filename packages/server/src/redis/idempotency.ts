/**
 * Idempotency keys in Redis, by its clock. As lasting as that Redis: what it loses, nobody knows of any more, and the next
 * attempt runs again. Rows that have expired are removed by Redis.
 */
import type { IdempotencyRow, IdempotencyStore } from '../stores/ports.ts';
import type { RedisClient } from './client.ts';
import { defineScript, READ_NOW } from './script.ts';

/** KEYS: the row. Gives it, or nil. */
const READ_ROW = `${READ_NOW}
local row = redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'is_done', 'runs_until')
if row[1] then
  local state = row[3] and 'done' or tonumber(row[4]) > now and 'running' or 'outcome_unknown'
  return { row[1], state, row[2] }
end
`;
const FIND = defineScript(READ_ROW);
/** ARGV: fingerprint, attempt, how long it runs, when it expires. */
const CLAIM = defineScript(`${READ_ROW}
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'attempt', ARGV[2], 'runs_until', now + ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
`);

/** KEYS: the row. ARGV: the attempt. */
const IF_RUNNING = `
local row = redis.call('HMGET', KEYS[1], 'attempt', 'is_done')
if row[1] ~= ARGV[1] or row[2] then return end
`;
/** ARGV: when it expires; the answer, or none. */
const KEEP = defineScript(`${IF_RUNNING}
redis.call('HSET', KEYS[1], 'is_done', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[3] then redis.call('HSET', KEYS[1], 'answer', ARGV[3]) end
`);
const GIVE_UP = defineScript(`${IF_RUNNING} redis.call('HSET', KEYS[1], 'runs_until', 0)`);
const RELEASE = defineScript(`${IF_RUNNING} redis.call('DEL', KEYS[1])`);

export function createRedisIdempotency(redis: RedisClient): IdempotencyStore {
  const names = (id: string) => [redis.name('idempotency', id)];
  return {
    async find(id) {
      return readRow(await redis.run(FIND, names(id), []));
    },
    async claim({ id, fingerprint, attempt, runsForMs, expiresInMs }) {
      return readRow(await redis.run(CLAIM, names(id), [fingerprint, attempt, runsForMs, expiresInMs]));
    },
    async keep(id, attempt, answer, expiresInMs) {
      await redis.run(KEEP, names(id), [attempt, expiresInMs, ...(answer === null ? [] : [answer])]);
    },
    async giveUp(id, attempt) {
      await redis.run(GIVE_UP, names(id), [attempt]);
    },
    async release(id, attempt) {
      await redis.run(RELEASE, names(id), [attempt]);
    },
    prune: () => 0,
  };
}

function readRow(reply: unknown): IdempotencyRow | null {
  if (!Array.isArray(reply)) return null;
  const [fingerprint, state, answer] = reply;
  return {
    fingerprint: String(fingerprint),
    state: readState(String(state)),
    answer: answer instanceof Uint8Array ? Uint8Array.from(answer) : null,
  };
}

function readState(text: string): IdempotencyRow['state'] {
  return text === 'done' || text === 'running' ? text : 'outcome_unknown';
}

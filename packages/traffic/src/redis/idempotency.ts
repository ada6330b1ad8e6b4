/**
 * Idempotency keys in Redis, with the clock of Redis. They are as durable as that Redis: if it loses a key, the next
 * attempt runs again. Redis removes expired rows.
 */
import type { IdempotencyRow, IdempotencyStore } from '@erp-proxy/stores/ports';
import { READ_NOW, type RedisClient } from './client.ts';

/** KEYS: the row. Returns the row, or nil. */
const READ_ROW = `${READ_NOW}
local row = redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'is_done', 'runs_until')
if row[1] then
  local state = row[3] and 'done' or tonumber(row[4]) > now and 'running' or 'outcome_unknown'
  return { row[1], state, row[2] }
end
`;
const FIND = READ_ROW;

/**
 * The keys and bytes of a client are counted by the hour in which they expire, because Redis removes rows without
 * notice. The counts of a past hour are ignored. A row stores the hour under which it is counted.
 */
const COUNT = `
local HOUR_MS = 3600000
local function count(use, expires_in, keys, bytes)
  local hour = math.floor((now + expires_in) / HOUR_MS)
  redis.call('HINCRBY', use, hour .. ':keys', keys)
  redis.call('HINCRBY', use, hour .. ':bytes', bytes)
  if redis.call('PTTL', use) < expires_in + HOUR_MS then redis.call('PEXPIRE', use, expires_in + HOUR_MS) end
  redis.call('HSET', KEYS[1], 'use', use, 'hour', hour)
end
local function uncount(use, hour)
  redis.call('HINCRBY', use, hour .. ':keys', -1)
end
`;
/** KEYS: the row, counts of its client. ARGV: fingerprint, attempt, duration of the run, duration until expiry. */
const CLAIM = `${READ_ROW} ${COUNT}
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'attempt', ARGV[2], 'runs_until', now + ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
count(KEYS[2], ARGV[4], 1, 0)
`;

/** KEYS: the row. ARGV: the attempt. */
const IF_RUNNING = `
local row = redis.call('HMGET', KEYS[1], 'attempt', 'is_done', 'use', 'hour')
if row[1] ~= ARGV[1] or row[2] then return end
`;
/** ARGV: remaining duration of the run. */
const EXTEND = `${READ_NOW} ${IF_RUNNING} redis.call('HSET', KEYS[1], 'runs_until', now + ARGV[2])`;
/** ARGV: duration until expiry, then the answer if there is one. */
const KEEP = `${READ_NOW} ${COUNT} ${IF_RUNNING}
redis.call('HSET', KEYS[1], 'is_done', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[3] then redis.call('HSET', KEYS[1], 'answer', ARGV[3]) end
uncount(row[3], row[4])
count(row[3], ARGV[2], 1, ARGV[3] and #ARGV[3] or 0)
`;
const GIVE_UP = `${IF_RUNNING} redis.call('HSET', KEYS[1], 'runs_until', 0)`;
const RELEASE = `${COUNT} ${IF_RUNNING}
redis.call('DEL', KEYS[1])
uncount(row[3], row[4])
`;
/** KEYS: the counts of a client. Returns the number of keys and of bytes. */
const MEASURE = `${READ_NOW}
local this_hour = math.floor(now / 3600000)
local sums = { keys = 0, bytes = 0 }
local counts = redis.call('HGETALL', KEYS[1])
for index = 1, #counts, 2 do
  local hour, kind = string.match(counts[index], '^(%d+):(%a+)$')
  if not sums[kind] or tonumber(hour) < this_hour then redis.call('HDEL', KEYS[1], counts[index])
  else sums[kind] = sums[kind] + (tonumber(counts[index + 1]) or 0) end
end
return { sums.keys, sums.bytes }
`;

export function createRedisIdempotency(redis: RedisClient): IdempotencyStore {
  const nameRow = (id: string) => redis.name('idempotency', id);
  const nameUse = (client: string) => redis.name('idempotency-use', client);

  return {
    async find(id) {
      return readRow(await redis.runScript(FIND, [nameRow(id)], []));
    },
    async claim({ id, client, fingerprint, attempt, runsForMs, expiresInMs }) {
      const args = [fingerprint, attempt, runsForMs, expiresInMs];
      return readRow(await redis.runScript(CLAIM, [nameRow(id), nameUse(client)], args));
    },
    async extend(id, attempt, runsForMs) {
      await redis.runScript(EXTEND, [nameRow(id)], [attempt, runsForMs]);
    },
    async complete(id, attempt, answer, expiresInMs) {
      await redis.runScript(
        KEEP,
        [nameRow(id)],
        [attempt, expiresInMs, ...(answer === null ? [] : [answer])],
      );
    },
    async markUnknown(id, attempt) {
      await redis.runScript(GIVE_UP, [nameRow(id)], [attempt]);
    },
    async release(id, attempt) {
      await redis.runScript(RELEASE, [nameRow(id)], [attempt]);
    },
    async measure(client) {
      const [keys, answerBytes] = (await redis.runScript(MEASURE, [nameUse(client)], [])) as unknown[];
      return { keys: Number(keys), answerBytes: Number(answerBytes) };
    },
    prune: async () => 0,
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

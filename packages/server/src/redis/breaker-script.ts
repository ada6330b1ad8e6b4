/**
 * What all processes know of the breakers of databases, each act one step of Redis, by its clock.
 *
 * - record: a hash for each database that was opened lately: since when it has answered nobody, until when it is left alone,
 *   which process probes until when; or when it was found well. It is gone some time after its last change.
 * - changes: the names of these databases by the time of their last change, so many at most.
 *
 * What is there in our names and is not ours is removed or counts as nothing: no script fails over it, which would look like a
 * Redis that is away.
 */
import { OPEN_MS_MAX, OPEN_MS_MIN } from '../limits/database/peers.ts';
import { defineScript, READ_NOW } from './script.ts';

/** After so long without a change nothing is known of a database any more; longer than any is left alone. */
export const RECORD_TTL_MS = 300_000;
export const DATABASES_MAX = 1000;
/** No time that is kept is further ahead, but where the clock has jumped back. */
const AHEAD_MS_MAX = OPEN_MS_MAX + 1000;
const CLIENT_LENGTH_MAX = 64;
const FIELDS = [
  'since',
  'until',
  'open_ms',
  'witness',
  'prober',
  'probe_until',
  'others_until',
  'answered_at',
] as const;
const READ_FIELDS = `'HMGET', record, '${FIELDS.join("', '")}'`;

const CHECK_KIND = `
local function check(key, kind)
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then redis.call('DEL', key) end
end
`;

/**
 * KEYS: the record, the changes. ARGV: the database, the process, then what the act needs. Gives whether it was done, the
 * time, and the record as it is now.
 */
const ACT = `${READ_NOW}${CHECK_KIND}
local record, changes = KEYS[1], KEYS[2]
local database, process = ARGV[1], ARGV[2]
check(record, 'hash')
check(changes, 'zset')
local function text(field) return redis.call('HGET', record, field) or '' end
local function number(field)
  local value = tonumber(text(field))
  if value and value >= 0 and value <= now + ${AHEAD_MS_MAX} then return value end
end
local function print(ms) return string.format('%.3f', ms) end

local function keep(...)
  redis.call('HSET', record, ...)
  redis.call('PEXPIRE', record, ${RECORD_TTL_MS})
  redis.call('ZREMRANGEBYSCORE', changes, '-inf', now - ${RECORD_TTL_MS})
  -- Only where the clock has jumped back can a change be so late.
  redis.call('ZREMRANGEBYSCORE', changes, now + 1000, '+inf')
  redis.call('ZADD', changes, now, database)
  redis.call('PEXPIRE', changes, ${RECORD_TTL_MS})
  if redis.call('ZCARD', changes) > ${DATABASES_MAX} then
    local prefix = string.sub(record, 1, #record - #database)
    redis.call('DEL', prefix .. redis.call('ZPOPMIN', changes)[1])
  end
end

local function answer(isDone)
  return { isDone, print(now), redis.call(${READ_FIELDS}) }
end

local answered, untilMs = number('answered_at'), number('until')
if answered then untilMs = nil end
`;

/**
 * ARGV: age of the failures, time left, how long it is left alone, witness (empty: several), whether the process's probe has
 * failed. Two openings are one for all that both witnesses have seen.
 */
export const OPEN = defineScript(`${ACT}
local since, left, openMs, witness, isProbe = now - ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[7] == '1'
if answered and answered > since then return answer(0) end
if isProbe and untilMs and text('process') ~= process then return answer(0) end
if untilMs then
  if text('witness') ~= witness then witness = '' end
  since = math.max(since, number('since') or 0)
  left = math.max(left, untilMs - now)
  openMs = math.min(math.max(openMs, number('open_ms') or 0), ${OPEN_MS_MAX})
end
if isProbe or not untilMs then redis.call('DEL', record) end
keep('since', print(since), 'until', print(now + left), 'open_ms', openMs, 'witness', witness)
return answer(1)
`);

export const CLOSE = defineScript(`${ACT}
if answered then return answer(0) end
redis.call('DEL', record)
keep('answered_at', print(now))
return answer(1)
`);

/** ARGV: age of the failures, how long it is left alone, witness, client that probes, how long it may, how long others go first. */
export const PROBE = defineScript(`${ACT}
local since, openMs, witness, client = now - ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if answered and answered > since then return answer(0) end
if untilMs then
  local isTaken = now < (number('probe_until') or 0)
  local isLeftToOthers = text('prober') == client and now < (number('others_until') or 0)
  if now < untilMs or isTaken or isLeftToOthers then return answer(0) end
else
  redis.call('DEL', record)
  keep('since', print(since), 'until', print(now), 'open_ms', openMs, 'witness', witness)
end
keep('process', process, 'prober', client, 'probe_until', print(now + ARGV[7]), 'others_until', print(now + ARGV[8]))
return answer(1)
`);

/** ARGV: how long others go first. */
export const RETURN_PROBE = defineScript(`${ACT}
if not untilMs or text('process') ~= process then return answer(0) end
keep('process', '', 'probe_until', 0, 'others_until', print(now + ARGV[3]))
return answer(1)
`);

/** KEYS: the changes. ARGV: changes from this time on, what the names of records begin with. Gives the time and the changed. */
export const READ_CHANGES = defineScript(`${READ_NOW}${CHECK_KIND}
check(KEYS[1], 'zset')
local known = { string.format('%.3f', now) }
local since = tonumber(ARGV[1])
-- Where the clock has jumped back all is read again.
if since > now then since = 0 end
for _, database in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], since, '+inf', 'LIMIT', 0, ${DATABASES_MAX})) do
  local record = ARGV[2] .. database
  if redis.call('TYPE', record).ok == 'hash' then
    known[#known + 1] = { database, redis.call(${READ_FIELDS}) }
  end
end
return known
`);

/** Times by the clock of Redis, in milliseconds. Empty texts: several clients, or none. */
export interface OpenRecord {
  since: number;
  until: number;
  openMs: number;
  witness: string;
  prober: string;
  probeUntil: number;
  othersUntil: number;
}

export interface AnsweredRecord {
  answeredAt: number;
}

/** Null for what is none of ours. `now`: by the clock of Redis. */
export function readRecord(reply: unknown, now: number): OpenRecord | AnsweredRecord | null {
  if (!Array.isArray(reply) || !Number.isFinite(now)) return null;
  const texts = reply.map((value) => (value === null ? '' : String(value)));
  const [since, until, openMs, witness = '', prober = '', probeUntil, othersUntil, answeredAt] = texts;
  const isTime = (ms: number) => ms >= 0 && ms <= now + AHEAD_MS_MAX;
  if (answeredAt) return isTime(Number(answeredAt)) ? { answeredAt: Number(answeredAt) } : null;
  const record = {
    since: Number(since || Number.NaN),
    until: Number(until || Number.NaN),
    openMs: Number(openMs),
    witness,
    prober,
    probeUntil: Number(probeUntil),
    othersUntil: Number(othersUntil),
  };
  const areTimes = [record.since, record.until, record.probeUntil, record.othersUntil].every(isTime);
  const isBounded = record.openMs >= OPEN_MS_MIN && record.openMs <= OPEN_MS_MAX;
  const areClients = [witness, prober].every((client) => client.length <= CLIENT_LENGTH_MAX);
  return areTimes && isBounded && areClients ? record : null;
}
